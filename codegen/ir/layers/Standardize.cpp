// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult StandardizeOp::verify() {
  TensorType x = tensor(getX());
  for (Value vector : {getMean(), getDeviation()})
    if (tensor(vector).getRank() != 1 || tensor(vector).getDims() != x.getDims().take_back())
      return emitOpError() << tensor(vector) << " does not have one value per column of " << x;
  return success();
}

SmallVector<AccessAttr> StandardizeOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column});
}

SmallVector<Value> StandardizeOp::readForGradient(unsigned) { return {}; }

SmallVector<Value> StandardizeOp::lower(OpBuilder &builder) { // D109
  return lowerToMap(*this, builder, [](Scalars &s, ValueRange e) -> SmallVector<Value> {
    return {s.div(s.sub(e[0], e[1]), e[2])};
  });
}

SmallVector<Value> StandardizeOp::buildGradients(OpBuilder &builder,
                                                 ValueRange resultGradients) { // D110
  Space rows{tensor(getX()), accesses(getContext(), {AccessKind::Full, AccessKind::Column}),
             accesses(getContext(), {AccessKind::Full})};
  auto op =
      makeMap(builder, getLoc(), "standardize_grad", rows, {resultGradients[0], getDeviation()},
              gradientType(getX()),
              [](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.div(e[0], e[1])}; });
  return {op.getOutputs()[0], Value(), Value()};
}

} // namespace halftone::ir
