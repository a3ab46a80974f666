// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ReshapeOp::verify() { return verifyAsManyElements(*this, tensor(getX()), getType()); }

SmallVector<AccessAttr> ReshapeOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

bool ReshapeOp::isView() { return true; }

SmallVector<Value> ReshapeOp::lower(OpBuilder &builder) { // D36
  return {ViewOp::create(builder, getLoc(), getType(), getX())};
}

SmallVector<Value> ReshapeOp::buildGradients(OpBuilder &builder,
                                             ValueRange resultGradients) { // D55
  return {ViewOp::create(builder, getLoc(), gradientType(getX()), resultGradients[0])};
}

SmallVector<Value> ReshapeOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
