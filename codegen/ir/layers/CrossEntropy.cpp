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

SmallVector<AccessAttr> CrossEntropyOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Row});
}

/// One where the column is the label, and whether the label names a column at all.
static std::pair<Value, Value> matchLabel(Scalars &s, Value label, Value logits) {
  Value column = s.columnIndex(), columns = s.columns(label.getType(), tensor(logits));
  Value valid = s.compare(arith::CmpIPredicate::ult, label, columns);
  return {s.compare(arith::CmpIPredicate::eq, column, label), valid};
}

SmallVector<Value> CrossEntropyOp::lower(OpBuilder &builder) { // D29
  auto code = [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = elements[0];
    auto [match, valid] = matchLabel(s, elements[1], getLogits());
    Value maximum = s.rowMax(x);
    Value sum = s.rowSum(s.exp(s.sub(x, maximum)));
    Value picked = s.select(valid, s.rowSum(s.select(match, x, s.like(x, 0))), s.like(x, NAN));
    return {s.sub(s.add(maximum, s.log(sum)), picked)};
  };
  return lowerToMap(*this, builder, code, tensor(getLogits()), {AccessKind::Row});
}

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D48
  Encoding probabilities = internalEncoding(*this, "probabilities");
  Space rows{tensor(getLogits()),
             accesses(getContext(), {AccessKind::Full, AccessKind::Row, AccessKind::Row}),
             accesses(getContext(), {AccessKind::Full})};
  auto op = makeMap(builder, getLoc(), "cross_entropy_grad", rows,
                    {getLogits(), getLabel(), resultGradients[0]}, gradientType(getLogits()),
                    [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
                      Value x = elements[0];
                      auto [match, valid] = matchLabel(s, elements[1], getLogits());
                      Value e = s.exp(s.sub(x, s.rowMax(x)));
                      Value reciprocal = s.div(s.like(x, 1), s.rowSum(e));
                      Value p = s.round(s.mul(e, reciprocal), probabilities);
                      Value difference = s.sub(p, s.select(match, s.like(x, 1), s.like(x, 0)));
                      return {s.mul(s.select(valid, elements[2], s.like(x, NAN)), difference)};
                    });
  return {op.getOutputs()[0], Value()};
}

SmallVector<Type> CrossEntropyOp::inferResults(TensorType, ValueRange operands) {
  TensorType logits = gradientType(operands[0]);
  return {logits.withDims(logits.getRowDims())};
}

} // namespace halftone::ir
