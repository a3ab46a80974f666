// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/layers/Windows.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

namespace {

/// A spatial dimension that is padded: its axis, its length in x and the elements at its ends.
struct Ends {
  size_t axis;
  Attribute length;
  int64_t before, after;

  Attribute padded() const { return lengthenDim(length, before + after); }

  /// How long it is, in a map's places and in scalar code, and `more`.
  AffineExpr count() const {
    if (auto number = dyn_cast<IntegerAttr>(length))
      return getAffineConstantExpr(number.getInt(), length.getContext());
    return getAffineSymbolExpr(0, length.getContext());
  }
  Value countWith(Scalars &s, int64_t more) const { return s.length(lengthenDim(length, more)); }
};

SmallVector<Ends> endsOf(PadOp op) {
  ArrayRef<int64_t> padding = op.getPadding();
  ArrayRef<Attribute> dims = tensor(op.getX()).getDims();
  size_t rank = op.countSpatial(), first = dims.size() - 1 - rank;
  SmallVector<Ends> ends;
  for (size_t d = 0; d < rank; ++d)
    if (padding[d] != 0 || padding[rank + d] != 0)
      ends.push_back({first + d, dims[first + d], padding[d], padding[rank + d]});
  return ends;
}

/// A map of `code` over what `reads` find in x, for every element of `result`.
Value mapReads(OpBuilder &builder, Location loc, StringRef label, Value x, TensorType result,
               SmallVector<AccessAttr> reads, ScalarCode code) {
  SmallVector<Value> operands(reads.size(), x);
  Space space{result, std::move(reads), accesses(builder.getContext(), {AccessKind::Full})};
  return makeMap(builder, loc, label, space, operands, result, code).getOutputs()[0];
}

/// What repeats nothing: along all dimensions at once, `by` times the elements before them on.
Value shift(PadOp op, OpBuilder &builder, StringRef label, Value x, TensorType result, int64_t by,
            ScalarCode code) {
  SmallVector<AffineExpr> at = axesOf(result);
  for (const Ends &ends : endsOf(op))
    at[ends.axis] = at[ends.axis] + by * ends.before;
  return mapReads(builder, op.getLoc(), label, x, result, {readAt(at, result, tensor(x))}, code);
}

/// The elements of x, beside them `value`.
Value padWith(PadOp op, OpBuilder &builder, std::optional<double> value) {
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value inside;
    auto require = [&](arith::CmpIPredicate predicate, const Ends &ends, Value bound) {
      Value holds = s.compare(predicate, s.axisIndex(static_cast<int64_t>(ends.axis)), bound);
      inside = inside ? s.both(inside, holds) : holds;
    };
    for (const Ends &ends : endsOf(op)) {
      if (ends.before > 0)
        require(arith::CmpIPredicate::sge, ends, s.integer(ends.before));
      if (ends.after > 0)
        require(arith::CmpIPredicate::slt, ends, ends.countWith(s, ends.before));
    }
    // What is read outside of x is +0.
    return {value && inside ? s.select(inside, e[0], s.like(e[0], *value)) : e[0]};
  };
  return shift(op, builder, "pad", op.getX(), op.getType(), -1, code);
}

/// One dimension in a mode that repeats elements of x.
class Repeated {
public:
  Repeated(StringRef mode, const Ends &ends) : mode(mode), ends(ends) {}

  Value lengthen(OpBuilder &builder, Location loc, Value x) const {
    TensorType y = withLength(x, ends.padded());
    AffineExpr i = getAffineDimExpr(static_cast<unsigned>(ends.axis), builder.getContext());
    AffineExpr from = i - ends.before;
    if (mode == "circular")
      return mapReads(builder, loc, "pad", x, y, reads(y, x, {from % ends.count()}),
                      [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; });
    bool reflects = mode == "reflect";
    AffineExpr last = ends.count() - 1;
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value at = s.axisIndex(static_cast<int64_t>(ends.axis));
      Value isBefore = s.compare(arith::CmpIPredicate::slt, at, s.integer(ends.before));
      Value isInside = s.compare(arith::CmpIPredicate::slt, at, ends.countWith(s, ends.before));
      return {s.select(isBefore, e[0], s.select(isInside, e[1], e[2]))};
    };
    return mapReads(builder, loc, "pad", x, y,
                    reads(y, x,
                          {reflects ? -from : getAffineConstantExpr(0, builder.getContext()), from,
                           reflects ? last * 2 - from : last}),
                    code);
  }

  /// Of its gradient: the chain over what reads the element at hand, ascending.
  Value shorten(OpBuilder &builder, Location loc, Value g) const {
    TensorType x = withLength(g, ends.length);
    SmallVector<Reader> readers = findReaders(builder.getContext());
    auto places = llvm::map_to_vector(readers, [](const Reader &reader) { return reader.at; });
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value k = s.axisIndex(static_cast<int64_t>(ends.axis)), sum = s.like(e[0], 0);
      for (auto [reader, element] : llvm::zip(readers, e)) {
        Value isEnd;
        if (reader.end != End::None)
          isEnd = s.compare(arith::CmpIPredicate::eq, k,
                            reader.end == End::First ? s.integer(0) : ends.countWith(s, -1));
        if (isEnd && reader.isOfEnd)
          element = s.select(isEnd, element, s.like(element, 0));
        else if (isEnd)
          element = s.select(isEnd, s.like(element, 0), element);
        sum = s.add(sum, element);
      }
      return {sum};
    };
    return mapReads(builder, loc, "pad_grad", g, x, reads(x, g, places), code);
  }

