// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

LogicalResult CrossEntropyOp::verify() {
  TensorType logits = tensor(getLogits()), label = tensor(getLabel());
  if (label.getDims() != logits.getRowDims())
    return emitOpError() << "label " << label << " does not have one value per row of logits "
                         << logits;
  if (getSampleWeight() && !tensor(getSampleWeight()).hasSameDims(label))
    return emitOpError() << "weight " << tensor(getSampleWeight())
                         << " does not have one value per row of logits " << logits;
  if (getType().getDims() != logits.getRowDims())
    return emitOpError() << "result " << getType() << " does not have one value per row of logits "
                         << logits;
  return success();
}

SmallVector<AccessAttr> CrossEntropyOp::getOperandAccesses() {
  SmallVector<AccessKind> kinds(getNumOperands(), AccessKind::Row);
  kinds.front() = AccessKind::Full;
  return accesses(getContext(), kinds);
}

/// w of D71, `given` being the sample's or null; null where nothing is weighted.
static Value weightOf(CrossEntropyOp op, Scalars &s, Value label, Value given) {
  if (std::optional<int64_t> ignored = op.getIgnoreIndex()) {
    Type f32 = Float32Type::get(op.getContext());
    Value isIgnored = s.compare(arith::CmpIPredicate::eq, label, s.integer(*ignored));
    return s.select(isIgnored, s.constant(f32, 0), given ? given : s.constant(f32, 1));
  }
  return given;
}

Value CrossEntropyOp::buildDivisor(OpBuilder &builder) {
  if (!getIgnoreIndex())
    return getSampleWeight() ? makeDivisor(builder, getLoc(), getSampleWeight()) : Value();
  return makeDivisor(builder, getLoc(), getOperands().drop_front(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       return {weightOf(*this, s, e[0], e.size() > 1 ? e[1] : Value())};
                     });
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
    Value loss = s.sub(s.add(maximum, s.log(sum)), picked);
    Value weight =
        weightOf(*this, s, elements[1], elements.size() > 2 ? elements[2] : Value()); // D71
    return {weight ? weigh(s, weight, loss) : loss};
  };
  return lowerToMap(*this, builder, code, tensor(getLogits()), {AccessKind::Row});
}

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D48, D72
  Encoding probabilities = internalEncoding(*this, "probabilities");
  SmallVector<Value> operands{getLogits(), getLabel(), resultGradients[0]};
  if (getSampleWeight())
    operands.push_back(getSampleWeight());
  SmallVector<AccessKind> reads(operands.size(), AccessKind::Row);
  reads.front() = AccessKind::Full;
  Space rows{tensor(getLogits()), accesses(getContext(), reads),
             accesses(getContext(), {AccessKind::Full})};
  auto op =
      makeMap(builder, getLoc(), "cross_entropy_grad", rows, operands, gradientType(getLogits()),
              [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
                Value x = elements[0];
                auto [match, valid] = matchLabel(s, elements[1], getLogits());
                Value e = s.exp(s.sub(x, s.rowMax(x)));
                Value reciprocal = s.div(s.like(x, 1), s.rowSum(e));
                Value p = s.round(s.mul(e, reciprocal), probabilities);
                Value difference = s.sub(p, s.select(match, s.like(x, 1), s.like(x, 0)));
                Value weight =
                    weightOf(*this, s, elements[1], elements.size() > 3 ? elements[3] : Value());
                Value arriving = weight ? s.mul(elements[2], weight) : elements[2];
                Value gradient = s.mul(s.select(valid, arriving, s.like(x, NAN)), difference);
                return {weight ? passOver(s, weight, gradient) : gradient};
              });
  SmallVector<Value> gradients(getNumOperands());
  gradients.front() = op.getOutputs()[0];
  return gradients;
}

SmallVector<Type> CrossEntropyOp::inferResults(TensorType, ValueRange operands) {
  TensorType logits = gradientType(operands[0]);
  return {logits.withDims(logits.getRowDims())};
}

} // namespace halftone::ir
