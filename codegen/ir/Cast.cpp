// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

/// The form of an operation whose elements each depend on one element of every operand.
#define HALFTONE_POINTWISE_FORM(Op)                                                                \
  Skeleton Op::getSkeleton() { return Skeleton::Pointwise; }                                       \
  TensorType Op::getDomain() { return tensor(getOperation()->getResult(0)); }                      \
  SmallVector<AccessAttr> Op::getOperandAccesses() {                                               \
    return inferAccesses(getDomain(), getOperation()->getOperands());                              \
  }                                                                                                \
  SmallVector<AccessAttr> Op::getResultAccesses() {                                                \
    return SmallVector<AccessAttr>(getOperation()->getNumResults(),                                \
                                   AccessAttr::get(getContext(), AccessKind::Full));               \
  }

HALFTONE_POINTWISE_FORM(CastOp)

LogicalResult CastOp::verify() {
  if (getStochastic() && getTowardZero())
    return emitOpError("rounds toward zero and stochastically; say one of them");
  if (getStochastic() && isExact())
    return emitOpError("rounds stochastically what its result holds exactly");
  return verifyOneShape(*this);
}

void CastOp::build(OpBuilder &builder, OperationState &state, Value x, const Encoding &to,
                   StringRef point) {
  assert(!encoding::fault(to) && "a cast cannot say this");
  bool isStochastic = to.rounding == encoding::Rounding::stochastic;
  assert(isStochastic == !point.empty() && "what draws has a name, and nothing else has");
  auto input = x.getDefiningOp<InputOp>();
  build(builder, state,
        cast<TensorType>(x.getType()).withElementType(typeOf(builder.getContext(), to.element)), x,
        to.rounding == encoding::Rounding::toward_zero,
        isStochastic ? builder.getStringAttr(point) : StringAttr(), to.saturate,
        input ? input.getScaleAttr() : FloatAttr(), input ? input.getOffsetAttr() : FloatAttr());
}

Encoding CastOp::getEncoding() {
  Encoding to(elementOf(getType().getElementType()),
              getStochastic()   ? encoding::Rounding::stochastic
              : getTowardZero() ? encoding::Rounding::toward_zero
                                : encoding::Rounding::nearest_even);
  to.saturate = getSaturate();
  return to;
}

bool CastOp::isExact() {
  Encoding to = getEncoding();
  return isDelivered(getX()) ? !encoding::is_narrow(to.element)
                             : encoding::keeps(to, elementOf(tensor(getX()).getElementType()));
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() && isExact() ? getX() : Value();
}

/// D16
Value CastOp::convert(OpBuilder &builder, Value number) {
  if (!getScale() && !getOffset())
    return number;
  Scalars s(builder, getLoc());
  auto orElse = [](std::optional<APFloat> stated, double otherwise) {
    return stated ? stated->convertToDouble() : otherwise;
  };
  return s.add(s.mul(number, s.like(number, orElse(getScale(), 1))),
               s.like(number, orElse(getOffset(), 0)));
}

SmallVector<Value> CastOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  assert(!getStochastic() && "LowerStochasticCasts has made a map of it");
  Type f32 = builder.getF32Type(), to = getType().getElementType();
  Value x = elements[0];
  if (isDelivered(x.getType())) {
    x = IntegerOp::create(builder, getLoc(), to.isInteger() ? to : f32, x);
    if (to.isInteger())
      return {x};
    x = convert(builder, x);
  }
  if (!x.getType().isF32()) // through f32, exactly
    x = arith::ExtFOp::create(builder, getLoc(), f32, x);
  if (to.isF32())
    return {x};
  return {Scalars(builder, getLoc()).truncate(x, getEncoding())};
}

HALFTONE_POINTWISE_FORM(HandOnOp)

SmallVector<Value> HandOnOp::buildBody(OpBuilder &, ValueRange elements, Value) { // D45
  return {elements[0]};
}

} // namespace halftone::ir
