// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Angles.h"
#include "codegen/ir/Continuation.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

int64_t RotaryOp::getWidth() {
  return *tensor(getX()).getColumns() / static_cast<int64_t>(getHeads());
}

LogicalResult RotaryOp::verify() {
  TensorType x = tensor(getX());
  if (x.getRank() < 2 || !tensor(getResult()).hasSameDims(x))
    return emitOpError() << "x " << x << " must have times before its columns, and result "
                         << tensor(getResult()) << " its shape";
  auto heads = static_cast<int64_t>(getHeads());
  if (heads < 1 || !x.getColumns() || *x.getColumns() % heads != 0)
    return emitOpError() << "has " << heads << " heads, by which the columns of " << x
                         << " cannot be divided";
  if (countRotated() % 2 != 0 || countRotated() < 2 || countRotated() > getWidth())
    return emitOpError() << "rotates " << countRotated() << " of the " << getWidth()
                         << " elements of a head: rotate an even number of them";
  if (failed(verifyPosition(*this, getPosition(), x)))
    return failure();
  TensorType turns = typeOfTurns(x, getPosition(), countRotated() / 2);
  if (getCosine().getType() != turns || getSine().getType() != turns)
    return emitOpError() << "cosine and sine must be " << turns;
  return success();
}

SmallVector<AccessAttr> RotaryOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::General, AccessKind::Row});
  list.resize(getNumOperands());
  return list;
}

namespace {

/// An element, its partner behind it or before it, and the cosine and sine of its pair.
Space readPairs(RotaryOp op) {
  TensorType x = tensor(op.getX()), turns = tensor(op.getCosine());
  int64_t width = op.getWidth(), pairs = op.countRotated() / 2;
  bool oneHead = op.getHeads() == 1;
  AccessAttr turn = readOfTurns(x, turns, [&](AffineExpr column) {
    AffineExpr element = oneHead ? column : column % width;
    return op.getInterleaved() ? element.floorDiv(2) : element % pairs;
  });
  int64_t distance = op.getInterleaved() ? 1 : pairs;
  auto window = [&](int64_t by) {
    return AccessAttr::get(op.getContext(), AccessKind::Window, by);
  };
  return {x,
          {AccessAttr::get(op.getContext(), AccessKind::Full), window(distance), window(-distance),
           turn, turn},
          accesses(op.getContext(), {AccessKind::Full})};
}

/// One function of x and, turning back, of the gradient that arrives.
Value turn(RotaryOp op, OpBuilder &builder, StringRef label, Value x, Value cosine, Value sine,
           bool back) {
  int64_t width = op.getWidth(), rotated = op.countRotated();
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    using P = arith::CmpIPredicate;
    Value place = s.columnIndex();
    if (op.getHeads() > 1)
      place = s.remainder(place, width);
    Value isFirst = op.getInterleaved() ? s.compare(P::eq, s.remainder(place, 2), s.integer(0))
                                        : s.compare(P::ult, place, s.integer(rotated / 2));
    Value own = s.mul(e[0], e[3]), other = s.mul(s.select(isFirst, e[1], e[2]), e[4]);
    Value less = s.sub(own, other), more = s.add(own, other);
    Value y = back ? s.select(isFirst, more, less) : s.select(isFirst, less, more);
    if (rotated < width)
      y = s.select(s.compare(P::ult, place, s.integer(rotated)), y, e[0]);
    return {y};
  };
  return makeMap(builder, op.getLoc(), label, readPairs(op), {x, x, x, cosine, sine},
                 gradientType(op.getX()), code)
      .getOutputs()[0];
}

} // namespace

SmallVector<Value> RotaryOp::lower(OpBuilder &builder) { // D64
  Frequencies of{countRotated(), getBase().convertToDouble(), getFactor().convertToDouble(), {}};
  if (getOriginalLength())
    of.stretch = {getLowFactor()->convertToDouble(), getHighFactor()->convertToDouble(),
                  getOriginalLength()->convertToDouble()};
  SmallVector<Value> turns = makeTurns(*this, builder, of, getPosition(), tensor(getCosine()));
  // Computed again for the backward pass, which reads the turns alone.
  if (getResult().use_empty())
    return {getX(), turns[0], turns[1]};
  return {turn(*this, builder, "rotary", getX(), turns[0], turns[1], false), turns[0], turns[1]};
}

SmallVector<Value> RotaryOp::buildGradients(OpBuilder &builder,
                                            ValueRange resultGradients) { // D67
  SmallVector<Value> gradients(getNumOperands());
  gradients[0] =
      turn(*this, builder, "rotary_grad", resultGradients[0], getCosine(), getSine(), true);
  return gradients;
}

LogicalResult RotaryOp::continueFrom(const Continuation &before) {
  if (failed(countsTimes(*this, getX(), getPosition(), before)))
    return failure();
  getPositionMutable().assign(before.positions);
  TensorType turns = typeOfTurns(tensor(getX()), getPosition(), countRotated() / 2);
  getCosine().setType(turns);
  getSine().setType(turns);
  return success();
}

SmallVector<Value> RotaryOp::readForGradient(unsigned) { return {}; }

SmallVector<Type> RotaryOp::inferResults(TensorType node, ValueRange operands,
                                         DictionaryAttr settings) {
  auto rotated = settings.getAs<IntegerAttr>("rotated");
  int64_t width = *node.getColumns() / settings.getAs<IntegerAttr>("heads").getInt();
  TensorType turns = typeOfTurns(node, operands.size() > 1 ? operands[1] : Value(),
                                 (rotated ? rotated.getInt() : width) / 2);
  return {node, turns, turns};
}

} // namespace halftone::ir
