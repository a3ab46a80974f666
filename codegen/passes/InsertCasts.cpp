// SPDX-License-Identifier: Apache-2.0
// Rounding points become operations: next to the value, once per value and format.
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_INSERTCASTS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// An operation computes in one format: a contraction's result is its accumulator, any other's its
/// compute format.
Type resultFormat(Operation *op, PrecisionAttr precision) {
  return cast<KernelForm>(op).getSkeleton() == Skeleton::Contraction ? precision.getAccumulate()
                                                                     : precision.getCompute();
}

struct InsertCastsPass : halftone::ir::impl::InsertCastsBase<InsertCastsPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>()) {
      SmallVector<Operation *> ops;
      for (Operation &op : graph.getBody().front())
        if (isa<KernelForm>(op) && op.hasAttr(kPrecisionAttr))
          ops.push_back(&op);
      casts.clear();
      for (Operation *op : ops) {
        castOperands(op);
        castResults(op);
      }
    }
  }

private:
  void castOperands(Operation *op) {
    auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = cast<TensorType>(operand.get().getType());
      if (isa<FloatType>(type.getElementType()) && !type.isScalar())
        operand.set(castTo(operand.get(), precision.getCompute()));
    }
  }

  /// The result leaves in the format it was computed in; what the rules want stored is a rounding
  /// point of its own.
  void castResults(Operation *op) {
    auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    for (Value result : op->getResults()) {
      auto type = cast<TensorType>(result.getType());
      Type computed = resultFormat(op, precision);
      if (type.isScalar() || type.getElementType() == computed)
        continue;
      result.setType(type.withElementType(computed));
      Value cast = castTo(result, type.getElementType());
      result.replaceAllUsesExcept(cast, cast.getDefiningOp());
    }
  }

  /// One cast per value and format, next to the value.
  Value castTo(Value value, Type format) {
    auto type = mlir::cast<TensorType>(value.getType());
    if (type.getElementType() == format)
      return value;
    Value &known = casts[{value, format}];
    if (known)
      return known;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    auto cast = CastOp::create(builder, value.getLoc(), type.withElementType(format), value);
    if (Operation *producer = value.getDefiningOp())
      cast->setAttr(kLayerAttr, builder.getStringAttr(getLayer(producer)));
    setPhase(cast, getPhase(value.getDefiningOp()));
    return known = cast;
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
};

} // namespace
} // namespace halftone::ir
