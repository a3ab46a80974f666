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
  if (getClassWeight() && tensor(getClassWeight()).getDims() != logits.getDims().take_back())
    return emitOpError() << "weight " << tensor(getClassWeight())
                         << " does not have one value per column of logits " << logits;
  if (getType().getDims() != logits.getRowDims())
    return emitOpError() << "result " << getType() << " does not have one value per row of logits "
                         << logits;
  return success();
}

SmallVector<AccessAttr> CrossEntropyOp::getOperandAccesses() {
  SmallVector<AccessKind> kinds(getNumOperands(), AccessKind::Row);
  kinds.front() = AccessKind::Full;
  if (getClassWeight())
    kinds[2] = AccessKind::Column;
  return accesses(getContext(), kinds);
}

/// One where the column is the label, and whether the label names a column at all.
static std::pair<Value, Value> matchLabel(Scalars &s, Value label, Value logits) {
  Value column = s.columnIndex(), columns = s.columns(label.getType(), tensor(logits));
  Value valid = s.compare(arith::CmpIPredicate::ult, label, columns);
  return {s.compare(arith::CmpIPredicate::eq, column, label), valid};
}

/// w of D71; `weights` are the elements of the operands of weights that there are, in their order.
/// Null where nothing is weighted.
static Value weightOf(CrossEntropyOp op, Scalars &s, Value label, ValueRange weights) {
  Value given = op.getSampleWeight() ? weights.back() : Value();
  if (op.getClassWeight()) {
    auto [match, valid] = matchLabel(s, label, op.getLogits());
    Value one = s.like(weights[0], 1), none = s.like(weights[0], 0);
    Value ofClass = s.select(valid, s.rowSum(s.select(match, weights[0], none)), one);
    given = given ? s.mul(given, ofClass) : ofClass;
  }
  if (std::optional<int64_t> ignored = op.getIgnoreIndex()) {
    Type f32 = Float32Type::get(op.getContext());
    Value isIgnored = s.compare(arith::CmpIPredicate::eq, label, s.integer(*ignored));
    return s.select(isIgnored, s.constant(f32, 0), given ? given : s.constant(f32, 1));
  }
  return given;
}

Value CrossEntropyOp::buildDivisor(OpBuilder &builder) {
  if (getClassWeight()) { // of rows that are read whole
    SmallVector<Value> operands(getOperands().drop_front());
    Space rows{tensor(getLogits()),
               accesses(getContext(), {AccessKind::Row, AccessKind::Column, AccessKind::Row}),
               accesses(getContext(), {AccessKind::Row})};
    rows.reads.truncate(operands.size());
    TensorType logits = gradientType(getLogits());
    auto map = makeMap(builder, getLoc(), "row_weights", rows, operands,
                       logits.withDims(logits.getRowDims()),
                       [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                         return {weightOf(*this, s, e[0], e.drop_front())};
                       });
    return makeDivisor(builder, getLoc(), map.getOutputs());
  }
  if (!getIgnoreIndex())
    return getSampleWeight() ? makeDivisor(builder, getLoc(), getSampleWeight()) : Value();
  return makeDivisor(builder, getLoc(), getOperands().drop_front(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       return {weightOf(*this, s, e[0], e.drop_front())};
                     });
}

//===--- Settings of D29, each of which leaves the code as it is where nobody states it ---===//

/// What stands for the logit x, and under a soft_cap t.
static std::pair<Value, Value> capLogit(CrossEntropyOp op, Scalars &s, Value x) {
  if (!op.getSoftCap())
    return {x, Value()};
  double cap = op.getSoftCap()->convertToDouble();
  Value t = s.tanh(s.mul(x, s.like(x, 1 / cap)));
  return {s.mul(s.like(x, cap), t), t};
}

static Value smoothLoss(CrossEntropyOp op, Scalars &s, Value loss, Value logSum, Value below) {
  if (!op.getLabelSmoothing())
    return loss;
  double share = op.getLabelSmoothing()->convertToDouble();
  Value mean = s.div(s.rowSum(below), s.columns(loss.getType(), tensor(op.getLogits())));
  Value ofLabel = s.mul(s.like(loss, 1 - share), loss);
  return s.add(ofLabel, s.mul(s.like(loss, share), s.sub(logSum, mean)));
}

static Value addZLoss(CrossEntropyOp op, Scalars &s, Value loss, Value logSumExp) {
  if (!op.getZLoss())
    return loss;
  Value weight = s.like(loss, op.getZLoss()->convertToDouble());
  return s.add(loss, s.mul(weight, s.mul(logSumExp, logSumExp)));
}

