// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

/// D4: a number.
static int64_t columnsOf(Value part) { return *tensor(part).getColumns(); }

LogicalResult ConcatOp::verify() {
  int64_t columns = 0;
  for (Value part : getParts()) {
    if (failed(verifyRows(*this, tensor(part), getType())))
      return failure();
    if (!tensor(part).getColumns())
      return emitOpError() << "joins " << tensor(part) << ", whose columns are no number";
    columns += columnsOf(part);
  }
  if (getType().getColumns() != columns)
    return emitOpError() << "parts have " << columns << " columns together, the result "
                         << getType();
  return success();
}

SmallVector<AccessAttr> ConcatOp::getOperandAccesses() {
  SmallVector<AccessAttr> windows;
  int64_t offset = 0;
  for (Value part : getParts()) {
    windows.push_back(AccessAttr::get(getContext(), AccessKind::Window, -offset));
    offset += columnsOf(part);
  }
  return windows;
}

SmallVector<Value> ConcatOp::lower(OpBuilder &builder) { // D27
  auto code = [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value column = s.columnIndex(), result = elements.back();
    int64_t end = *getType().getColumns();
    for (size_t part = elements.size() - 1; part > 0; --part) {
      end -= columnsOf(getParts()[part]);
      result = s.select(s.compare(arith::CmpIPredicate::slt, column, s.integer(end)),
                        elements[part - 1], result);
    }
    return {result};
  };
  return lowerToMap(*this, builder, code, getType(), {AccessKind::Full});
}

SmallVector<Value> ConcatOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D46
  SmallVector<Value> gradients;
  int64_t offset = 0;
  for (Value part : getParts()) {
    gradients.push_back(
        makeWindow(builder, getLoc(), "slice", resultGradients[0], offset, gradientType(part)));
    offset += columnsOf(part);
  }
  return gradients;
}

SmallVector<Value> ConcatOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
