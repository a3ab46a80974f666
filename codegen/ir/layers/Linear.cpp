// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult LinearOp::verify() {
  TensorType x = tensor(getX()), weight = tensor(getWeight()), result = getType();
  unsigned outputs = isTransposed() ? 1 : 0;
  if (weight.getRank() != 2 || x.getRank() < 1 ||
      x.getDims().back() != weight.getDims()[1 - outputs])
    return emitOpError() << "x " << x << " does not fit weight " << weight;
  if (result.getRank() < 1 || result.getDims().back() != weight.getDims()[outputs])
    return emitOpError() << "result " << result << " must have one column per "
                         << (isTransposed() ? "column" : "row") << " of weight " << weight;
  if (getBias() && tensor(getBias()).getDims() != weight.getDims().slice(outputs, 1))
    return emitOpError() << "bias " << tensor(getBias()) << " does not fit weight " << weight;
  return verifyRows(*this, x, result);
}

SmallVector<AccessAttr> LinearOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

SmallVector<Value> LinearOp::lower(OpBuilder &builder) { // D21
  auto product = ContractOp::create(builder, getLoc(), getType(), getX(), getWeight(), Value(),
                                    false, !isTransposed(), ContractionPass::Forward,
                                    builder.getStringAttr("linear"));
  Encoding rounded = internalEncoding(*this, "product");
  if (!getBias() && rounded.element == Element::f32)
    return {product};
  SmallVector<Value> inputs{product};
  if (getBias())
    inputs.push_back(getBias());
  auto map = makeMap(builder, getLoc(), "linear", inputs, getType(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value sum = s.round(e[0], rounded);
                       return {getBias() ? s.add(sum, e[1]) : sum};
                     });
  return {map.getOutputs()[0]};
}

SmallVector<Value> LinearOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D40
  Value g = resultGradients[0];
  SmallVector<Value> gradients;
  gradients.push_back(ContractOp::create(builder, getLoc(), gradientType(getX()), g, getWeight(),
                                         Value(), false, isTransposed(),
                                         ContractionPass::InputGradient, StringAttr()));
  Value lhs = isTransposed() ? getX() : g, rhs = isTransposed() ? g : getX();
  gradients.push_back(ContractOp::create(builder, getLoc(), gradientType(getWeight()), lhs, rhs,
                                         Value(), true, false, ContractionPass::WeightGradient,
                                         StringAttr()));
  if (getBias())
    gradients.push_back(makeReduce(builder, getLoc(), "column_sum", {}, g, gradientType(getBias()))
                            .getOutputs()[0]);
  return gradients;
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> LinearOp::readForGradient(unsigned operand) {
  if (operand == 2)
    return {};
  return {operand == 0 ? getWeight() : getX()};
}

} // namespace halftone::ir
