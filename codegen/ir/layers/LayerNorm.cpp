// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult LayerNormOp::verify() {
  TensorType x = tensor(getX());
  for (Value vector : {getWeight(), getBias()})
    if (tensor(vector).getRank() != 1 || tensor(vector).getDims() != x.getDims().take_back())
      return emitOpError() << tensor(vector) << " does not have one value per column of " << x;
  for (Value row : {getMean(), getRstd()})
    if (tensor(row).getDims() != x.getRowDims())
      return emitOpError() << tensor(row) << " does not have one value per row of " << x;
  return success();
}

SmallVector<AccessAttr> LayerNormOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column});
}

SmallVector<Value> LayerNormOp::lower(OpBuilder &builder) { // D22
  double epsilon = getEpsilon().convertToDouble();
  Encoding normalized = internalEncoding(*this, "normalized");
  auto code = [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = elements[0], n = s.columns(x.getType(), tensor(getX()));
    Value mean = s.div(s.rowSum(x), n), d = s.sub(x, mean);
    Value variance = s.div(s.rowSum(s.mul(d, d)), n);
    Value rstd = s.div(s.like(x, 1), s.sqrt(s.add(variance, s.like(x, epsilon))));
    Value h = s.round(s.mul(d, rstd), normalized);
    return {s.fma(h, elements[1], elements[2]), mean, rstd};
  };
  return lowerToMap(*this, builder, code, tensor(getX()),
                    {AccessKind::Full, AccessKind::Row, AccessKind::Row});
}

SmallVector<Value> LayerNormOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D41
  Value g = resultGradients[0];
  Encoding normalized = internalEncoding(*this, "normalized");
  Space rows{tensor(getX()),
             accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Row,
                                     AccessKind::Row, AccessKind::Full}),
             accesses(getContext(), {AccessKind::Full})};
  auto ofX = makeMap(
      builder, getLoc(), "layer_norm_grad", rows, {getX(), getWeight(), getMean(), getRstd(), g},
      gradientType(getX()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
        Value x = e[0], weight = e[1], mean = e[2], rstd = e[3];
        Value n = s.columns(x.getType(), tensor(getX()));
        Value h = s.round(s.mul(s.sub(x, mean), rstd), normalized), q = s.mul(e[4], weight);
        Value a = s.div(s.rowSum(q), n), b = s.div(s.rowSum(s.mul(q, h)), n);
        return {s.mul(rstd, s.sub(s.sub(q, a), s.mul(h, b)))};
      });
  auto ofWeights = makeReduce(builder, getLoc(), "layer_norm_weight_grad",
                              accesses(getContext(), {AccessKind::Full, AccessKind::Row,
                                                      AccessKind::Row, AccessKind::Full}),
                              {getX(), getMean(), getRstd(), g},
                              {gradientType(getWeight()), gradientType(getBias())},
                              [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                                Value h = s.round(s.mul(s.sub(e[0], e[1]), e[2]), normalized);
                                return {s.mul(e[3], h), e[3]};
                              });
  ofWeights.setPass(ContractionPass::WeightGradient);
  return {ofX.getOutputs()[0], ofWeights.getOutputs()[0], ofWeights.getOutputs()[1]};
}

SmallVector<Type> LayerNormOp::inferResults(TensorType node, ValueRange, DictionaryAttr) {
  TensorType rows = node.withDims(node.getRowDims());
  return {node, rows, rows};
}

} // namespace halftone::ir
