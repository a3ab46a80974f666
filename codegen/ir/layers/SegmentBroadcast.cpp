// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Segments.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SegmentBroadcastOp::verify() {
  return verifySegments(*this, getSegment(), getType(), tensor(getX()));
}

SmallVector<AccessAttr> SegmentBroadcastOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General, AccessKind::Row});
}

SmallVector<Value> SegmentBroadcastOp::lower(OpBuilder &builder) { // D95
  return {readSegments(builder, getLoc(), "segment_broadcast", getX(), getSegment(), getType())};
}

SmallVector<Value> SegmentBroadcastOp::buildGradients(OpBuilder &builder,
                                                      ValueRange resultGradients) { // D96
  auto ofX = SegmentSumOp::create(builder, getLoc(), gradientType(getX()), getSegment(),
                                  resultGradients[0], IntegerAttr());
  return {ofX, Value()};
}

SmallVector<Value> SegmentBroadcastOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
