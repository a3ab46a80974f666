// SPDX-License-Identifier: Apache-2.0
// From rules to a format for every value: the last rule that matches wins, per field.
#include "codegen/passes/Passes.h"

#include "llvm/Support/GlobPattern.h"

namespace halftone::ir {
#define GEN_PASS_DEF_RESOLVEPRECISION
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

struct Rule {
  llvm::GlobPattern layer;
  Type store, compute, accumulate, master;
};

struct Formats {
  Type store, compute, accumulate, master;
  int64_t rule = -1; ///< the last rule that decided a field, -1 for the language's default
};

Type fieldOf(DictionaryAttr rule, StringRef name) {
  auto type = rule.getAs<TypeAttr>(name);
  return type ? type.getValue() : Type();
}

struct ResolvePrecisionPass : halftone::ir::impl::ResolvePrecisionBase<ResolvePrecisionPass> {
  void runOnOperation() override {
    if (failed(readRules()))
      return signalPassFailure();
    for (auto graph : getOperation().getOps<GraphOp>()) {
      for (Operation &op : graph.getBody().front())
        resolve(&op);
      if (failed(everyValueHasAFormat(graph)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult readRules() {
    auto list = getOperation()->getAttrOfType<ArrayAttr>(kRulesAttr);
    if (!list)
      return success();
    for (auto rule : list.getAsRange<DictionaryAttr>()) {
      auto text = rule.getAs<StringAttr>("layer").getValue();
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern) {
        llvm::consumeError(pattern.takeError());
        return getOperation().emitError() << "rule '" << text << "' is not a valid layer pattern";
      }
      rules.push_back({std::move(*pattern), fieldOf(rule, "store"), fieldOf(rule, "compute"),
                       fieldOf(rule, "accumulate"), fieldOf(rule, "master")});
    }
    return success();
  }

  /// The last rule that matches wins, per field.
  Formats formatsOf(StringRef layer) {
    Type f32 = Float32Type::get(&getContext());
    Formats formats{f32, f32, f32, f32};
    for (auto [index, rule] : llvm::enumerate(rules)) {
      if (!rule.layer.match(layer))
        continue;
      auto set = [&](Type &field, Type value) {
        if (value) {
          field = value;
          formats.rule = index;
        }
      };
      set(formats.store, rule.store);
      set(formats.compute, rule.compute);
      set(formats.accumulate, rule.accumulate);
      set(formats.master, rule.master);
    }
    return formats;
  }

  void resolve(Operation *op) {
    if (op->getNumResults() == 0)
      return;
    Formats formats = formatsOf(getLayer(op));
    bool source = isa<InputOp, ParameterOp, StateOp>(op);
    for (Value result : op->getResults()) {
      auto type = cast<TensorType>(result.getType());
      // Parameters are masters; results that are scalars are sums over everything and keep the
      // accumulator's format.
      Type element = isa<ParameterOp>(op) ? formats.master
                     : type.isScalar()    ? formats.accumulate
                                          : formats.store;
      if (type.isUndecided())
        result.setType(type.withElementType(element));
    }
    if (!source)
      op->setAttr(kPrecisionAttr,
                  PrecisionAttr::get(op->getContext(), formats.store, formats.compute,
                                     formats.accumulate, formats.rule));
    retypeRegions(op, formats.compute);
  }

  /// Regions were imported in f32; their floats take the format that the operation computes in.
  static void retypeRegions(Operation *op, Type compute) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments())
          if (isa<FloatType>(argument.getType()))
            argument.setType(compute);
        for (Operation &inner : block) {
          for (Value result : inner.getResults())
            if (isa<FloatType>(result.getType()))
              result.setType(compute);
          if (auto constant = dyn_cast<arith::ConstantOp>(inner))
            if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
              constant.setValueAttr(FloatAttr::get(compute, value.getValueAsDouble()));
        }
      }
  }

  static LogicalResult everyValueHasAFormat(GraphOp graph) {
    for (Operation &op : graph.getBody().front())
      for (Value result : op.getResults())
        if (cast<TensorType>(result.getType()).isUndecided())
          return op.emitError() << "result of layer '" << getLayer(&op) << "' has no format";
    return success();
  }

  SmallVector<Rule> rules;
};

} // namespace
} // namespace halftone::ir
