// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult PointwiseOp::verify() { return verifyElementwise(*this); }

SmallVector<Value> PointwiseOp::lower(OpBuilder &builder) { // D28
  auto map = makeMap(builder, getLoc(), getFunction(), getInputs(), getResultTypes(),
                     [&](Scalars &, ValueRange elements) {
                       return inlineBlock(builder, getBody().front(), elements);
                     });
  return SmallVector<Value>(map.getOutputs());
}

/// The function that `op` computes and that has a narrow recipe.
static std::optional<Function> functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Function>>(op)
      .Case([](math::ExpOp) { return Function::Exp; })
      .Case([](math::TanhOp) { return Function::Tanh; })
      .Case([](SigmoidOp) { return Function::Sigmoid; })
      .Default([](Operation *) { return std::nullopt; });
}

/// That of the last instruction alone.
void PointwiseOp::takeNarrowRecipes() {
  Operation *yield = getBody().front().getTerminator();
  Operation *last = yield->getOperand(0).getDefiningOp();
  std::optional<Function> function = last ? functionOf(last) : std::nullopt;
  if (!function)
    return;
  OpBuilder builder(yield);
  yield->setOperand(0,
                    Scalars(builder, last->getLoc()).recipe(*function, last->getOperand(0), true));
  if (last->use_empty())
    last->erase();
}

/// What its gradients have beside the function: of a loss, where they lie and its weight.
struct Weighing {
  Space space;
  Value weight;
};

/// The same of both; what arrives follows the weight, where there is one (D72).
template <typename Op>
static SmallVector<Value> buildFunctionGradients(Op op, OpBuilder &builder, Value arriving,
                                                 ValueRange inputs,
                                                 const Weighing &weighing) { // D47, D49, D50
  SmallVector<Value> operands(op.getInputs());
  operands.push_back(arriving);
  FailureOr<SmallVector<Value>> adjoints = failure();
  auto body = [&](Scalars &s, ValueRange arguments) -> SmallVector<Value> {
    Value g = arguments.back();
    Value weight = weighing.weight ? arguments[inputs.size()] : Value();
    adjoints =
        buildScalarAdjoints(builder, op.getBody().front(), arguments.take_front(inputs.size()),
                            weight ? s.mul(g, weight) : g);
    SmallVector<Value> values(arguments.take_front(inputs.size()));
    if (succeeded(adjoints))
      for (auto [value, adjoint] : llvm::zip(values, *adjoints)) {
        value = adjoint ? adjoint : s.like(value, 0);
        value = weight ? passOver(s, weight, value) : value;
      }
    return values;
  };
  auto types =
      llvm::map_to_vector(inputs, [&](Value input) -> Type { return gradientType(input); });
  auto built = makeMap(builder, op.getLoc(), (op.getFunction() + "_grad").str(), weighing.space,
                       operands, types, body);
  if (failed(adjoints))
    return {};
  SmallVector<Value> gradients(built.getOutputs());
  for (auto [gradient, adjoint] : llvm::zip(gradients, *adjoints))
    if (!adjoint) // the function does not depend on it in a differentiable way
      gradient = Value();
  gradients.resize(op.getInputs().size());
  return gradients;
}

SmallVector<Value> PointwiseOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  return buildFunctionGradients(*this, builder, resultGradients[0], getInputs(), {});
}

LogicalResult PointwiseLossOp::verify() {
  if (!getSampleWeight())
    return verifyElementwise(*this);
  if (getNumOperands() != getBody().getNumArguments() + 1)
    return emitOpError("region wants one argument per operand, but for the weight");
  return verifySummands(*this);
}

SmallVector<AccessAttr> PointwiseLossOp::getOperandAccesses() {
  return getSampleWeight() ? getLossAccesses(*this) : inferOperandAccesses(*this);
}

SmallVector<Value> PointwiseLossOp::lower(OpBuilder &builder) { // D31, D71
  return lowerLoss(*this, builder, getFunction(), getSampleWeight(),
                   [&](Scalars &, ValueRange elements) {
                     return inlineBlock(builder, getBody().front(), elements);
                   });
}

Value PointwiseLossOp::buildDivisor(OpBuilder &builder) {
  return makeElementDivisor(builder, *this, getSampleWeight());
}

SmallVector<Value> PointwiseLossOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  Weighing weighing;
  if (getSampleWeight())
    weighing = {getGradientSpace(*this, getValues().size()), getSampleWeight()};
  return buildFunctionGradients(*this, builder, resultGradients[0], getValues(), weighing);
}

SmallVector<Type> PointwiseLossOp::inferResults(TensorType, ValueRange operands, DictionaryAttr) {
  return {getSummands(operands)};
}

} // namespace halftone::ir
