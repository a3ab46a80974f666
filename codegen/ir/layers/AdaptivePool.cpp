// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/layers/Windows.h"
#include "halftone/description/kinds/adaptive_pool.hpp"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

namespace {

/// One dimension, of `from` places, as `to` shares of it: share i begins at floor(i * from / to)
/// and ends at ceil((i + 1) * from / to). Those that hold a place are its shares of `to`, in turn.
/// A length that is a symbol is number `symbol` of the list's.
struct Shares {
  size_t axis;
  Attribute from, to;
  unsigned symbol;
  /// How many places the largest share has, and how many each has, and so of those turned.
  int64_t most, least, mostTurned, leastTurned;

  Shares turned() const { return {axis, to, from, symbol, mostTurned, leastTurned, most, least}; }

  AffineExpr begin() const {
    AffineExpr axisExpr = getAffineDimExpr(static_cast<unsigned>(axis), from.getContext());
    return (axisExpr * lengthOf(from)).floorDiv(lengthOf(to));
  }
  /// By how many parts, of which a place has `to`, the share at hand begins behind its first place.
  Value offset(Scalars &s) const {
    Value i = s.axisIndex(static_cast<int64_t>(axis));
    return s.remainder(s.times(i, s.length(from)), s.length(to));
  }
  /// Whether the share at hand has place `number` of the largest; null where each has.
  Value has(Scalars &s, int64_t number) const {
    if (number < least)
      return {};
    return s.compare(arith::CmpIPredicate::sgt, offset(s), sum(s, number, -1));
  }
  /// How many places the share at hand has.
  Value count(Scalars &s) const {
    if (most == least + 1)
      return s.select(has(s, least), s.integer(most), s.integer(least));
    Value all = s.integer(least);
    for (int64_t number = least; number < most; ++number)
      all = s.plus(all, s.select(has(s, number), s.integer(1), s.integer(0)));
    return all;
  }
  /// Which place of share `number` of its own the place at hand is, whose shares these are.
  Value placeIn(Scalars &s, int64_t number) const {
    Value parts = offset(s), place = s.integer(0);
    for (int64_t j = 0; j + 1 < mostTurned; ++j) {
      Value isBehind = s.compare(arith::CmpIPredicate::sgt, parts, sum(s, number, j));
      place = s.plus(place, s.select(isBehind, s.integer(1), s.integer(0)));
    }
    return place;
  }

private:
  /// a * to + b * from, a number where both are.
  Value sum(Scalars &s, int64_t a, int64_t b) const {
    auto first = dyn_cast<IntegerAttr>(to), second = dyn_cast<IntegerAttr>(from);
    if (first && second)
      return s.integer(a * first.getInt() + b * second.getInt());
    return s.plus(s.times(s.integer(a), s.length(to)), s.times(s.integer(b), s.length(from)));
  }
  AffineExpr lengthOf(Attribute dim) const {
    if (auto extent = dyn_cast<IntegerAttr>(dim))
      return getAffineConstantExpr(extent.getInt(), dim.getContext());
    return getAffineSymbolExpr(symbol, dim.getContext());
  }
};

using List = SmallVector<Shares>;
using Kind = description::kinds::AdaptivePool;

/// Of the windows over x, along each dimension.
List sharesOf(AdaptivePoolOp op) {
  ArrayRef<Attribute> dims = tensor(op.getX()).getDims();
  size_t first = dims.size() - 1 - op.getSize().size();
  Builder builder(op.getContext());
  List list;
  int64_t elements = 1;
  unsigned symbols = 0;
  for (auto [d, m] : llvm::enumerate(op.getSize())) {
    Shares shares{first + d, dims[first + d], builder.getI64IntegerAttr(m), symbols, 0, 1, 2, 1};
    if (auto length = dyn_cast<IntegerAttr>(shares.from)) {
      int64_t n = length.getInt();
      shares.most = Kind::largest(n, m), shares.least = llvm::divideCeil(n, m);
      shares.mostTurned = Kind::largest(m, n), shares.leastTurned = llvm::divideCeil(m, n);
      elements *= shares.most;
    } else {
      ++symbols; // as many places as windows, or more
    }
    list.push_back(shares);
  }
  for (Shares &shares : list)
    if (isa<StringAttr>(shares.from))
      shares.most = Kind::most_of_symbol(elements, static_cast<int>(symbols));
  return list;
}

/// Those of the dimensions that are symbols.
SmallVector<Attribute> lengthsOf(const List &list) {
  SmallVector<Attribute> lengths;
  for (const Shares &shares : list)
    for (Attribute dim : {shares.from, shares.to})
      if (isa<StringAttr>(dim))
        lengths.push_back(dim);
  return lengths;
}

List turned(const List &list) {
  return llvm::map_to_vector(list, [](const Shares &shares) { return shares.turned(); });
}

int64_t countMost(const List &list) {
  int64_t count = 1;
  for (const Shares &shares : list)
    count *= shares.most;
  return count;
}

SmallVector<int64_t> takeApart(const List &list, int64_t number) {
  SmallVector<int64_t> numbers(list.size());
  for (size_t d = list.size(); d-- > 0; number /= list[d].most)
    numbers[d] = number % list[d].most;
  return numbers;
}

/// How an element of `domain` reads what its shares hold, one by one in row-major order.
SmallVector<AccessAttr> readAll(const List &list, TensorType domain, TensorType operand) {
  SmallVector<AccessAttr> reads;
  for (int64_t number = 0; number < countMost(list); ++number) {
    SmallVector<AffineExpr> at = axesOf(domain);
    for (auto [shares, place] : llvm::zip(list, takeApart(list, number)))
      at[shares.axis] = shares.begin() + place;
    reads.push_back(readAt(at, domain, operand, lengthsOf(list)));
  }
  return reads;
}

/// Whether what is read as `number` is one of the element's shares; null where it always is.
Value has(const List &list, Scalars &s, int64_t number) {
  Value all;
  for (auto [shares, place] : llvm::zip(list, takeApart(list, number)))
    if (Value one = shares.has(s, place))
      all = all ? s.both(all, one) : one;
  return all;
}

/// How many elements the window at hand has, as f32.
Value countElements(const List &list, Scalars &s) {
  Value count = s.integer(1);
  for (const Shares &shares : list)
    count = s.times(count, shares.count(s));
  return s.number(count);
}

Value sumUp(const List &list, Scalars &s, ValueRange summands) {
  Value sum = s.like(summands[0], 0);
  for (auto [number, summand] : llvm::enumerate(summands)) {
    Value inside = has(list, s, static_cast<int64_t>(number));
    Value added = s.add(sum, summand);
    sum = inside ? s.select(inside, added, sum) : added;
  }
  return sum;
}

/// Of the elements of a window the largest, and its number.
SmallVector<Value> findLargest(const List &list, Scalars &s, ValueRange elements) {
  Value largest = elements[0], index = s.like(elements[0], 0);
  for (size_t number = 1; number < elements.size(); ++number) { // the first is in every window
    Value element = elements[number];
    Value taken = s.either(s.greater(element, largest), s.isNan(element));
    if (Value inside = has(list, s, static_cast<int64_t>(number)))
      taken = s.both(inside, taken);
    largest = s.select(taken, element, largest);
    index = s.select(taken, s.like(index, static_cast<double>(number)), index);
  }
  return {largest, index};
}

} // namespace

