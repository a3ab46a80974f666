// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

SmallVector<AccessAttr> MeanOp::getOperandAccesses() {
  SmallVector<AccessAttr> list = accesses(getContext(), {AccessKind::Full, AccessKind::Scalar});
  list.truncate(getNumOperands());
  return list;
}

/// Divides by the divisor, the second of `values`, or by the number of elements of `x`.
static Value divide(Scalars &s, ValueRange values, TensorType x) {
  return s.div(values[0],
               values.size() > 1 ? values[1] : s.count(values[0].getType(), x.getDims()));
}

SmallVector<Value> MeanOp::lower(OpBuilder &builder) {
  auto finish = [&](Scalars &s, ValueRange sums) -> SmallVector<Value> {
    return {getSummed() ? sums[0] : divide(s, sums, tensor(getX()))};
  };
  auto sum = makeReduce(builder, getLoc(), "mean", {}, getOperands(), getType(), nullptr, finish);
  return {sum.getOutputs()[0]};
}

SmallVector<Value> MeanOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  SmallVector<Value> operands{resultGradients[0]};
  if (getDivisor())
    operands.push_back(getDivisor());
  auto op = makeMap(builder, getLoc(), "mean_grad", operands, gradientType(getX()),
                    [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                      return {getSummed() ? a[0] : divide(s, a, tensor(getX()))};
                    });
  SmallVector<Value> gradients(getNumOperands());
  gradients[0] = op.getOutputs()[0];
  return gradients;
}

} // namespace halftone::ir
