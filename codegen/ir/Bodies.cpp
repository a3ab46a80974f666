// SPDX-License-Identifier: Apache-2.0
// How every tensor operation becomes scalar code: the forward formulas of docs/spec/description.md,
// and those gradients that are operations of their own.
#include "codegen/ir/Scalars.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

static TensorType tensor(Value value) { return cast<TensorType>(value.getType()); }

static SmallVector<AccessAttr> accesses(MLIRContext *context, ArrayRef<AccessKind> kinds) {
  return llvm::map_to_vector(kinds,
                             [&](AccessKind kind) { return AccessAttr::get(context, kind); });
}

static SmallVector<AccessAttr> inferAccesses(TensorType domain, ValueRange operands) {
  return llvm::map_to_vector(operands, [&](Value v) { return inferAccess(domain, tensor(v)); });
}

//===--- Elementwise layers ---===//

#define HALFTONE_POINTWISE_FORM(Op, domain, operands, results)                                     \
  Skeleton Op::getSkeleton() { return Skeleton::Pointwise; }                                       \
  TensorType Op::getDomain() { return tensor(domain); }                                            \
  SmallVector<AccessAttr> Op::getOperandAccesses() {                                               \
    return inferAccesses(getDomain(), operands);                                                   \
  }                                                                                                \
  SmallVector<AccessAttr> Op::getResultAccesses() {                                                \
    return SmallVector<AccessAttr>(results, AccessAttr::get(getContext(), AccessKind::Full));      \
  }
HALFTONE_POINTWISE_FORM(ReluOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(GeluOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(SiluOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(AddOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(CastOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(HandOnOp, getResult(), getOperation()->getOperands(), 1)
HALFTONE_POINTWISE_FORM(PointwiseOp, getOutputs().front(), getInputs(), getOutputs().size())
#undef HALFTONE_POINTWISE_FORM

SmallVector<Value> ReluOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D23
  Scalars s(builder, getLoc());
  Value x = elements[0];
  return {s.select(s.greater(x, s.like(x, 0)), x, s.select(s.isNan(x), x, s.like(x, 0)))};
}

SmallVector<Value> GeluOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  Scalars s(builder, getLoc());
  Value x = elements[0], half = s.mul(s.like(x, 0.5), x), one = s.like(x, 1);
  if (!getTanh()) // D24
    return {s.mul(half, s.add(one, s.erf(s.mul(x, s.like(x, std::sqrt(0.5))))))};
  Value cube = s.mul(s.mul(x, x), x); // D25
  Value u = s.mul(s.like(x, std::sqrt(2 / M_PI)), s.fma(cube, s.like(x, 0.044715), x));
  return {s.mul(half, s.add(one, s.tanh(u)))};
}

SmallVector<Value> SiluOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D32
  Scalars s(builder, getLoc());
  return {s.mul(elements[0], s.sigmoid(elements[0]))};
}

SmallVector<Value> AddOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D26
  return {Scalars(builder, getLoc()).add(elements[0], elements[1])};
}

SmallVector<Value> PointwiseOp::buildBody(OpBuilder &builder, ValueRange elements,
                                          Value) { // D28, D31
  return inlineBlock(builder, getBody().front(), elements);
}

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

Skeleton ConcatOp::getSkeleton() { return Skeleton::Pointwise; }
TensorType ConcatOp::getDomain() { return getType(); }
SmallVector<AccessAttr> ConcatOp::getOperandAccesses() {
  SmallVector<AccessAttr> windows;
  int64_t offset = 0;
  for (Value part : getParts()) {
    windows.push_back(AccessAttr::get(getContext(), AccessKind::Window, -offset));
    offset += tensor(part).getColumns();
  }
  return windows;
}
SmallVector<AccessAttr> ConcatOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}
SmallVector<Value> ConcatOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D27
  Scalars s(builder, getLoc());
  Value column = ColumnIndexOp::create(builder, getLoc(), builder.getI32Type());
  Value result = elements.back();
  int64_t end = getType().getColumns();
  for (size_t part = elements.size() - 1; part > 0; --part) {
    end -= tensor(getParts()[part]).getColumns();
    result = s.select(s.compare(arith::CmpIPredicate::slt, column, s.integer(end)),
                      elements[part - 1], result);
  }
  return {result};
}

Skeleton SliceOp::getSkeleton() { return Skeleton::Pointwise; }
TensorType SliceOp::getDomain() { return getType(); }
SmallVector<AccessAttr> SliceOp::getOperandAccesses() {
  return {AccessAttr::get(getContext(), AccessKind::Window, getOffset())};
}
SmallVector<AccessAttr> SliceOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}
SmallVector<Value> SliceOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
} // D46

//===--- Contractions ---===//

Skeleton LinearOp::getSkeleton() { return Skeleton::Contraction; }
TensorType LinearOp::getDomain() { return getType(); }
SmallVector<AccessAttr> LinearOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}
SmallVector<AccessAttr> LinearOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}
SmallVector<Value> LinearOp::buildBody(OpBuilder &builder, ValueRange elements,
                                       Value accumulator) { // D21
  return {getBias() ? Scalars(builder, getLoc()).add(accumulator, elements[2]) : accumulator};
}

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

