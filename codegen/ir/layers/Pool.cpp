// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "codegen/ir/layers/Windows.h"
#include "mlir/IR/AffineMap.h"

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

/// So many elements of a window are read by one kernel, with a pointer each; longer chains go on in
/// others.
constexpr size_t kElementsOfMap = 64;

/// What an earlier map left, in a kernel of its own: by a general access, by which no kernel goes
/// on.
static AccessAttr readLeft(TensorType type) {
  auto map = AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
  return AccessAttr::get(type.getContext(), AccessKind::General, 0, AffineMapAttr::get(map), {},
                         {});
}

/// Maps over `space`, each of so many of its reads of `inputs`, the first `count` of them and those
/// that lie `count` behind. `code` is given what the map before left, none at first, the number of
/// the first element at hand, and the elements.
using ChainCode =
    llvm::function_ref<SmallVector<Value>(Scalars &s, ValueRange left, size_t first, ValueRange)>;
static SmallVector<Value> makeChain(OpBuilder &builder, Location loc, StringRef label,
                                    const Space &space, ValueRange inputs, size_t count,
                                    ArrayRef<Type> left, ArrayRef<Type> results, ChainCode code) {
  SmallVector<Value> before;
  for (size_t first = 0; first < count; first += kElementsOfMap) {
    size_t number = std::min(kElementsOfMap, count - first);
    bool isLast = first + number == count;
    Space part{space.domain, {}, {}};
    SmallVector<Value> operands;
    for (size_t begin = first; begin < inputs.size(); begin += count) {
      llvm::append_range(part.reads, ArrayRef(space.reads).slice(begin, number));
      llvm::append_range(operands, inputs.slice(begin, number));
    }
    size_t elements = operands.size();
    part.reads.append(before.size(), readLeft(space.domain));
    operands.append(before);
    part.writes =
        accesses(builder.getContext(),
                 SmallVector<AccessKind>((isLast ? results : left).size(), AccessKind::Full));
    auto map = makeMap(builder, loc, label, part, operands, isLast ? results : left,
                       [&](Scalars &s, ValueRange e) {
                         return code(s, e.drop_front(elements), first, e.take_front(elements));
                       });
    map->setAttr(kWindowsAttr, builder.getUnitAttr());
    before.assign(map.getOutputs().begin(), map.getOutputs().end());
  }
  return before;
}

static Value sumUp(Scalars &s, ValueRange left, ValueRange summands) {
  Value sum = left.empty() ? s.like(summands[0], 0) : left[0];
  for (Value summand : summands)
    sum = s.add(sum, summand);
  return sum;
}

/// Of the elements of a window from element `first` on the largest, and its number, where those
/// before leave `left`.
static SmallVector<Value> findLargest(PoolOp op, Scalars &s, ValueRange left, size_t first,
                                      ValueRange elements) {
  Windows windows = windowsOf(op);
  auto inside = [&](size_t number) {
    return windows.isInside(s, tensor(op.getResult()), tensor(op.getX()),
                            static_cast<int64_t>(number));
  };
  Value largest =
      left.empty() ? s.like(elements[0], -std::numeric_limits<double>::infinity()) : left[0];
  Value index = left.empty() ? s.like(elements[0], -1) : left[1];
  bool hasBefore = false; // one inside, in every window
  for (size_t number = 0; number < first && !hasBefore; ++number)
    hasBefore = !inside(number);
  for (auto [place, element] : llvm::enumerate(elements)) {
    size_t number = first + place;
    Value taken = s.either(s.greater(element, largest), s.isNan(element));
    if (!hasBefore)
      taken = s.either(taken, s.less(index, s.like(index, 0)));
    Value isInside = inside(number);
    hasBefore |= !isInside;
    if (isInside)
      taken = s.both(isInside, taken);
    largest = s.select(taken, element, largest);
    index = s.select(taken, s.like(index, static_cast<double>(number)), index);
  }
  return {largest, index};
}

SmallVector<Value> PoolOp::lower(OpBuilder &builder) { // D85
  TensorType y = tensor(getResult()), sum = gradientType(getResult());
  Space space{y, windowsOf(*this).readElements(y, tensor(getX())), {}};
  size_t count = space.reads.size();
  SmallVector<Value> elements(count, getX());
  SmallVector<Type> results(getResultTypes()), left(results.size(), sum);
  return makeChain(
      builder, getLoc(), "pool", space, elements, count, left, results,
      [&](Scalars &s, ValueRange before, size_t first, ValueRange e) -> SmallVector<Value> {
        if (isMax())
          return findLargest(*this, s, before, first, e);
        Value all = sumUp(s, before, e);
        return {first + e.size() == count ? s.div(all, divisor(*this, s)) : all};
      });
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
  Space space{x, windowsOf(*this).readWindows(x, tensor(given)), {}};
  size_t count = space.reads.size();
  SmallVector<Value> operands(count, given);
  if (isMax()) {
    operands.append(count, getIndex());
    space.reads.append(SmallVector<AccessAttr>(space.reads));
  }
  auto code = [&](Scalars &s, ValueRange left, size_t first, ValueRange e) -> SmallVector<Value> {
    size_t number = isMax() ? e.size() / 2 : e.size();
    SmallVector<Value> summands(e.take_front(number));
    for (auto [p, summand] : llvm::enumerate(summands)) {
      if (isMax())
        summand = s.select(s.equal(e[number + p], s.like(summand, static_cast<double>(first + p))),
                           summand, s.like(summand, 0));
      else if (countsAll(*this))
        summand = s.div(summand, divisor(*this, s));
    }
    return {sumUp(s, left, summands)};
  };
  return makeChain(builder, getLoc(), "pool_grad", space, operands, count, {x}, {x}, code);
}

SmallVector<Value> PoolOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
