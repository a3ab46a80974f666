// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SiluOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> SiluOp::lower(OpBuilder &builder) { // D32
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    return {s.recipe(Function::Silu, elements[0], getNarrow())};
  });
}

SmallVector<Value> SiluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D51
  return {makeDerivative(builder, getLoc(), "silu_grad", Function::SiluDerivative, getX(),
                         resultGradients[0])};
}

void SiluOp::takeNarrowRecipes() { setNarrow(true); }

} // namespace halftone::ir
