// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SiluOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> SiluOp::lower(OpBuilder &builder) { // D32
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    return {s.mul(elements[0], s.sigmoid(elements[0]))};
  });
}

SmallVector<Value> SiluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D51
  auto op = makeMap(builder, getLoc(), "silu_grad", {getX(), resultGradients[0]},
                    gradientType(getX()), [](Scalars &s, ValueRange a) -> SmallVector<Value> {
                      Value x = a[0], one = s.like(x, 1), r = s.sigmoid(x);
                      return {s.mul(a[1], s.mul(r, s.fma(x, s.sub(one, r), one)))};
                    });
  return {op.getOutputs()[0]};
}

} // namespace halftone::ir
