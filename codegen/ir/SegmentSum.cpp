// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

/// Whether a number for every row of x says which row of the result it belongs to; says on `op` if
/// not.
static LogicalResult verifyNumbers(Operation *op, Value numbers, TensorType x, TensorType result) {
  TensorType index = tensor(numbers);
  if (!codeTypeOf(numbers).isInteger(32) || index.getDims() != x.getRowDims())
    return op->emitOpError() << "index " << index << " does not have one i32 per row of " << x;
  ArrayRef<Attribute> dims = result.getDims();
  if (dims.size() < 2 || !getStaticProduct(dims.take_back(2)) ||
      result.getColumns() != x.getColumns())
    return op->emitOpError() << "result " << result << " does not have rows, in a number, of the "
                             << "columns of " << x;
  size_t batch = dims.size() - 2;
  if (batch > 0 &&
      (x.getRank() < dims.size() || x.getDims().take_front(batch) != dims.take_front(batch)))
    return op->emitOpError() << "result " << result
                             << " does not have segments for each element of "
                             << "the batch that " << x << " begins with";
  return success();
}

LogicalResult SegmentSumOp::verify() {
  return verifyNumbers(*this, getIndex(), tensor(getX()), getType());
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

LogicalResult SegmentMaxOp::verify() {
  return verifyNumbers(*this, getIndex(), tensor(getX()), getType());
}

Skeleton SegmentMaxOp::getSkeleton() { return Skeleton::SegmentMax; }

TensorType SegmentMaxOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> SegmentMaxOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Row, AccessKind::Full});
}

SmallVector<AccessAttr> SegmentMaxOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Segment});
}

SmallVector<Value> SegmentMaxOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[1], elements[0]};
}

} // namespace halftone::ir