LogicalResult AdaptivePoolOp::verify() {
  ArrayRef<int64_t> size = getSize();
  TensorType x = tensor(getX()), y = tensor(getResult());
  if (size.empty() || size.size() > 3 || llvm::any_of(size, [](int64_t m) { return m < 1; }))
    return emitOpError("wants sizes of 1 or more for one to three dimensions");
  if (!isMax() && getFunction() != "average")
    return emitOpError() << "has the function '" << getFunction() << "': write max or average";
  if (x.getRank() <= size.size())
    return emitOpError() << "x " << x << " does not have " << size.size()
                         << " dimensions before its channels";
  SmallVector<Attribute> dims(x.getDims());
  Builder builder(getContext());
  for (auto [dim, m] : llvm::zip(MutableArrayRef(dims).drop_back().take_back(size.size()), size)) {
    dim = builder.getI64IntegerAttr(m);
  }
  if (y.getDims() != ArrayRef(dims))
    return emitOpError() << "result " << y << " is not " << formatDims(dims);
  if (isMax() != static_cast<bool>(getIndex()) || (getIndex() && tensor(getIndex()) != y))
    return emitOpError("wants an index of its result's type for a maximum, and for nothing else");
  return success();
}

SmallVector<Type> AdaptivePoolOp::inferResults(TensorType node, ValueRange,
                                               DictionaryAttr settings) {
  bool isMax = settings.getAs<StringAttr>("function").getValue() == "max";
  return SmallVector<Type>(isMax ? 2 : 1, node);
}

SmallVector<AccessAttr> AdaptivePoolOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

LogicalResult AdaptivePoolOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), getSize().size(), before);
}

SmallVector<Value> AdaptivePoolOp::lower(OpBuilder &builder) { // D99
  TensorType y = tensor(getResult());
  List list = sharesOf(*this);
  Space space{y, readAll(list, y, tensor(getX())),
              accesses(getContext(), SmallVector<AccessKind>(getNumResults(), AccessKind::Full))};
  SmallVector<Value> elements(space.reads.size(), getX());
  auto map = makeMap(builder, getLoc(), "adaptive_pool", space, elements, getResultTypes(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       if (isMax())
                         return findLargest(list, s, e);
                       return {s.div(sumUp(list, s, e), countElements(list, s))};
                     });
  map->setAttr(kWindowsAttr, builder.getUnitAttr());
  return SmallVector<Value>(map.getOutputs());
}

SmallVector<Value> AdaptivePoolOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D100
  List list = sharesOf(*this), holders = turned(list);
  Value g = resultGradients[0];
  if (!isMax()) {
    auto each = accesses(getContext(), {AccessKind::Full});
    g = makeMap(builder, getLoc(), "adaptive_shares", {tensor(g), each, each}, g, gradientType(g),
                [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                  return {s.div(e[0], countElements(list, s))};
                })
            .getOutputs()[0];
  }
  TensorType x = gradientType(getX());
  Space space{x, readAll(holders, x, tensor(g)), accesses(getContext(), {AccessKind::Full})};
  size_t count = space.reads.size();
  SmallVector<Value> operands(count, g);
  if (isMax()) {
    operands.append(count, getIndex());
    space.reads.append(SmallVector<AccessAttr>(space.reads));
  }
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    SmallVector<Value> summands(e.take_front(count));
    for (size_t number = 0; isMax() && number < count; ++number) {
      Value place = s.integer(0); // in the window, by the numbers that index has
      for (auto [d, window] : llvm::enumerate(takeApart(holders, static_cast<int64_t>(number))))
        place = s.plus(s.times(place, s.integer(list[d].most)), holders[d].placeIn(s, window));
      summands[number] = s.select(s.equal(e[count + number], s.number(place)), summands[number],
                                  s.like(summands[number], 0));
    }
    return {sumUp(holders, s, summands)};
  };
  auto map = makeMap(builder, getLoc(), "adaptive_pool_grad", space, operands, x, code);
  map->setAttr(kWindowsAttr, builder.getUnitAttr());
  return {map.getOutputs()[0]};
}

SmallVector<Value> AdaptivePoolOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
