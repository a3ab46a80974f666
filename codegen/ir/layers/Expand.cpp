// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"
#include "codegen/ir/layers/Places.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ExpandOp::verify() {
  TensorType x = tensor(getX());
  size_t rows = x.getRank() - 1;
  if (x.getRank() > 0 && getType().getRank() > rows &&
      getType().getDims().take_front(rows) == x.getRowDims() &&
      getType().getDims().back() == x.getDims().back())
    return success();
  return emitOpError() << "result " << getType()
                       << " does not begin and end with the dimensions of " << x;
}

SmallVector<AccessAttr> ExpandOp::getOperandAccesses() {
  return {readShared(getType(), tensor(getX()))};
}

LogicalResult ExpandOp::continueFrom(const Continuation &before) {
  if (llvm::is_contained(getType().getDims().drop_front(tensor(getX()).getRank() - 1).drop_back(),
                         before.time))
    return refuseToContinue(*this, "repeats a row over all times");
  return keepsTimesApart(*this, before);
}

SmallVector<Value> ExpandOp::lower(OpBuilder &builder) { // D81
  return lowerToMap(*this, builder,
                    [](Scalars &, ValueRange a) -> SmallVector<Value> { return {a[0]}; }, getType(),
                    {AccessKind::Full});
}

SmallVector<Value> ExpandOp::buildGradients(OpBuilder &builder,
                                            ValueRange resultGradients) { // D82
  return {sumPlaces(builder, getLoc(), "expand_sum", {}, resultGradients[0], gradientType(getX()))};
}

SmallVector<Value> ExpandOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
