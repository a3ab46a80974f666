// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult UpsampleOp::verify() {
  ArrayRef<int64_t> factors = getFactor();
  TensorType x = tensor(getX());
  if (factors.empty() || factors.size() > 3 ||
      llvm::any_of(factors, [](int64_t factor) { return factor < 1; }))
    return emitOpError("wants factors of 1 or more for one to three dimensions");
  if (!isLinear() && getMode() != "nearest")
    return emitOpError() << "has the mode '" << getMode() << "': write nearest or linear";
  SmallVector<Attribute> dims(x.getDims());
  if (dims.size() <= factors.size())
    return emitOpError() << "x " << x << " does not have " << factors.size()
                         << " dimensions before its channels";
  for (auto [dim, factor] :
       llvm::zip(MutableArrayRef(dims).drop_back().take_back(factors.size()), factors))
    dim = repeatDim(dim, factor);
  if (getType().getDims() != ArrayRef(dims))
    return emitOpError() << "result " << getType() << " is not " << formatDims(dims);
  return success();
}

SmallVector<AccessAttr> UpsampleOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

namespace {

Value repeat(UpsampleOp op, OpBuilder &builder) {
  TensorType y = op.getType(), x = tensor(op.getX());
  SmallVector<AffineExpr> at = axesOf(y);
  size_t first = at.size() - 1 - op.getFactor().size();
  for (auto [d, factor] : llvm::enumerate(op.getFactor()))
    at[first + d] = at[first + d].floorDiv(factor);
  Space space{y, {readAt(at, y, x)}, accesses(op.getContext(), {AccessKind::Full})};
  return makeMap(builder, op.getLoc(), "upsample", space, op.getX(), y,
                 [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; })
      .getOutputs()[0];
}

/// The sum of what all repetitions give, in row-major order.
Value sumRepetitions(UpsampleOp op, OpBuilder &builder, Value g) {
  TensorType x = gradientType(op.getX());
  ArrayRef<int64_t> factors = op.getFactor();
  size_t first = x.getRank() - 1 - factors.size();
  int64_t count = 1;
  for (int64_t factor : factors)
    count *= factor;
  Space space{x, {}, accesses(op.getContext(), {AccessKind::Full})};
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<AffineExpr> at = axesOf(x);
    int64_t rest = number;
    for (size_t d = factors.size(); d-- > 0; rest /= factors[d])
      at[first + d] = at[first + d] * factors[d] + rest % factors[d];
    space.reads.push_back(readAt(at, x, tensor(g)));
  }
  SmallVector<Value> operands(space.reads.size(), g);
  return makeMap(builder, op.getLoc(), "upsample_grad", space, operands, x,
                 [](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   Value sum = s.like(e[0], 0);
                   for (Value element : e)
                     sum = s.add(sum, element);
                   return {sum};
                 })
      .getOutputs()[0];
}

/// One dimension whose elements become `factor` on lines between them.
class Lines {
public:
  Lines(size_t axis, Attribute length, int64_t factor)
      : axis(axis), length(length), factor(factor) {}

