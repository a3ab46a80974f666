// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

SmallVector<AccessAttr> MeanOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> MeanOp::lower(OpBuilder &builder) {
  auto finish = [&](Scalars &s, ValueRange sums) -> SmallVector<Value> {
    return {s.div(sums[0], s.count(sums[0].getType(), tensor(getX()).getDims()))};
  };
  auto sum = makeReduce(builder, getLoc(), "mean", {}, getX(), getType(), nullptr, finish);
  return {sum.getOutputs()[0]};
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
