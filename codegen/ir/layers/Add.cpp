// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult AddOp::verify() { return verifyOneShape(*this); }

HALFTONE_POINTWISE_FORM(AddOp)

SmallVector<Value> AddOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D26
  return {Scalars(builder, getLoc()).add(elements[0], elements[1])};
}

SmallVector<Value> AddOp::buildGradients(OpBuilder &, ValueRange resultGradients) { // D45
  return {resultGradients[0], resultGradients[0]};
}

SmallVector<Value> AddOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
