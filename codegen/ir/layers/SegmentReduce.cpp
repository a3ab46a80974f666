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
  if (!isMean() && getFunction() != "sum")
    return emitOpError() << "has the function '" << getFunction() << "': write sum or mean";
  if (isMean() != static_cast<bool>(getCount()) ||
      (getCount() && tensor(getCount()).getDims() != y.getRowDims()))
    return emitOpError("wants a count for every segment of a mean, and for nothing else");
  return success();
}

SmallVector<Type> SegmentReduceOp::inferResults(TensorType node, ValueRange,
                                                DictionaryAttr settings) {
  SmallVector<Type> results{node};
  if (settings.getAs<StringAttr>("function").getValue() == "mean")
    results.push_back(node.withDims(node.getRowDims()));
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
  return ViewOp::create(builder, op.getLoc(), tensor(op.getCount()), counts);
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

SmallVector<Value> SegmentReduceOp::lower(OpBuilder &builder) { // D93
  Value sums = sum(*this, builder, getX(), gradientType(getResult()));
  if (!isMean())
    return {sums};
  Value count = countTimes(*this, builder);
  return {divide(*this, builder, "segment_mean", sums, count), count};
}

SmallVector<Value> SegmentReduceOp::buildGradients(OpBuilder &builder,
                                                   ValueRange resultGradients) { // D94
  Value g = resultGradients[0];
  if (isMean())
    g = divide(*this, builder, "segment_shares", g, getCount());
  return {
      readSegments(builder, getLoc(), "segment_reduce_grad", g, getSegment(), gradientType(getX())),
      Value()};
}

SmallVector<Value> SegmentReduceOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
