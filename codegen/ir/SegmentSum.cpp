// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SegmentSumOp::verify() {
  TensorType index = tensor(getIndex()), x = tensor(getX()), result = getType();
  if (!codeTypeOf(getIndex()).isInteger(32) || index.getDims() != x.getRowDims())
    return emitOpError() << "index " << index << " does not have one i32 per row of " << x;
  ArrayRef<Attribute> dims = result.getDims();
  if (dims.size() < 2 || !getStaticProduct(dims.take_back(2)) ||
      result.getColumns() != x.getColumns())
    return emitOpError() << "result " << result << " does not have rows, in a number, of the "
                         << "columns of " << x;
  size_t batch = dims.size() - 2;
  if (batch > 0 &&
      (x.getRank() < dims.size() || x.getDims().take_front(batch) != dims.take_front(batch)))
    return emitOpError() << "result " << result << " does not have segments for each element of "
                         << "the batch that " << x << " begins with";
  return success();
}

Skeleton SegmentSumOp::getSkeleton() { return Skeleton::Segment; }

TensorType SegmentSumOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> SegmentSumOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Row, AccessKind::Full});
}

SmallVector<AccessAttr> SegmentSumOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Segment});
}

SmallVector<Value> SegmentSumOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  Scalars s(builder, getLoc());
  Value row = elements[0];
  if (std::optional<int64_t> none = getPassedOver())
    row = s.select(s.compare(arith::CmpIPredicate::eq, row, s.integer(*none)), s.integer(-1), row);
  return {elements[1], row};
}

} // namespace halftone::ir
