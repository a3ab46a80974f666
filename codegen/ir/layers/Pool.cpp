// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "codegen/ir/layers/Windows.h"

using namespace mlir;

namespace halftone::ir {

static Windows windowsOf(PoolOp op) {
  return Windows(op.getKernel(), op.getStride(), op.getDilation(), op.getPadding(), 1);
}

LogicalResult PoolOp::verify() {
  if (failed(verifyWindows(*this, getKernel(), getStride(), getDilation(), getPadding(), 1)))
    return failure();
  TensorType x = tensor(getX()), y = tensor(getResult());
  if (!windowsOf(*this).fit(x, y) || x.getDims().back() != y.getDims().back())
    return emitOpError() << "result " << y << " does not have a place for every window of " << x;
  if (!isMax() && getFunction() != "average")
    return emitOpError() << "has the function '" << getFunction() << "': write max or average";
  if (isMax() != static_cast<bool>(getIndex()) || (getIndex() && tensor(getIndex()) != y))
    return emitOpError("wants an index of its result's type for a maximum, and for nothing else");
  return success();
}

SmallVector<Type> PoolOp::inferResults(TensorType node, ValueRange, DictionaryAttr settings) {
  bool isMax = settings.getAs<StringAttr>("function").getValue() == "max";
  return SmallVector<Type>(isMax ? 2 : 1, node);
}

SmallVector<AccessAttr> PoolOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

LogicalResult PoolOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), getKernel().size(), before);
}

/// Whether all means divide by the number of a window's elements.
static bool countsAll(PoolOp op) {
  return op.getCountIncludePad().value_or(false) || !windowsOf(op).arePadded();
}

/// What the mean of the window at hand divides by.
static Value divisor(PoolOp op, Scalars &s) {
  Windows windows = windowsOf(op);
  if (!countsAll(op))
    return windows.countInside(s, tensor(op.getResult()), tensor(op.getX()));
  return s.constant(Float32Type::get(op.getContext()), static_cast<double>(windows.countTaps()));
}

static Value sumUp(Scalars &s, ValueRange summands) {
  Value sum = s.like(summands[0], 0);
  for (Value summand : summands)
    sum = s.add(sum, summand);
  return sum;
}

/// Of the elements of a window the largest, and its number.
static SmallVector<Value> findLargest(PoolOp op, Scalars &s, ValueRange elements) {
  Windows windows = windowsOf(op);
  Value largest = s.like(elements[0], -std::numeric_limits<double>::infinity());
  Value index = s.like(elements[0], -1);
  bool hasBefore = false; // one inside, in every window
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value taken = s.either(s.greater(element, largest), s.isNan(element));
    if (!hasBefore)
      taken = s.either(taken, s.less(index, s.like(index, 0)));
    Value inside = windows.isInside(s, tensor(op.getResult()), tensor(op.getX()),
                                    static_cast<int64_t>(number));
    hasBefore |= !inside;
    if (inside)
      taken = s.both(inside, taken);
    largest = s.select(taken, element, largest);
    index = s.select(taken, s.like(index, static_cast<double>(number)), index);
  }
  return {largest, index};
}

SmallVector<Value> PoolOp::lower(OpBuilder &builder) { // D85
  TensorType y = tensor(getResult());
  Space space{y, windowsOf(*this).readElements(y, tensor(getX())),
              accesses(getContext(), SmallVector<AccessKind>(getNumResults(), AccessKind::Full))};
  SmallVector<Value> elements(space.reads.size(), getX());
  auto map = makeMap(builder, getLoc(), "pool", space, elements, getResultTypes(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       if (isMax())
                         return findLargest(*this, s, e);
                       return {s.div(sumUp(s, e), divisor(*this, s))};
                     });
  return SmallVector<Value>(map.getOutputs());
}

/// What every window gives to each of its elements, where that depends on the window.
static Value shareOut(PoolOp op, OpBuilder &builder, Value g) {
  if (op.isMax() || countsAll(op))
    return g;
  auto each = accesses(op.getContext(), {AccessKind::Full});
  return makeMap(builder, op.getLoc(), "pool_shares", {tensor(g), each, each}, g, gradientType(g),
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   return {s.div(e[0], divisor(op, s))};
                 })
      .getOutputs()[0];
}

SmallVector<Value> PoolOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D86
  Value given = shareOut(*this, builder, resultGradients[0]);
  TensorType x = gradientType(getX());
  Space space{x, windowsOf(*this).readWindows(x, tensor(given)),
              accesses(getContext(), {AccessKind::Full})};
  size_t count = space.reads.size();
  SmallVector<Value> operands(count, given);
  if (isMax()) {
    operands.append(count, getIndex());
    space.reads.append(SmallVector<AccessAttr>(space.reads));
  }
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    SmallVector<Value> summands(e.take_front(count));
    for (auto [p, summand] : llvm::enumerate(summands)) {
      if (isMax())
        summand = s.select(s.equal(e[count + p], s.like(summand, static_cast<double>(p))), summand,
                           s.like(summand, 0));
      else if (countsAll(*this))
        summand = s.div(summand, divisor(*this, s));
    }
    return {sumUp(s, summands)};
  };
  return {makeMap(builder, getLoc(), "pool_grad", space, operands, x, code).getOutputs()[0]};
}

SmallVector<Value> PoolOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
