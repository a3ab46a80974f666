// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1))
    return emitOpError() << "rate " << rate << " is not in [0, 1)";
  return verifyOneShape(*this);
}

/// One function of x and of the gradient that arrives.
static Value keep(DropoutOp op, OpBuilder &builder, StringRef label, Value values) {
  double rate = op.getRate().convertToDouble();
  auto threshold = static_cast<int32_t>(static_cast<uint32_t>(rate * 0x1p32)); // towards zero
  SmallVector<Value> operands{values};
  llvm::append_range(operands, countersFor(op));
  auto map = makeMap(builder, op.getLoc(), label, operands, gradientType(op.getX()),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value draw = s.draw(getLayer(op), e.drop_front());
                       Value dropped =
                           s.compare(arith::CmpIPredicate::ult, draw, s.integer(threshold));
                       Value kept = s.mul(e[0], s.like(e[0], 1 / (1 - rate)));
                       return {s.select(dropped, s.like(e[0], 0), kept)};
                     });
  return map.getOutputs()[0];
}

SmallVector<Value> DropoutOp::lower(OpBuilder &builder) { // D35
  if ((*this)->getParentOfType<GraphOp>().isInference())
    return {getX()};
  return {keep(*this, builder, "dropout", getX())};
}

SmallVector<Value> DropoutOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  return {keep(*this, builder, "dropout_grad", resultGradients[0])}; // D54
}

SmallVector<Value> DropoutOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
