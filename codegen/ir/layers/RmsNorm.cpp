// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult RmsNormOp::verify() {
  TensorType x = tensor(getX()), weight = tensor(getWeight()), rstd = tensor(getRstd());
  if (weight.getRank() != 1 || weight.getDims() != x.getDims().take_back())
    return emitOpError() << weight << " does not have one value per column of " << x;
  if (rstd.getDims() != x.getRowDims())
    return emitOpError() << rstd << " does not have one value per row of " << x;
  return success();
}

SmallVector<AccessAttr> RmsNormOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column});
}

SmallVector<Value> RmsNormOp::lower(OpBuilder &builder) { // D33
  double epsilon = getEpsilon().convertToDouble();
  Encoding normalized = internalEncoding(*this, "normalized");
  auto code = [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = elements[0], sum = s.rowSum(s.mul(x, x));
    Value mean = s.div(sum, s.columns(x.getType(), tensor(getX())));
    Value rstd = s.div(s.like(x, 1), s.sqrt(s.add(mean, s.like(x, epsilon))));
    return {s.mul(s.round(s.mul(x, rstd), normalized), elements[1]), rstd};
  };
  return lowerToMap(*this, builder, code, tensor(getX()), {AccessKind::Full, AccessKind::Row});
}

SmallVector<Value> RmsNormOp::buildGradients(OpBuilder &builder,
                                             ValueRange resultGradients) { // D52
  Value g = resultGradients[0];
  Encoding normalized = internalEncoding(*this, "normalized");
  Space rows{tensor(getX()),
             accesses(getContext(),
                      {AccessKind::Full, AccessKind::Column, AccessKind::Row, AccessKind::Full}),
             accesses(getContext(), {AccessKind::Full})};
  auto ofX = makeMap(builder, getLoc(), "rms_norm_grad", rows, {getX(), getWeight(), getRstd(), g},
                     gradientType(getX()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value rstd = e[2], h = s.round(s.mul(e[0], rstd), normalized),
                             q = s.mul(e[3], e[1]);
                       Value sum = s.rowSum(s.mul(q, h));
                       Value b = s.div(sum, s.columns(h.getType(), tensor(getX())));
                       return {s.mul(rstd, s.sub(q, s.mul(h, b)))};
                     });
  auto ofWeight =
      makeReduce(builder, getLoc(), "rms_norm_weight_grad",
                 accesses(getContext(), {AccessKind::Full, AccessKind::Row, AccessKind::Full}),
                 {getX(), getRstd(), g}, {gradientType(getWeight())},
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   return {s.mul(e[2], s.round(s.mul(e[0], e[1]), normalized))};
                 });
  ofWeight.setPass(ContractionPass::WeightGradient);
  return {ofX.getOutputs()[0], ofWeight.getOutputs()[0]};
}

SmallVector<Type> RmsNormOp::inferResults(TensorType node, ValueRange, DictionaryAttr) {
  return {node, node.withDims(node.getRowDims())};
}

} // namespace halftone::ir
