// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SliceOp::verify() {
  if (failed(verifyRows(*this, tensor(getX()), getType())))
    return failure();
  auto begin = static_cast<int64_t>(getBegin()), end = static_cast<int64_t>(getEnd());
  std::optional<int64_t> columns = tensor(getX()).getColumns();
  if (!columns || begin < 0 || begin >= end || end > *columns)
    return emitOpError() << "takes columns " << begin << " to " << end << " of " << tensor(getX())
                         << ": begin must be less than end, and end at most its columns";
  if (getType().getColumns() != end - begin)
    return emitOpError() << "takes " << end - begin << " columns, the result is " << getType();
  return success();
}

SmallVector<AccessAttr> SliceOp::getOperandAccesses() {
  return {AccessAttr::get(getContext(), AccessKind::Window, static_cast<int64_t>(getBegin()))};
}

SmallVector<Value> SliceOp::lower(OpBuilder &builder) { // D75
  return lowerToMap(*this, builder,
                    [](Scalars &, ValueRange a) -> SmallVector<Value> { return {a[0]}; }, getType(),
                    {AccessKind::Full});
}

SmallVector<Value> SliceOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D76
  return {makeWindow(builder, getLoc(), "pad", resultGradients[0],
                     -static_cast<int64_t>(getBegin()), gradientType(getX()))};
}

SmallVector<Value> SliceOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
