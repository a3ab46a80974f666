// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

LogicalResult CrossEntropyOp::verify() {
  TensorType logits = tensor(getLogits()), label = tensor(getLabel());
  if (label.getDims() != logits.getRowDims())
    return emitOpError() << "label " << label << " does not have one value per row of logits "
                         << logits;
  if (getType().getDims() != logits.getRowDims())
    return emitOpError() << "result " << getType() << " does not have one value per row of logits "
                         << logits;
  return success();
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

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D48
  return {CrossEntropyGradOp::create(builder, getLoc(), getLogits().getType(), getLogits(),
                                     getLabel(), resultGradients[0]),
          Value()};
}

} // namespace halftone::ir