//===--- Rows ---===//

Skeleton LayerNormOp::getSkeleton() { return Skeleton::Row; }
TensorType LayerNormOp::getDomain() { return tensor(getX()); }
SmallVector<AccessAttr> LayerNormOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column});
}
SmallVector<AccessAttr> LayerNormOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Row, AccessKind::Row});
}
SmallVector<Value> LayerNormOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D22
  Scalars s(builder, getLoc());
  Value x = elements[0], n = s.like(x, static_cast<double>(getDomain().getColumns()));
  Value mean = s.div(s.rowSum(x), n), d = s.sub(x, mean);
  Value variance = s.div(s.rowSum(s.mul(d, d)), n);
  Value rstd =
      s.div(s.like(x, 1), s.sqrt(s.add(variance, s.like(x, getEpsilon().convertToDouble()))));
  return {s.fma(s.mul(d, rstd), elements[1], elements[2]), mean, rstd};
}

Skeleton LayerNormGradOp::getSkeleton() { return Skeleton::Row; }
TensorType LayerNormGradOp::getDomain() { return tensor(getX()); }
SmallVector<AccessAttr> LayerNormGradOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Row,
                                 AccessKind::Row, AccessKind::Full});
}
SmallVector<AccessAttr> LayerNormGradOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}
SmallVector<Value> LayerNormGradOp::buildBody(OpBuilder &builder, ValueRange elements,
                                              Value) { // D41
  Scalars s(builder, getLoc());
  Value x = elements[0], weight = elements[1], mean = elements[2], rstd = elements[3],
        g = elements[4];
  Value n = s.like(x, static_cast<double>(getDomain().getColumns()));
  Value h = s.mul(s.sub(x, mean), rstd), q = s.mul(g, weight);
  Value a = s.div(s.rowSum(q), n), b = s.div(s.rowSum(s.mul(q, h)), n);
  return {s.mul(rstd, s.sub(s.sub(q, a), s.mul(h, b)))};
}

Skeleton CrossEntropyOp::getSkeleton() { return Skeleton::Row; }
TensorType CrossEntropyOp::getDomain() { return tensor(getLogits()); }
SmallVector<AccessAttr> CrossEntropyOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Row});
}
SmallVector<AccessAttr> CrossEntropyOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Row});
}

/// One where the column is the label, and whether the label names a column at all.
static std::pair<Value, Value> matchLabel(Scalars &s, OpBuilder &builder, Location loc, Value label,
                                          int64_t columns) {
  Value column = ColumnIndexOp::create(builder, loc, builder.getI32Type());
  Value valid = s.compare(arith::CmpIPredicate::ult, label, s.integer(columns));
  return {s.compare(arith::CmpIPredicate::eq, column, label), valid};
}

SmallVector<Value> CrossEntropyOp::buildBody(OpBuilder &builder, ValueRange elements,
                                             Value) { // D29
  Scalars s(builder, getLoc());
  Value x = elements[0];
  auto [match, valid] = matchLabel(s, builder, getLoc(), elements[1], getDomain().getColumns());
  Value maximum = s.rowMax(x);
  Value sum = s.rowSum(s.exp(s.sub(x, maximum)));
  Value picked = s.select(valid, s.rowSum(s.select(match, x, s.like(x, 0))), s.like(x, NAN));
  return {s.sub(s.add(maximum, s.log(sum)), picked)};
}

Skeleton CrossEntropyGradOp::getSkeleton() { return Skeleton::Row; }
TensorType CrossEntropyGradOp::getDomain() { return tensor(getLogits()); }
SmallVector<AccessAttr> CrossEntropyGradOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Row, AccessKind::Row});
}
SmallVector<AccessAttr> CrossEntropyGradOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}
SmallVector<Value> CrossEntropyGradOp::buildBody(OpBuilder &builder, ValueRange elements,
                                                 Value) { // D48
  Scalars s(builder, getLoc());
  Value x = elements[0];
  auto [match, valid] = matchLabel(s, builder, getLoc(), elements[1], getDomain().getColumns());
  Value e = s.exp(s.sub(x, s.rowMax(x)));
  Value difference = s.sub(s.div(e, s.rowSum(e)), s.select(match, s.like(x, 1), s.like(x, 0)));
  return {s.mul(s.select(valid, elements[2], s.like(x, NAN)), difference)};
}

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

Skeleton LayerNormWeightGradOp::getSkeleton() { return Skeleton::Column; }
TensorType LayerNormWeightGradOp::getDomain() { return tensor(getX()); }
SmallVector<AccessAttr> LayerNormWeightGradOp::getOperandAccesses() {
  return accesses(getContext(),
                  {AccessKind::Full, AccessKind::Row, AccessKind::Row, AccessKind::Full});
}
SmallVector<AccessAttr> LayerNormWeightGradOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Column, AccessKind::Column});
}
SmallVector<Value> LayerNormWeightGradOp::buildBody(OpBuilder &builder, ValueRange elements,
                                                    Value) { // D41
  Scalars s(builder, getLoc());
  Value h = s.mul(s.sub(elements[0], elements[1]), elements[2]), g = elements[3];
  return {s.mul(g, h), g};
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
