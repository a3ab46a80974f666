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
  int64_t length, before, after;

  int64_t padded() const { return length + before + after; }
};

/// Those of dimensions whose length is a number; the others are as they are.
SmallVector<Ends> endsOf(PadOp op) {
  ArrayRef<int64_t> padding = op.getPadding();
  ArrayRef<Attribute> dims = tensor(op.getX()).getDims();
  size_t rank = op.countSpatial(), first = dims.size() - 1 - rank;
  SmallVector<Ends> ends;
  for (size_t d = 0; d < rank; ++d)
    if (auto length = dyn_cast<IntegerAttr>(dims[first + d]);
        length && (padding[d] != 0 || padding[rank + d] != 0))
      ends.push_back({first + d, length.getInt(), padding[d], padding[rank + d]});
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
    auto require = [&](arith::CmpIPredicate predicate, const Ends &ends, int64_t bound) {
      Value holds =
          s.compare(predicate, s.axisIndex(static_cast<int64_t>(ends.axis)), s.integer(bound));
      inside = inside ? s.both(inside, holds) : holds;
    };
    for (const Ends &ends : endsOf(op)) {
      if (ends.before > 0)
        require(arith::CmpIPredicate::sge, ends, ends.before);
      if (ends.after > 0)
        require(arith::CmpIPredicate::slt, ends, ends.before + ends.length);
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
      return mapReads(builder, loc, "pad", x, y, reads(y, x, {from % ends.length}),
                      [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; });
    bool reflects = mode == "reflect";
    AffineExpr last = getAffineConstantExpr(ends.length - 1, builder.getContext());
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value at = s.axisIndex(static_cast<int64_t>(ends.axis));
      Value isBefore = s.compare(arith::CmpIPredicate::slt, at, s.integer(ends.before));
      Value isInside =
          s.compare(arith::CmpIPredicate::slt, at, s.integer(ends.before + ends.length));
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
        if (reader.except)
          element = s.select(s.compare(arith::CmpIPredicate::eq, k, s.integer(*reader.except)),
                             s.like(element, 0), element);
        if (reader.only)
          element = s.select(s.compare(arith::CmpIPredicate::eq, k, s.integer(*reader.only)),
                             element, s.like(element, 0));
        sum = s.add(sum, element);
      }
      return {sum};
    };
    return mapReads(builder, loc, "pad_grad", g, x, reads(x, g, places), code);
  }

private:
  /// Where an element of the result that reads the one at hand lies, if it is one of the result;
  /// but for one element, or of one alone.
  struct Reader {
    AffineExpr at;
    std::optional<int64_t> except, only;
  };

  SmallVector<Reader> findReaders(MLIRContext *context) const {
    AffineExpr k = getAffineDimExpr(static_cast<unsigned>(ends.axis), context);
    int64_t n = ends.length, end = ends.before + n;
    SmallVector<Reader> readers;
    auto repeat = [&](int64_t first, int64_t last, int64_t element) {
      for (int64_t i = std::max<int64_t>(first, 0); i < std::min(last, ends.padded()); ++i)
        readers.push_back({getAffineConstantExpr(i, context), {}, element});
    };
    if (mode == "replicate")
      repeat(0, ends.before, 0);
    else if (ends.before > 0)
      readers.push_back(mode == "reflect" ? Reader{-k + ends.before, 0, {}}
                                          : Reader{k + (ends.before - n), {}, {}});
    readers.push_back({k + ends.before, {}, {}});
    if (mode == "replicate")
      repeat(end, ends.padded(), n - 1);
    else if (ends.after > 0)
      readers.push_back(mode == "reflect" ? Reader{-k + (end + n - 2), n - 1, {}}
                                          : Reader{k + end, {}, {}});
    return readers;
  }

  TensorType withLength(Value x, int64_t count) const {
    SmallVector<Attribute> dims(tensor(x).getDims());
    dims[ends.axis] = IntegerAttr::get(IntegerType::get(x.getContext(), 64), count);
    return gradientType(x).withDims(dims);
  }
  SmallVector<AccessAttr> reads(TensorType domain, Value operand,
                                ArrayRef<AffineExpr> places) const {
    return llvm::map_to_vector(places, [&](AffineExpr place) {
      SmallVector<AffineExpr> at = axesOf(domain);
      at[ends.axis] = place;
      return readAt(at, domain, tensor(operand));
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
  Builder builder(getContext());
  for (size_t d = 0; d < rank; ++d) {
    Attribute &dim = dims[dims.size() - 1 - rank + d];
    auto length = dyn_cast<IntegerAttr>(dim);
    if (padding[d] == 0 && padding[rank + d] == 0)
      continue;
    if (!length)
      return emitOpError() << "pads " << dim << ", which is no number";
    int64_t n = length.getInt(), most = std::max(padding[d], padding[rank + d]);
    if ((getMode() == "reflect" && most >= n) || (getMode() == "circular" && most > n))
      return emitOpError() << "has a padding of " << most << " at a dimension of " << n
                           << ", which has not so many elements";
    dim = builder.getI64IntegerAttr(n + padding[d] + padding[rank + d]);
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
