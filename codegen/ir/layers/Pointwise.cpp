// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult PointwiseOp::verify() { return verifyElementwise(*this); }

/// The same of both.
template <typename Op> static SmallVector<Value> lowerFunction(Op op, OpBuilder &builder) {
  auto map = makeMap(builder, op.getLoc(), op.getFunction(), op.getInputs(), op->getResultTypes(),
                     [&](Scalars &, ValueRange elements) {
                       return inlineBlock(builder, op.getBody().front(), elements);
                     });
  return SmallVector<Value>(map.getOutputs());
}

SmallVector<Value> PointwiseOp::lower(OpBuilder &builder) { // D28
  return lowerFunction(*this, builder);
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

/// The same of both.
template <typename Op>
static SmallVector<Value> buildFunctionGradients(Op op, OpBuilder &builder,
                                                 ValueRange resultGradients) { // D47, D49, D50
  SmallVector<Value> operands(op.getInputs());
  llvm::append_range(operands, resultGradients);
  FailureOr<SmallVector<Value>> adjoints = failure();
  auto body = [&](Scalars &s, ValueRange arguments) -> SmallVector<Value> {
    ValueRange inputs = arguments.take_front(op.getInputs().size());
    adjoints = buildScalarAdjoints(builder, op.getBody().front(), inputs,
                                   arguments.drop_front(op.getInputs().size()));
    SmallVector<Value> values(inputs);
    if (succeeded(adjoints))
      for (auto [value, adjoint] : llvm::zip(values, *adjoints))
        value = adjoint ? adjoint : s.like(value, 0);
    return values;
  };
  auto types =
      llvm::map_to_vector(op.getInputs(), [&](Value input) -> Type { return gradientType(input); });
  auto built =
      makeMap(builder, op.getLoc(), (op.getFunction() + "_grad").str(), operands, types, body);
  if (failed(adjoints))
    return {};
  SmallVector<Value> gradients(built.getOutputs());
  for (auto [gradient, adjoint] : llvm::zip(gradients, *adjoints))
    if (!adjoint) // the function does not depend on it in a differentiable way
      gradient = Value();
  return gradients;
}

SmallVector<Value> PointwiseOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  return buildFunctionGradients(*this, builder, resultGradients);
}

LogicalResult PointwiseLossOp::verify() { return verifyElementwise(*this); }

SmallVector<Value> PointwiseLossOp::lower(OpBuilder &builder) { // D31
  return lowerFunction(*this, builder);
}

SmallVector<Value> PointwiseLossOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  return buildFunctionGradients(*this, builder, resultGradients);
}

SmallVector<Type> PointwiseLossOp::inferResults(TensorType, ValueRange operands) {
  return {gradientType(operands[0])};
}

} // namespace halftone::ir
