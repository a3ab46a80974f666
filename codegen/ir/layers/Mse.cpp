// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult MseOp::verify() { return verifySummands(*this); }

SmallVector<AccessAttr> MseOp::getOperandAccesses() { return getLossAccesses(*this); }

SmallVector<Value> MseOp::lower(OpBuilder &builder) { // D30, D71
  return lowerLoss(*this, builder, getOperationName().split('.').second, getSampleWeight(),
                   [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
                     Value difference = s.sub(elements[0], elements[1]);
                     return {s.mul(difference, difference)};
                   });
}

Value MseOp::buildDivisor(OpBuilder &builder) {
  return makeElementDivisor(builder, *this, getSampleWeight());
}

SmallVector<Value> MseOp::buildGradients(OpBuilder &builder,
                                         ValueRange resultGradients) { // D50, D72
  SmallVector<Value> operands(getOperands());
  operands.push_back(resultGradients[0]);
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value weight = getSampleWeight() ? e[2] : Value();
    Value arriving = weight ? s.mul(e[3], weight) : e[2];
    Value once = s.mul(arriving, s.sub(e[0], e[1])), twice = s.add(once, once);
    SmallVector<Value> gradients{twice, s.neg(twice)};
    for (Value &gradient : gradients)
      gradient = weight ? passOver(s, weight, gradient) : gradient;
    return gradients;
  };
  auto op = makeMap(builder, getLoc(), "mse_grad", getGradientSpace(*this, 2), operands,
                    {gradientType(getX()), gradientType(getTarget())}, code);
  SmallVector<Value> gradients(op.getOutputs());
  gradients.resize(getNumOperands());
  return gradients;
}

SmallVector<Type> MseOp::inferResults(TensorType, ValueRange operands, DictionaryAttr) {
  return {getSummands(operands)};
}

} // namespace halftone::ir
