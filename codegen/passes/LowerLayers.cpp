// SPDX-License-Identifier: Apache-2.0
// Layers become primitives.
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_LOWERLAYERS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Which values of the manifest (kValuesAttr) the results of `built` are, given those of `layer`;
/// null where the layer's value, its first result, is none of them. A value that is a view is what
/// it shows, since no kernel makes the view.
DenseI64ArrayAttr valuesOf(Operation *built, Operation *layer, ArrayRef<Value> results) {
  auto known = layer->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
  SmallVector<int64_t> values;
  bool leaves = false;
  for (Value result : built->getResults()) {
    const auto *found = llvm::find_if(
        results, [&](Value left) { return left == result || getViewed(left) == result; });
    leaves |= found == results.begin();
    values.push_back(known && found != results.end() ? known[found - results.begin()] : -1);
  }
  return leaves ? DenseI64ArrayAttr::get(built->getContext(), values) : DenseI64ArrayAttr();
}

void takeAttributes(Operation *built, Operation *layer, ArrayRef<Value> results) {
  for (NamedAttribute attribute : layer->getDiscardableAttrs())
    built->setAttr(attribute.getName(), attribute.getValue());
  DenseI64ArrayAttr values = valuesOf(built, layer, results);
  if (!values)
    built->setAttr(kInternalAttr, UnitAttr::get(built->getContext()));
  if (layer->hasAttr(kValuesAttr) && values)
    built->setAttr(kValuesAttr, values);
  else
    built->removeAttr(kValuesAttr);
}

struct LowerLayersPass : halftone::ir::impl::LowerLayersBase<LowerLayersPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      for (auto layer : llvm::make_early_inc_range(graph.getBody().front().getOps<Layer>()))
        lower(layer);
  }

private:
  static void lower(Layer layer) {
    Operation *before = layer->getPrevNode();
    OpBuilder builder(layer);
    SmallVector<Value> results = layer.lower(builder);
    Operation *built = before ? before->getNextNode() : &layer->getBlock()->front();
    for (; built != layer; built = built->getNextNode())
      takeAttributes(built, layer, results);
    layer->replaceAllUsesWith(results);
    layer->erase();
  }
};

} // namespace
} // namespace halftone::ir