/// p of D48, or p * f.
static Value drawByZLoss(CrossEntropyOp op, Scalars &s, Value p, Value maximum, Value sum) {
  if (!op.getZLoss())
    return p;
  Value slope = s.mul(s.like(p, 2 * op.getZLoss()->convertToDouble()), s.add(maximum, s.log(sum)));
  return s.mul(p, s.add(s.like(p, 1), slope));
}

/// What p is compared with.
static Value buildTarget(CrossEntropyOp op, Scalars &s, Value match, Value like) {
  if (!op.getLabelSmoothing())
    return s.select(match, s.like(like, 1), s.like(like, 0));
  double smoothing = op.getLabelSmoothing()->convertToDouble();
  Value columns = s.columns(like.getType(), tensor(op.getLogits()));
  Value share = s.div(s.like(like, smoothing), columns);
  return s.select(match, s.add(s.like(like, 1 - smoothing), share), share);
}

/// The gradient of the logit itself.
static Value uncapGradient(Scalars &s, Value gradient, Value t) {
  return t ? s.mul(gradient, s.sub(s.like(t, 1), s.mul(t, t))) : gradient;
}

//===--- D29 and its gradient ---===//

/// Says for ChunkRows what the user asked for (D74).
static void markChunks(CrossEntropyOp op, Operation *built) {
  if (op.getChunkRowsAttr())
    built->setAttr(kChunkRowsAttr, op.getChunkRowsAttr());
}

SmallVector<Value> CrossEntropyOp::lower(OpBuilder &builder) { // D29
  auto code = [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = capLogit(*this, s, elements[0]).first;
    auto [match, valid] = matchLabel(s, elements[1], getLogits());
    Value maximum = s.rowMax(x), below = s.sub(x, maximum);
    Value sum = s.rowSum(s.exp(below));
    Value picked = s.select(valid, s.rowSum(s.select(match, x, s.like(x, 0))), s.like(x, NAN));
    Value logSum = s.log(sum), logSumExp = s.add(maximum, logSum);
    Value loss = smoothLoss(*this, s, s.sub(logSumExp, picked), logSum, below);
    loss = addZLoss(*this, s, loss, logSumExp);
    Value weight = weightOf(*this, s, elements[1], elements.drop_front(2)); // D71
    return {weight ? weigh(s, weight, loss) : loss};
  };
  SmallVector<Value> rows =
      lowerToMap(*this, builder, code, tensor(getLogits()), {AccessKind::Row});
  markChunks(*this, rows[0].getDefiningOp());
  return rows;
}

/// Of one logit, from its element, label, what arrives and maybe weights.
static Value buildGradient(CrossEntropyOp op, Scalars &s, ValueRange elements) { // D48, D72
  auto [x, t] = capLogit(op, s, elements[0]);
  auto [match, valid] = matchLabel(s, elements[1], op.getLogits());
  Value maximum = s.rowMax(x), e = s.exp(s.sub(x, maximum)), sum = s.rowSum(e);
  Value reciprocal = s.div(s.like(x, 1), sum);
  Value p = s.round(s.mul(e, reciprocal), internalEncoding(op, "probabilities"));
  p = drawByZLoss(op, s, p, maximum, sum);
  Value difference = s.sub(p, buildTarget(op, s, match, x));
  Value weight = weightOf(op, s, elements[1], elements.drop_front(3));
  Value arriving = weight ? s.mul(elements[2], weight) : elements[2];
  Value gradient = s.mul(s.select(valid, arriving, s.like(x, NAN)), difference);
  gradient = uncapGradient(s, gradient, t);
  return weight ? passOver(s, weight, gradient) : gradient;
}

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  SmallVector<Value> operands{getLogits(), getLabel(), resultGradients[0]};
  llvm::append_range(operands, getOperands().drop_front(2));
  SmallVector<AccessKind> reads(operands.size(), AccessKind::Row);
  reads.front() = AccessKind::Full;
  if (getClassWeight())
    reads[3] = AccessKind::Column;
  Space rows{tensor(getLogits()), accesses(getContext(), reads),
             accesses(getContext(), {AccessKind::Full})};
  auto op =
      makeMap(builder, getLoc(), "cross_entropy_grad", rows, operands, gradientType(getLogits()),
              [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
                return {buildGradient(*this, s, elements)};
              });
  markChunks(*this, op);
  SmallVector<Value> gradients(getNumOperands());
  gradients.front() = op.getOutputs()[0];
  return gradients;
}

SmallVector<Type> CrossEntropyOp::inferResults(TensorType, ValueRange operands, DictionaryAttr) {
  TensorType logits = gradientType(operands[0]);
  return {logits.withDims(logits.getRowDims())};
}

} // namespace halftone::ir
