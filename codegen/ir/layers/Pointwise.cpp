// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

PointwiseOp makePointwise(OpBuilder &builder, Location loc, StringRef function, ValueRange inputs,
                          TypeRange results,
                          function_ref<SmallVector<Value>(Scalars &, ValueRange)> body) {
  auto op = PointwiseOp::create(builder, loc, results, function, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value input : inputs) {
    Type element = tensor(input).getElementType();
    bool widened = isa<FloatType>(element) && isa_and_nonnull<InputOp>(input.getDefiningOp());
    block->addArgument(widened ? builder.getF32Type() : element, loc); // see PointwiseOp::verify
  }
  Scalars scalars(builder, loc);
  YieldOp::create(builder, loc, body(scalars, block->getArguments()));
  return op;
}

LogicalResult PointwiseOp::verify() {
  if (getOutputs().empty())
    return emitOpError("has no result");
  TensorType domain = tensor(getOutputs().front());
  for (Value output : getOutputs())
    if (!tensor(output).hasSameDims(domain))
      return emitOpError() << "results " << domain << " and " << tensor(output)
                           << " differ in shape";
  for (Value input : getInputs())
    if (!inferAccess(domain, tensor(input)))
      return emitOpError() << "operand " << tensor(input) << " neither has the shape of " << domain
                           << " nor is one value per column or one for all";
  // Arithmetic is f32; an input may still have the format that it arrives in until InsertCasts has
  // widened it.
  auto fit = [&](TypeRange scalars, ValueRange tensors) {
    return llvm::equal(scalars, tensors, [&](Type scalar, Value value) {
      return scalar == tensor(value).getElementType() ||
             (scalar.isF32() && isa_and_nonnull<InputOp>(value.getDefiningOp()));
    });
  };
  Block &block = getBody().front();
  if (!fit(block.getArgumentTypes(), getInputs()))
    return emitOpError("region wants one argument per operand, of its element type");
  if (!fit(block.getTerminator()->getOperandTypes(), getOutputs()))
    return emitOpError("region wants to yield one value per result, of its element type");
  return success();
}

HALFTONE_POINTWISE_FORM(PointwiseOp)

SmallVector<Value> PointwiseOp::buildBody(OpBuilder &builder, ValueRange elements,
                                          Value) { // D28, D31
  return inlineBlock(builder, getBody().front(), elements);
}

SmallVector<Value> PointwiseOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D47, D49, D50
  SmallVector<Value> operands(getInputs());
  llvm::append_range(operands, resultGradients);
  FailureOr<SmallVector<Value>> adjoints = failure();
  auto body = [&](Scalars &s, ValueRange arguments) -> SmallVector<Value> {
    ValueRange inputs = arguments.take_front(getInputs().size());
    adjoints = buildScalarAdjoints(builder, getBody().front(), inputs,
                                   arguments.drop_front(getInputs().size()));
    SmallVector<Value> values(inputs);
    if (succeeded(adjoints))
      for (auto [value, adjoint] : llvm::zip(values, *adjoints))
        value = adjoint ? adjoint : s.like(value, 0);
    return values;
  };
  auto types = llvm::map_to_vector(getInputs(), [&](Value input) -> Type {
    return tensor(input).withElementType(builder.getF32Type());
  });
  auto op =
      makePointwise(builder, getLoc(), (getFunction() + "_grad").str(), operands, types, body);
  if (failed(adjoints))
    return {};
  SmallVector<Value> gradients(op.getOutputs());
  for (auto [gradient, adjoint] : llvm::zip(gradients, *adjoints))
    if (!adjoint) // the function does not depend on it in a differentiable way
      gradient = Value();
  return gradients;
}

} // namespace halftone::ir
