// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult MseOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> MseOp::lower(OpBuilder &builder) { // D30
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value difference = s.sub(elements[0], elements[1]);
    return {s.mul(difference, difference)};
  });
}

SmallVector<Value> MseOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D50
  auto op = makeMap(builder, getLoc(), "mse_grad", {getX(), getTarget(), resultGradients[0]},
                    {gradientType(getX()), gradientType(getTarget())},
                    [](Scalars &s, ValueRange e) -> SmallVector<Value> {
                      Value once = s.mul(e[2], s.sub(e[0], e[1])), twice = s.add(once, once);
                      return {twice, s.neg(twice)};
                    });
  return SmallVector<Value>(op.getOutputs());
}

SmallVector<Type> MseOp::inferResults(TensorType, ValueRange operands) {
  return {gradientType(operands[0])};
}

} // namespace halftone::ir
