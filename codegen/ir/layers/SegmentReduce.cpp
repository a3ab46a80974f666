// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Segments.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SegmentReduceOp::verify() {
  TensorType x = tensor(getX()), y = tensor(getResult());
  if (failed(verifySegments(*this, getSegment(), x, y)))
    return failure();
  if (getStaticProduct(y.getRowDims().take_back()) != static_cast<int64_t>(getSegments()))
    return emitOpError() << "result " << y << " does not have " << getSegments() << " segments";
  if (!isMean() && !isMax() && getFunction() != "sum")
    return emitOpError() << "has the function '" << getFunction() << "': write sum, mean or max";
  ArrayRef<Attribute> dims = isMax() ? y.getDims() : y.getRowDims();
  if ((isMean() || isMax()) != static_cast<bool>(getFound()) ||
      (getFound() && tensor(getFound()).getDims() != dims))
    return emitOpError("wants a count for every segment of a mean, a time for every element of a "
                       "max, and for nothing else");
  return success();
}

SmallVector<Type> SegmentReduceOp::inferResults(TensorType node, ValueRange,
                                                DictionaryAttr settings) {
  SmallVector<Type> results{node};
  StringRef function = settings.getAs<StringAttr>("function").getValue();
  if (function == "mean")
    results.push_back(node.withDims(node.getRowDims()));
  else if (function == "max")
    results.push_back(node);
  return results;
}

SmallVector<AccessAttr> SegmentReduceOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General, AccessKind::General});
}

static Value sum(SegmentReduceOp op, OpBuilder &builder, Value x, TensorType result) {
  return SegmentSumOp::create(builder, op.getLoc(), result, op.getSegment(), x, IntegerAttr());
}

/// How many times each segment has: the sum of as many ones.
static Value countTimes(SegmentReduceOp op, OpBuilder &builder) {
  auto withOneColumn = [&](TensorType type) {
    SmallVector<Attribute> dims(type.getRowDims());
    dims.push_back(builder.getI64IntegerAttr(1));
    return type.withDims(dims);
  };
  Value ones = makeMap(builder, op.getLoc(), "ones", {}, withOneColumn(gradientType(op.getX())),
                       [&](Scalars &s, ValueRange) -> SmallVector<Value> {
                         return {s.constant(builder.getF32Type(), 1)};
                       })
                   .getOutputs()[0];
  Value counts = sum(op, builder, ones, withOneColumn(gradientType(op.getResult())));
  return ViewOp::create(builder, op.getLoc(), tensor(op.getFound()), counts);
}

/// Of rows of segments what each of their times has a share of; of those without times +0.
static Value divide(SegmentReduceOp op, OpBuilder &builder, StringRef label, Value rows,
                    Value count) {
  TensorType type = gradientType(op.getResult());
  Space space{type, accesses(op.getContext(), {AccessKind::Full, AccessKind::Row}),
              accesses(op.getContext(), {AccessKind::Full})};
  auto code = [](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value none = s.like(e[0], 0);
    return {s.select(s.equal(e[1], none), none, s.div(e[0], e[1]))};
  };
  return makeMap(builder, op.getLoc(), label, space, {rows, count}, type, code).getOutputs()[0];
}

static Value largest(SegmentReduceOp op, OpBuilder &builder, Value x) {
  return SegmentMaxOp::create(builder, op.getLoc(), gradientType(op.getResult()), op.getSegment(),
                              x);
}

/// The axis of times, of x and of what is read by them.
static int64_t axisOfTimes(SegmentReduceOp op) { return tensor(op.getX()).getRank() - 2; }

/// Less than every time's number, of which maxima are taken without their sign.
static constexpr double kNoTime = -0x1p31;

/// For every element of `values` the first time that has it, as a number; +0 of segments without
/// times.
static Value findTimes(SegmentReduceOp op, OpBuilder &builder, Value values) {
  TensorType type = gradientType(op.getX());
  Value ofTimes =
      readSegments(builder, op.getLoc(), "segment_max_read", values, op.getSegment(), type);
  Space space{type, accesses(op.getContext(), {AccessKind::Full, AccessKind::Full}),
              accesses(op.getContext(), {AccessKind::Full})};
  auto before = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value has = s.either(s.equal(e[0], e[1]), s.isNan(e[0]));
    Value time = s.neg(s.number(s.axisIndex(axisOfTimes(op))));
    return {s.select(has, time, s.like(e[0], kNoTime))};
  };
  Value earlier =
      makeMap(builder, op.getLoc(), "segment_times", space, {op.getX(), ofTimes}, type, before)
          .getOutputs()[0];
  Value last = largest(op, builder, earlier);
  Space ofSegments{gradientType(op.getResult()), accesses(op.getContext(), {AccessKind::Full}),
                   accesses(op.getContext(), {AccessKind::Full})};
  return makeMap(builder, op.getLoc(), "segment_time", ofSegments, {last},
                 gradientType(op.getResult()),
                 [](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.neg(e[0])}; })
      .getOutputs()[0];
}

SmallVector<Value> SegmentReduceOp::lower(OpBuilder &builder) { // D93
  if (isMax()) {
    Value values = largest(*this, builder, getX());
    return {values, findTimes(*this, builder, values)};
  }
  Value sums = sum(*this, builder, getX(), gradientType(getResult()));
  if (!isMean())
    return {sums};
  Value count = countTimes(*this, builder);
  return {divide(*this, builder, "segment_mean", sums, count), count};
}

/// For every time what arrives at its segment where it is the one that was found.
static Value giveToTimes(SegmentReduceOp op, OpBuilder &builder, Value g) {
  TensorType type = gradientType(op.getX());
  auto read = [&](StringRef label, Value values) {
    return readSegments(builder, op.getLoc(), label, values, op.getSegment(), type);
  };
  Value arriving = read("segment_max_grad_read", g),
        times = read("segment_max_times", op.getFound());
  Space space{type, accesses(op.getContext(), {AccessKind::Full, AccessKind::Full}),
              accesses(op.getContext(), {AccessKind::Full})};
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value time = s.number(s.axisIndex(axisOfTimes(op)));
    return {s.select(s.equal(e[1], time), e[0], s.like(e[0], 0))};
  };
  return makeMap(builder, op.getLoc(), "segment_max_grad", space, {arriving, times}, type, code)
      .getOutputs()[0];
}

SmallVector<Value> SegmentReduceOp::buildGradients(OpBuilder &builder,
                                                   ValueRange resultGradients) { // D94
  Value g = resultGradients[0];
  if (isMax())
    return {giveToTimes(*this, builder, g), Value()};
  if (isMean())
    g = divide(*this, builder, "segment_shares", g, getFound());
  return {
      readSegments(builder, getLoc(), "segment_reduce_grad", g, getSegment(), gradientType(getX())),
      Value()};
}

SmallVector<Value> SegmentReduceOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
