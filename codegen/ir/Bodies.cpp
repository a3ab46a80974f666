// SPDX-License-Identifier: Apache-2.0
// How the operations that are no layers become scalar code.
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

HALFTONE_POINTWISE_FORM(CastOp)
HALFTONE_POINTWISE_FORM(HandOnOp)

SmallVector<Value> CastOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  Type f32 = builder.getF32Type(), to = getType().getElementType();
  Value x = elements[0];
  if (!x.getType().isF32()) // through f32, exactly
    x = arith::ExtFOp::create(builder, getLoc(), f32, x);
  if (to.isF32())
    return {x};
  auto rounding = getTowardZero()
                      ? arith::RoundingModeAttr::get(getContext(), arith::RoundingMode::toward_zero)
                      : arith::RoundingModeAttr();
  return {arith::TruncFOp::create(builder, getLoc(), to, x, rounding, arith::FastMathFlagsAttr())};
}

SmallVector<Value> HandOnOp::buildBody(OpBuilder &, ValueRange elements, Value) { // D45
  return {elements[0]};
}

//===--- Contractions ---===//

Skeleton ContractOp::getSkeleton() { return Skeleton::Contraction; }

TensorType ContractOp::getDomain() { return getType(); }

SmallVector<AccessAttr> ContractOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs});
}

SmallVector<AccessAttr> ContractOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> ContractOp::buildBody(OpBuilder &, ValueRange, Value accumulator) {
  return {accumulator};
} // D40

//===--- Sums over rows and over everything ---===//

Skeleton ColumnSumOp::getSkeleton() { return Skeleton::Column; }

TensorType ColumnSumOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> ColumnSumOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<AccessAttr> ColumnSumOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Column});
}

SmallVector<Value> ColumnSumOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

Skeleton MeanOp::getSkeleton() { return Skeleton::Flat; }

TensorType MeanOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> MeanOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<AccessAttr> MeanOp::getResultAccesses() { return {}; }

SmallVector<Value> MeanOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

bool MeanOp::hasFinish() { return true; }

SmallVector<Value> MeanOp::buildFinish(OpBuilder &builder, ValueRange sums, ValueRange) {
  Scalars s(builder, getLoc());
  return {s.div(sums[0], s.count(sums[0].getType(), tensor(getX()).getDims()))};
}

SmallVector<Value> MeanOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  auto dims = tensor(getX()).getDims();
  auto op = makePointwise(builder, getLoc(), "mean_grad", resultGradients[0], getX().getType(),
                          [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                            return {s.div(a[0], s.count(a[0].getType(), dims))};
                          });
  return {op.getOutputs()[0]};
}

Skeleton TotalOp::getSkeleton() { return Skeleton::Flat; }

TensorType TotalOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> TotalOp::getOperandAccesses() {
  SmallVector<AccessAttr> list(getNumOperands(), AccessAttr::get(getContext(), AccessKind::Scalar));
  list[0] = AccessAttr::get(getContext(), AccessKind::Full);
  return list;
}

SmallVector<AccessAttr> TotalOp::getResultAccesses() { return {}; }

SmallVector<Value> TotalOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

bool TotalOp::hasFinish() { return true; }

SmallVector<Value> TotalOp::buildFinish(OpBuilder &builder, ValueRange sums, ValueRange scalars) {
  SmallVector<Value> arguments(sums);
  llvm::append_range(arguments, scalars);
  return inlineBlock(builder, getFinish().front(), arguments);
}

} // namespace halftone::ir
