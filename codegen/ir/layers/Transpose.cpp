// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult TransposeOp::verify() {
  ArrayRef<Attribute> from = tensor(getX()).getDims(), to = getType().getDims();
  SmallVector<int64_t> sorted(getAxes());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, static_cast<int64_t>(from.size()))))
    return emitOpError() << "axes are no permutation of the dimensions of " << tensor(getX());
  if (!llvm::equal(to, llvm::map_range(getAxes(), [&](int64_t axis) { return from[axis]; })))
    return emitOpError() << tensor(getX()) << " transposed by its axes is not " << getType();
  return success();
}

bool TransposeOp::isView() { return keepsOrder(tensor(getX()).getDims(), getAxes()); }

SmallVector<AccessAttr> TransposeOp::getOperandAccesses() {
  if (isView())
    return accesses(getContext(), {AccessKind::Full});
  auto map = inversePermutation(AffineMap::getPermutationMap(getAxes(), getContext()));
  return {AccessAttr::get(getContext(), AccessKind::General, 0, AffineMapAttr::get(map), {}, {})};
}

SmallVector<Value> TransposeOp::lower(OpBuilder &builder) { // D37
  return {makeTranspose(builder, getLoc(), getX(), getAxes())};
}

SmallVector<Value> TransposeOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D56
  return {makeTranspose(builder, getLoc(), resultGradients[0], invertPermutationVector(getAxes()))};
}

SmallVector<Value> TransposeOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
