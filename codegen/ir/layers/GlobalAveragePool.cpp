// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"
#include "codegen/ir/layers/Places.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult GlobalAveragePoolOp::verify() {
  TensorType x = tensor(getX());
  if (x.getRank() >= 2 && getType().getRank() == 2 &&
      getType().getDims().front() == x.getDims().front() &&
      getType().getDims().back() == x.getDims().back())
    return success();
  return emitOpError() << "result " << getType() << " is not the images and channels of " << x;
}

SmallVector<AccessAttr> GlobalAveragePoolOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General});
}

LogicalResult GlobalAveragePoolOp::continueFrom(const Continuation &before) {
  if (llvm::is_contained(tensor(getX()).getRowDims().drop_front(), before.time))
    return refuseToContinue(*this, "takes the mean over all times");
  return keepsTimesApart(*this, before);
}

/// Of one value for each image and channel its share in that of a place.
static Value divide(GlobalAveragePoolOp op, OpBuilder &builder, StringRef label, Value values,
                    Type result) {
  return makeMap(builder, op.getLoc(), label, values, result,
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   ArrayRef<Attribute> places = tensor(op.getX()).getRowDims().drop_front();
                   return {s.div(e[0], s.count(e[0].getType(), places))};
                 })
      .getOutputs()[0];
}

SmallVector<Value> GlobalAveragePoolOp::lower(OpBuilder &builder) { // D89
  Value sums = sumPlaces(builder, getLoc(), "place_sum", {}, getX(), gradientType(getResult()));
  return {divide(*this, builder, "global_average_pool", sums, getType())};
}

SmallVector<Value> GlobalAveragePoolOp::buildGradients(OpBuilder &builder,
                                                       ValueRange resultGradients) { // D90
  Value g = resultGradients[0];
  Value share = divide(*this, builder, "place_share", g, gradientType(getResult()));
  TensorType x = gradientType(getX());
  Space space{x, {readShared(x, tensor(share))}, accesses(getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, getLoc(), "global_average_pool_grad", space, share, x,
                     [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; });
  return {map.getOutputs()[0]};
}

SmallVector<Value> GlobalAveragePoolOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