private:
  enum class End { None, First, Last };
  /// Where an element of the result that reads the one at hand lies, if it is one of the result;
  /// but for the element at an end, or of that alone.
  struct Reader {
    AffineExpr at;
    End end = End::None;
    bool isOfEnd = false;
  };

  SmallVector<Reader> findReaders(MLIRContext *context) const {
    AffineExpr k = getAffineDimExpr(static_cast<unsigned>(ends.axis), context);
    AffineExpr n = ends.count(), end = n + ends.before;
    SmallVector<Reader> readers;
    auto repeat = [&](AffineExpr first, int64_t count, End element) {
      for (int64_t i = 0; i < count; ++i)
        readers.push_back({first + i, element, true});
    };
    if (mode == "replicate")
      repeat(getAffineConstantExpr(0, context), ends.before, End::First);
    else if (ends.before > 0)
      readers.push_back(mode == "reflect" ? Reader{-k + ends.before, End::First}
                                          : Reader{k + ends.before - n});
    readers.push_back({k + ends.before});
    if (mode == "replicate")
      repeat(end, ends.after, End::Last);
    else if (ends.after > 0)
      readers.push_back(mode == "reflect" ? Reader{end + n - 2 - k, End::Last} : Reader{end + k});
    return readers;
  }

  TensorType withLength(Value x, Attribute count) const {
    SmallVector<Attribute> dims(tensor(x).getDims());
    dims[ends.axis] = count;
    return gradientType(x).withDims(dims);
  }
  SmallVector<AccessAttr> reads(TensorType domain, Value operand,
                                ArrayRef<AffineExpr> places) const {
    return llvm::map_to_vector(places, [&](AffineExpr place) {
      SmallVector<AffineExpr> at = axesOf(domain);
      at[ends.axis] = place;
      return readAt(at, domain, tensor(operand), ends.length);
    });
  }

  StringRef mode;
  Ends ends;
};

} // namespace

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> padding = getPadding();
  TensorType x = tensor(getX());
  size_t rank = countSpatial();
  if (padding.size() % 2 != 0 || rank < 1 || rank > 3)
    return emitOpError("wants the padding before and then that behind one to three dimensions");
  if (!llvm::is_contained({"constant", "reflect", "replicate", "circular"}, getMode()))
    return emitOpError() << "has the mode '" << getMode()
                         << "': write constant, reflect, replicate or circular";
  if (getPadValue() && !isConstant())
    return emitOpError("has a pad_value, but repeats elements of x");
  if (x.getRank() <= rank)
    return emitOpError() << "x " << x << " does not have " << rank
                         << " dimensions before its channels";
  SmallVector<Attribute> dims(x.getDims());
  for (size_t d = 0; d < rank; ++d) {
    Attribute &dim = dims[dims.size() - 1 - rank + d];
    auto length = dyn_cast<IntegerAttr>(dim);
    int64_t n = length ? length.getInt() : INT64_MAX,
            most = std::max(padding[d], padding[rank + d]);
    if ((getMode() == "reflect" && most >= n) || (getMode() == "circular" && most > n))
      return emitOpError() << "has a padding of " << most << " at a dimension of " << n
                           << ", which has not so many elements";
    dim = lengthenDim(dim, padding[d] + padding[rank + d]);
  }
  if (getType().getDims() != ArrayRef(dims))
    return emitOpError() << "result " << getType() << " is not " << formatDims(dims);
  return success();
}

SmallVector<AccessAttr> PadOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

LogicalResult PadOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), countSpatial(), before);
}

SmallVector<Value> PadOp::lower(OpBuilder &builder) { // D91
  SmallVector<Ends> ends = endsOf(*this);
  if (isConstant() || ends.empty()) {
    std::optional<double> value;
    if (getPadValue())
      value = getPadValue()->convertToDouble();
    return {padWith(*this, builder, value)};
  }
  Value result = getX();
  for (const Ends &one : llvm::reverse(ends))
    result = Repeated(getMode(), one).lengthen(builder, getLoc(), result);
  return {result};
}

SmallVector<Value> PadOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D92
  Value g = resultGradients[0];
  SmallVector<Ends> ends = endsOf(*this);
  if (isConstant() || ends.empty())
    return {shift(*this, builder, "pad_grad", g, gradientType(getX()), 1,
                  [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; })};
  for (const Ends &one : ends)
    g = Repeated(getMode(), one).shorten(builder, getLoc(), g);
  return {g};
}

SmallVector<Value> PadOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
