// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ReluOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> ReluOp::lower(OpBuilder &builder) { // D23
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = elements[0];
    return {s.select(s.greater(x, s.like(x, 0)), x, s.select(s.isNan(x), x, s.like(x, 0)))};
  });
}

SmallVector<Value> ReluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  // D42 reads the result, so x need not be kept. A NaN passes the gradient on.
  auto op = makeMap(builder, getLoc(), "relu_grad", {getResult(), resultGradients[0]},
                    gradientType(getX()), [](Scalars &s, ValueRange a) -> SmallVector<Value> {
                      Value zero = s.like(a[0], 0);
                      return {s.select(s.lessOrEqual(a[0], zero), zero, a[1])};
                    });
  return {op.getOutputs()[0]};
}

SmallVector<Value> ReluOp::readForGradient(unsigned) { return {getResult()}; }

} // namespace halftone::ir
