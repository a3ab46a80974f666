// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

Skeleton MeanOp::getSkeleton() { return Skeleton::Flat; }

TensorType MeanOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> MeanOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<AccessAttr> MeanOp::getResultAccesses() { return {}; }

SmallVector<Value> MeanOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

bool MeanOp::hasFinish() { return true; }

SmallVector<Value> MeanOp::buildFinish(OpBuilder &builder, ValueRange sums, ValueRange) {
  Scalars s(builder, getLoc());
  return {s.div(sums[0], s.count(sums[0].getType(), tensor(getX()).getDims()))};
}

SmallVector<Value> MeanOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  auto dims = tensor(getX()).getDims();
  auto op = makeMap(builder, getLoc(), "mean_grad", resultGradients[0], gradientType(getX()),
                    [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                      return {s.div(a[0], s.count(a[0].getType(), dims))};
                    });
  return {op.getOutputs()[0]};
}

} // namespace halftone::ir
