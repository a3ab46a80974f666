// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult GeluOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> GeluOp::lower(OpBuilder &builder) {
  Function function = isByTanh() ? Function::GeluTanh : Function::GeluErf; // D24, D25
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    return {s.recipe(function, elements[0], getNarrow())};
  });
}

SmallVector<Value> GeluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  Function derivative = isByTanh() ? Function::GeluTanhDerivative : Function::GeluErfDerivative;
  return {makeDerivative(builder, getLoc(), isByTanh() ? "gelu_tanh_grad" : "gelu_grad", derivative,
                         getX(), resultGradients[0])}; // D43, D44
}

void GeluOp::takeNarrowRecipes() { setNarrow(true); }

} // namespace halftone::ir