  Value stretch(OpBuilder &builder, Location loc, Value x) const {
    Attribute stretched = repeatDim(length, factor);
    TensorType y = withLength(x, stretched);
    Space space{y, {}, accesses(builder.getContext(), {AccessKind::Full})};
    for (int64_t d : {-1, 0, 1}) {
      SmallVector<AffineExpr> at = axesOf(y);
      at[axis] = at[axis].floorDiv(factor) + d;
      space.reads.push_back(readAt(at, y, tensor(x)));
    }
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value i = s.axisIndex(static_cast<int64_t>(axis)), here = e[1];
      Value before = s.select(isLess(s, i, s.integer(factor)), here, e[0]);
      Value behind = s.select(isLess(s, i, countBut(s, stretched, factor)), e[2], here);
      Value rest = s.remainder(i, factor), result;
      for (int64_t r = factor; r-- > 0;) {
        Value low = isBehind(r) ? here : before, high = isBehind(r) ? behind : here;
        Value element = isCopy(r) ? here
                                  : s.fma(s.like(here, weight(r)), high,
                                          s.mul(s.like(here, 1 - weight(r)), low));
        result = result ? s.select(s.compare(arith::CmpIPredicate::eq, rest, s.integer(r)), element,
                                   result)
                        : element;
      }
      return {result};
    };
    return makeMap(builder, loc, "upsample", space, {x, x, x}, y, code).getOutputs()[0];
  }

  /// Of its gradient: the chain over what reads the element at hand.
  Value shrink(OpBuilder &builder, Location loc, Value g) const {
    TensorType x = withLength(g, length);
    Space space{x, {}, accesses(builder.getContext(), {AccessKind::Full})};
    for (int64_t j = firstReader(); j <= lastReader(); ++j) {
      SmallVector<AffineExpr> at = axesOf(x);
      at[axis] = at[axis] * factor + j;
      space.reads.push_back(readAt(at, x, tensor(g)));
    }
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value t = s.axisIndex(static_cast<int64_t>(axis));
      Value isFirst = isLess(s, t, s.integer(1)), isInner = isLess(s, t, countBut(s, length, 1));
      Value sum = s.like(e[0], 0);
      auto weigh = [&](double by, Value element) {
        return s.fma(s.like(element, by), element, sum);
      };
      for (auto [number, element] : llvm::enumerate(e)) {
        int64_t j = firstReader() + static_cast<int64_t>(number), r = (j + factor) % factor;
        if (j < 0) { // of those before it, for which it lies behind
          sum = weigh(weight(r), element);
        } else if (j >= factor) {
          sum = s.select(isInner, weigh(1 - weight(r), element), sum);
        } else if (isCopy(r)) {
          sum = weigh(1, element);
        } else if (isBehind(r)) {
          sum = weigh(1 - weight(r), element);
          sum = s.select(isInner, sum, weigh(weight(r), element));
        } else {
          sum = s.select(isFirst, weigh(1 - weight(r), element), sum);
          sum = weigh(weight(r), element);
        }
      }
      return {sum};
    };
    SmallVector<Value> operands(space.reads.size(), g);
    return makeMap(builder, loc, "upsample_grad", space, operands, x, code).getOutputs()[0];
  }

private:
  TensorType withLength(Value x, Attribute count) const {
    SmallVector<Attribute> dims(tensor(x).getDims());
    dims[axis] = count;
    return gradientType(x).withDims(dims);
  }
  static Value isLess(Scalars &s, Value i, Value bound) {
    return s.compare(arith::CmpIPredicate::slt, i, bound);
  }
  /// How many elements a dimension has but its last `number`.
  static Value countBut(Scalars &s, Attribute dim, int64_t number) {
    if (auto extent = dyn_cast<IntegerAttr>(dim))
      return s.integer(extent.getInt() - number);
    return s.minus(s.count(IntegerType::get(dim.getContext(), 32), dim), s.integer(number));
  }

  /// Element r of those that one becomes: how far it lies behind the middle, in halves.
  int64_t offset(int64_t r) const { return 2 * r + 1 - factor; }
  bool isCopy(int64_t r) const { return offset(r) == 0; }
  bool isBehind(int64_t r) const { return offset(r) > 0; }
  /// Of the element behind it.
  double weight(int64_t r) const {
    double part = static_cast<double>(offset(r)) / static_cast<double>(2 * factor);
    return isBehind(r) ? part : 1 + part;
  }
  /// From the first of an element those that read it, some of its neighbours' among them.
  int64_t firstReader() const { return -(factor / 2); }
  int64_t lastReader() const { return factor + factor / 2 - 1; }

  size_t axis;
  Attribute length;
  int64_t factor;
};

/// Along all dimensions that grow, the first one first.
SmallVector<Lines> linesOf(UpsampleOp op) {
  TensorType x = tensor(op.getX());
  size_t first = x.getRank() - 1 - op.getFactor().size();
  SmallVector<Lines> lines;
  for (auto [d, factor] : llvm::enumerate(op.getFactor()))
    if (factor > 1)
      lines.emplace_back(first + d, x.getDims()[first + d], factor);
  return lines;
}

} // namespace

SmallVector<Value> UpsampleOp::lower(OpBuilder &builder) { // D87
  SmallVector<Lines> lines = linesOf(*this);
  if (!isLinear() || lines.empty())
    return {repeat(*this, builder)};
  Value result = getX();
  for (const Lines &line : llvm::reverse(lines))
    result = line.stretch(builder, getLoc(), result);
  return {result};
}

SmallVector<Value> UpsampleOp::buildGradients(OpBuilder &builder,
                                              ValueRange resultGradients) { // D88
  Value g = resultGradients[0];
  if (!isLinear())
    return {sumRepetitions(*this, builder, g)};
  for (const Lines &line : linesOf(*this))
    g = line.shrink(builder, getLoc(), g);
  return {g};
}

SmallVector<Value> UpsampleOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
