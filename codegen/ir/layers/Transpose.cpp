// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"
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

/// Neighbours stay neighbours where axes of other extents than 1 keep their order.
bool TransposeOp::isView() {
  ArrayRef<Attribute> dims = tensor(getX()).getDims();
  auto moves = [&](int64_t axis) {
    auto extent = dyn_cast<IntegerAttr>(dims[axis]);
    return !extent || extent.getInt() != 1;
  };
  return llvm::is_sorted(SmallVector<int64_t>(llvm::make_filter_range(getAxes(), moves)));
}

static AccessAttr readBy(AffineMap map) {
  return AccessAttr::get(map.getContext(), AccessKind::General, 0, AffineMapAttr::get(map), {}, {});
}

/// The result's indices, given those of x.
static AffineMap mapOf(TransposeOp op) {
  return AffineMap::getPermutationMap(op.getAxes(), op.getContext());
}

SmallVector<AccessAttr> TransposeOp::getOperandAccesses() {
  return isView() ? accesses(getContext(), {AccessKind::Full})
                  : SmallVector<AccessAttr>{readBy(inversePermutation(mapOf(*this)))};
}

static SmallVector<Value> handOn(Scalars &, ValueRange elements) { return {elements[0]}; }

SmallVector<Value> TransposeOp::lower(OpBuilder &builder) { // D37
  if (isView())
    return {ViewOp::create(builder, getLoc(), getType(), getX())};
  return lowerToMap(*this, builder, handOn, getType(), {AccessKind::Full});
}

SmallVector<Value> TransposeOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D56
  TensorType type = gradientType(getX());
  if (isView())
    return {ViewOp::create(builder, getLoc(), type, resultGradients[0])};
  Space space{type, {readBy(mapOf(*this))}, accesses(getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, getLoc(), "transpose", space, resultGradients[0], type, handOn);
  return {map.getOutputs()[0]};
}

SmallVector<Value> TransposeOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
