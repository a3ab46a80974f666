// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult LayerNormOp::verify() {
  TensorType x = tensor(getX());
  for (Value vector : {getWeight(), getBias()})
    if (tensor(vector).getRank() != 1 || tensor(vector).getColumns() != x.getColumns())
      return emitOpError() << tensor(vector) << " does not have one value per column of " << x;
  for (Value row : {getMean(), getRstd()})
    if (tensor(row).getDims() != x.getRowDims())
      return emitOpError() << tensor(row) << " does not have one value per row of " << x;
  return success();
}

Skeleton LayerNormOp::getSkeleton() { return Skeleton::Row; }

TensorType LayerNormOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> LayerNormOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column});
}

SmallVector<AccessAttr> LayerNormOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Row, AccessKind::Row});
}

SmallVector<Value> LayerNormOp::buildBody(OpBuilder &builder, ValueRange elements, Value) { // D22
  Scalars s(builder, getLoc());
  Value x = elements[0], n = s.like(x, static_cast<double>(getDomain().getColumns()));
  Value mean = s.div(s.rowSum(x), n), d = s.sub(x, mean);
  Value variance = s.div(s.rowSum(s.mul(d, d)), n);
  Value rstd =
      s.div(s.like(x, 1), s.sqrt(s.add(variance, s.like(x, getEpsilon().convertToDouble()))));
  return {s.fma(s.mul(d, rstd), elements[1], elements[2]), mean, rstd};
}

Skeleton LayerNormGradOp::getSkeleton() { return Skeleton::Row; }

TensorType LayerNormGradOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> LayerNormGradOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Row,
                                 AccessKind::Row, AccessKind::Full});
}

SmallVector<AccessAttr> LayerNormGradOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> LayerNormGradOp::buildBody(OpBuilder &builder, ValueRange elements,
                                              Value) { // D41
  Scalars s(builder, getLoc());
  Value x = elements[0], weight = elements[1], mean = elements[2], rstd = elements[3],
        g = elements[4];
  Value n = s.like(x, static_cast<double>(getDomain().getColumns()));
  Value h = s.mul(s.sub(x, mean), rstd), q = s.mul(g, weight);
  Value a = s.div(s.rowSum(q), n), b = s.div(s.rowSum(s.mul(q, h)), n);
  return {s.mul(rstd, s.sub(s.sub(q, a), s.mul(h, b)))};
}

Skeleton LayerNormWeightGradOp::getSkeleton() { return Skeleton::Column; }

TensorType LayerNormWeightGradOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> LayerNormWeightGradOp::getOperandAccesses() {
  return accesses(getContext(),
                  {AccessKind::Full, AccessKind::Row, AccessKind::Row, AccessKind::Full});
}

SmallVector<AccessAttr> LayerNormWeightGradOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Column, AccessKind::Column});
}

SmallVector<Value> LayerNormWeightGradOp::buildBody(OpBuilder &builder, ValueRange elements,
                                                    Value) { // D41
  Scalars s(builder, getLoc());
  Value h = s.mul(s.sub(elements[0], elements[1]), elements[2]), g = elements[3];
  return {s.mul(g, h), g};
}

SmallVector<Value> LayerNormOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D41
  Value g = resultGradients[0];
  Value x = LayerNormGradOp::create(builder, getLoc(), getX().getType(), getX(), getWeight(),
                                    getMean(), getRstd(), g);
  auto weight = LayerNormWeightGradOp::create(builder, getLoc(), getWeight().getType(),
                                              getBias().getType(), getX(), getMean(), getRstd(), g);
  return {x, weight.getWeightGradient(), weight.getBiasGradient()};
}

} // namespace halftone::ir
