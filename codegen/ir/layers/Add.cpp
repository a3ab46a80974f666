// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult AddOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> AddOp::lower(OpBuilder &builder) { // D26
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    return {s.add(elements[0], elements[1])};
  });
}

SmallVector<Value> AddOp::buildGradients(OpBuilder &, ValueRange resultGradients) { // D45
  return {resultGradients[0], resultGradients[0]};
}

SmallVector<Value> AddOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
