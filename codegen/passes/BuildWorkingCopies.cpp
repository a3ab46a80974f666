// SPDX-License-Identifier: Apache-2.0
// Working copies of weights (M1): one flat buffer for each chain of roundings that some operation
// reads weights through, written by the update and by the refresh.
#include "codegen/passes/ParameterLayout.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/SplitMasters.h"
#include "halftone/encoding/text.hpp"
#include "llvm/ADT/MapVector.h"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDWORKINGCOPIES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// The roundings from a master to what is read, in order.
using Chain = SmallVector<Encoding>;

/// "parameters.tf32.f16.toward_zero"
std::string bufferOf(const Chain &chain) {
  std::string name = "parameters";
  for (const Encoding &encoding : chain)
    name += " " + encoding::spelled(encoding);
  llvm::replace(name, ' ', '.');
  return name;
}

/// Of all graphs: each sees the same buffers.
class WorkingCopies {
public:
  explicit WorkingCopies(ModuleOp module)
      : module(module), builder(module.getContext()), isSplit(splitsMasters(module)) {}

  void run() {
    for (auto graph : module.getOps<GraphOp>()) {
      SmallVector<CastOp> casts(graph.getBody().front().getOps<CastOp>());
      for (CastOp cast : casts)
        if (ParameterOp parameter = masterOf(cast))
          replace(cast, parameter);
    }
    for (auto graph : module.getOps<GraphOp>()) {
      int64_t elements = countMasterElements(graph);
      for (auto &[buffer, chain] : chains) {
        if (graph->hasAttr(kMastersAttr) && !isRead(graph, buffer)) // P84
          continue;
        Value whole = masters(graph, elements);
        write(graph, Phase::Refresh, buffer, chain, whole, whole);
        for (AssignOp assign : updatesOf(graph))
          write(graph, Phase::Update, buffer, chain, assign.getX(), assign.getDestination());
      }
    }
    for (CastOp cast : llvm::reverse(dead))
      cast.erase();
    if (isSplit)
      for (auto graph : module.getOps<GraphOp>())
        splitMastersOf(graph);
  }

private:
  static ParameterOp masterOf(CastOp cast) {
    Operation *source = cast.getX().getDefiningOp();
    if (cast.isExact() || cast.getStochastic()) // drawn anew for every pass (P50)
      return {};
    if (auto before = dyn_cast<CastOp>(source))
      return masterOf(before);
    return dyn_cast<ParameterOp>(source);
  }

  void replace(CastOp cast, ParameterOp parameter) {
    dead.push_back(cast);
    auto isReader = [](OpOperand &use) {
      auto next = dyn_cast<CastOp>(use.getOwner());
      return !next || next.isExact() || next.getStochastic();
    };
    if (llvm::none_of(cast->getUses(), isReader))
      return;
    Chain chain;
    for (CastOp at = cast; at; at = at.getX().getDefiningOp<CastOp>())
      chain.insert(chain.begin(), at.getEncoding());
    bool isMaster = isSplit && chain == Chain{Encoding(Element::bf16)}; // its upper half
    std::string buffer = isMaster ? kMasters.str() : bufferOf(chain);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(parameter);
    auto copy = WorkingCopyOp::create(builder, cast.getLoc(), cast.getType(),
                                      parameter.getNameAttr(), builder.getStringAttr(buffer),
                                      builder.getI64IntegerAttr(getMasterOffset(parameter)));
    for (StringRef attribute : {StringRef(kValuesAttr), StringRef(kCastAttr)})
      if (Attribute known = cast->getAttr(attribute))
        copy->setAttr(attribute, known);
    if (!isMaster)
      chains.try_emplace(buffer, chain);
    cast.getResult().replaceUsesWithIf(copy, isReader);
  }

  static bool isRead(GraphOp graph, StringRef buffer) {
    return llvm::any_of(graph.getBody().front().getOps<WorkingCopyOp>(),
                        [&](WorkingCopyOp copy) { return copy.getBuffer() == buffer; });
  }

