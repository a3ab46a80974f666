// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SoftCrossEntropyOp::verify() {
  if (!tensor(getTarget()).hasSameDims(tensor(getLogits())))
    return emitOpError() << "target " << tensor(getTarget())
                         << " does not have the shape of logits " << tensor(getLogits());
  return verifyRowSummands(*this, 2);
}

SmallVector<AccessAttr> SoftCrossEntropyOp::getOperandAccesses() {
  return getRowLossAccesses(*this, 2);
}

Value SoftCrossEntropyOp::buildDivisor(OpBuilder &builder) {
  return getSampleWeight() ? makeDivisor(builder, getLoc(), getSampleWeight()) : Value();
}

namespace {

/// What D105 and D106 have in common.
struct SoftmaxRow {
  Value exponential, sum, logSumExp;

  SoftmaxRow(Scalars &s, Value x) {
    Value maximum = s.rowMax(x);
    exponential = s.exp(s.sub(x, maximum));
    sum = s.rowSum(exponential);
    logSumExp = s.add(maximum, s.log(sum));
  }
};

} // namespace

SmallVector<Value> SoftCrossEntropyOp::lower(OpBuilder &builder) { // D105
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value lacking = s.sub(SoftmaxRow(s, e[0]).logSumExp, e[0]);
    Value loss = s.rowSum(s.mul(e[1], lacking));
    return {getSampleWeight() ? weigh(s, e[2], loss) : loss};
  };
  return lowerToMap(*this, builder, code, tensor(getLogits()), {AccessKind::Row});
}

SmallVector<Value> SoftCrossEntropyOp::buildGradients(OpBuilder &builder,
                                                      ValueRange resultGradients) { // D106, D72
  SmallVector<Value> operands(getOperands());
  operands.push_back(resultGradients[0]);
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value weight = getSampleWeight() ? e[2] : Value();
    Value arriving = weight ? s.mul(e[3], weight) : e[2];
    SoftmaxRow row(s, e[0]);
    Value share = s.mul(row.exponential, s.div(s.like(e[0], 1), row.sum));
    Value drawn = s.mul(share, s.rowSum(e[1]));
    SmallVector<Value> gradients{s.mul(arriving, s.sub(drawn, e[1])),
                                 s.mul(arriving, s.sub(row.logSumExp, e[0]))};
    for (Value &gradient : gradients)
      gradient = weight ? passOver(s, weight, gradient) : gradient;
    return gradients;
  };
  auto op = makeMap(builder, getLoc(), "soft_cross_entropy_grad", getRowGradientSpace(*this, 2),
                    operands, {gradientType(getLogits()), gradientType(getTarget())}, code);
  SmallVector<Value> gradients(op.getOutputs());
  gradients.resize(getNumOperands());
  return gradients;
}

SmallVector<Type> SoftCrossEntropyOp::inferResults(TensorType, ValueRange operands,
                                                   DictionaryAttr) {
  return {getRowSummands(operands)};
}

} // namespace halftone::ir
