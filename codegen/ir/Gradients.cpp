// SPDX-License-Identifier: Apache-2.0
// Reverse-mode gradients of the layers and losses, by the table of gradients in
// docs/spec/description.md.
#include "codegen/ir/Scalars.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

static TensorType tensor(Value value) { return cast<TensorType>(value.getType()); }

SmallVector<Value> LinearOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D40
  Value g = resultGradients[0];
  SmallVector<Value> gradients;
  gradients.push_back(ContractOp::create(builder, getLoc(), getX().getType(), g, getWeight(), false,
                                         false, ContractionPass::InputGradient));
  gradients.push_back(ContractOp::create(builder, getLoc(), getWeight().getType(), g, getX(), true,
                                         false, ContractionPass::WeightGradient));
  if (getBias())
    gradients.push_back(ColumnSumOp::create(builder, getLoc(), getBias().getType(), g));
  return gradients;
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

SmallVector<Value> ReluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  // D42 reads the result, so x need not be kept. A NaN passes the gradient on.
  auto op = makePointwise(builder, getLoc(), "relu_grad", {getResult(), resultGradients[0]},
                          getX().getType(), [](Scalars &s, ValueRange a) -> SmallVector<Value> {
                            Value zero = s.like(a[0], 0);
                            return {s.select(s.lessOrEqual(a[0], zero), zero, a[1])};
                          });
  return {op.getOutputs()[0]};
}

static SmallVector<Value> geluErfGradient(Scalars &s, ValueRange a) { // D43
  Value x = a[0];
  Value f = s.mul(s.like(x, 0.5), s.add(s.like(x, 1), s.erf(s.mul(x, s.like(x, std::sqrt(0.5))))));
  Value p = s.mul(s.exp(s.mul(s.like(x, -0.5), s.mul(x, x))), s.like(x, 1 / std::sqrt(2 * M_PI)));
  return {s.mul(a[1], s.fma(x, p, f))};
}

static SmallVector<Value> geluTanhGradient(Scalars &s, ValueRange a) { // D44
  Value x = a[0], one = s.like(x, 1), half = s.like(x, 0.5), c = s.like(x, std::sqrt(2 / M_PI));
  Value square = s.mul(x, x);
  Value t = s.tanh(s.mul(c, s.fma(s.mul(square, x), s.like(x, 0.044715), x)));
  Value du = s.mul(c, s.fma(s.like(x, 3 * 0.044715), square, one));
  Value outer = s.mul(s.mul(half, x), s.sub(one, s.mul(t, t)));
  return {s.mul(a[1], s.fma(outer, du, s.mul(half, s.add(one, t))))};
}

SmallVector<Value> GeluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  auto op = makePointwise(builder, getLoc(), getTanh() ? "gelu_tanh_grad" : "gelu_grad",
                          {getX(), resultGradients[0]}, getX().getType(),
                          getTanh() ? geluTanhGradient : geluErfGradient);
  return {op.getOutputs()[0]};
}

SmallVector<Value> SiluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D51
  auto op = makePointwise(builder, getLoc(), "silu_grad", {getX(), resultGradients[0]},
                          getX().getType(), [](Scalars &s, ValueRange a) -> SmallVector<Value> {
                            Value x = a[0], one = s.like(x, 1), r = s.sigmoid(x);
                            return {s.mul(a[1], s.mul(r, s.fma(x, s.sub(one, r), one)))};
                          });
  return {op.getOutputs()[0]};
}

SmallVector<Value> AddOp::buildGradients(OpBuilder &, ValueRange resultGradients) { // D45
  return {resultGradients[0], resultGradients[0]};
}

SmallVector<Value> ConcatOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) { // D46
  SmallVector<Value> gradients;
  int64_t offset = 0;
  for (Value part : getParts()) {
    gradients.push_back(
        SliceOp::create(builder, getLoc(), part.getType(), resultGradients[0], offset));
    offset += tensor(part).getColumns();
  }
  return gradients;
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

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D48
  return {CrossEntropyGradOp::create(builder, getLoc(), getLogits().getType(), getLogits(),
                                     getLabel(), resultGradients[0]),
          Value()};
}

SmallVector<Value> MeanOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  auto dims = tensor(getX()).getDims();
  auto op = makePointwise(builder, getLoc(), "mean_grad", resultGradients[0], getX().getType(),
                          [&](Scalars &s, ValueRange a) -> SmallVector<Value> {
                            return {s.div(a[0], s.count(a[0].getType(), dims))};
                          });
  return {op.getOutputs()[0]};
}

} // namespace halftone::ir