  /// P69: in place of f32 both halves are read and written.
  void splitMastersOf(GraphOp graph) {
    for (AssignOp assign : updatesOf(graph)) {
      builder.setInsertionPoint(assign);
      auto [upper, lower] = splitMasters(builder, assign.getLoc(), assign.getX(), Phase::Update);
      for (auto [half, buffer] : {std::pair(upper, kMasters), std::pair(lower, kRemainders)})
        setPhase(AssignOp::create(builder, assign.getLoc(),
                                  copyOf(assign.getDestination(), half.getType(), buffer), half),
                 Phase::Update);
      assign.erase();
    }
    Block &block = graph.getBody().front();
    SmallVector<ParameterOp> parameters(block.getOps<ParameterOp>());
    for (ParameterOp parameter : parameters) {
      if (parameter->use_empty() || parameter->hasAttr(kQuantizedAttr)) // P84
        continue;
      builder.setInsertionPointAfter(parameter);
      joinWhereRead(parameter, halfOf(parameter, Element::bf16, kMasters),
                    halfOf(parameter, Element::i16, kRemainders));
    }
    SmallVector<FlatParametersOp> wholes(block.getOps<FlatParametersOp>());
    for (FlatParametersOp whole : wholes) {
      builder.setInsertionPointAfter(whole);
      joinWhereRead(whole, flat(withElement(whole.getType(), Element::bf16), kMasters),
                    flat(withElement(whole.getType(), Element::i16), kRemainders));
      whole.erase();
    }
  }

  /// Every reader of `whole`, or of a view of it, puts the halves together.
  void joinWhereRead(Value whole, Value upper, Value lower) {
    for (OpOperand &use : llvm::make_early_inc_range(whole.getUses())) {
      Operation *reader = use.getOwner();
      builder.setInsertionPoint(reader);
      if (auto view = dyn_cast<ViewOp>(reader)) {
        joinWhereRead(view, viewed(view, upper), viewed(view, lower));
        view.erase();
      } else {
        use.set(joinMasters(builder, reader->getLoc(), upper, lower, getPhase(reader)));
      }
    }
  }

  Value viewed(ViewOp view, Value half) {
    auto again = cast<ViewOp>(builder.clone(*view));
    again.getXMutable().assign(half);
    Type element = cast<TensorType>(half.getType()).getElementType();
    again.getResult().setType(cast<TensorType>(view.getType()).withElementType(element));
    return again;
  }

  TensorType withElement(Type type, Element element) {
    return cast<TensorType>(type).withElementType(typeOf(module.getContext(), element));
  }

  Value flat(Type type, StringRef buffer) {
    return FlatWorkingCopiesOp::create(builder, module.getLoc(), type,
                                       builder.getStringAttr(buffer));
  }

  Value halfOf(ParameterOp parameter, Element element, StringRef buffer) {
    return WorkingCopyOp::create(builder, parameter.getLoc(),
                                 withElement(parameter.getType(), element), parameter.getNameAttr(),
                                 builder.getStringAttr(buffer),
                                 builder.getI64IntegerAttr(getMasterOffset(parameter)));
  }

  /// P14
  Value masters(GraphOp graph, int64_t elements) {
    builder.setInsertionPointToEnd(&graph.getBody().front());
    auto flat = TensorType::get(module.getContext(), {builder.getI64IntegerAttr(elements)},
                                builder.getF32Type());
    return FlatParametersOp::create(builder, graph.getLoc(), flat);
  }

  /// Of all masters, or of the parts of them that have an update each.
  static SmallVector<AssignOp> updatesOf(GraphOp graph) {
    SmallVector<AssignOp> updates;
    for (auto assign : graph.getBody().front().getOps<AssignOp>())
      if (isa<FlatParametersOp>(getViewed(assign.getDestination()).getDefiningOp()))
        updates.push_back(assign);
    return updates;
  }

  /// What lies in the buffer where `masters` do, which are flat or a view of it.
  Value copyOf(Value masters, Type type, StringRef buffer) {
    auto view = masters.getDefiningOp<ViewOp>();
    if (!view)
      return flat(type, buffer);
    Type element = cast<TensorType>(type).getElementType();
    return viewed(view,
                  flat(cast<TensorType>(view.getX().getType()).withElementType(element), buffer));
  }

  void write(GraphOp graph, Phase phase, StringRef buffer, const Chain &chain, Value value,
             Value masters) {
    builder.setInsertionPointToEnd(&graph.getBody().front());
    for (const Encoding &encoding : chain) {
      auto cast = CastOp::create(builder, graph.getLoc(), value, encoding);
      setPhase(cast, phase);
      value = cast;
    }
    Value destination = copyOf(masters, value.getType(), buffer);
    setPhase(AssignOp::create(builder, graph.getLoc(), destination, value), phase);
  }

  ModuleOp module;
  OpBuilder builder;
  bool isSplit; ///< P69
  llvm::MapVector<std::string, Chain, llvm::StringMap<unsigned>> chains;
  SmallVector<CastOp> dead;
};

struct BuildWorkingCopiesPass : halftone::ir::impl::BuildWorkingCopiesBase<BuildWorkingCopiesPass> {
  void runOnOperation() override { WorkingCopies(getOperation()).run(); }
};

} // namespace
} // namespace halftone::ir
