// SPDX-License-Identifier: Apache-2.0
// ONNX operators of single elements as pointwise functions, with the dsl's ready-made ones where
// there are such.
#pragma once

#include <map>

#include "halftone/pointwise.hpp"
#include "onnx_graph.hpp"

namespace halftone::reference::tests {

using NodeFunction =
    std::function<dsl::Scalar(const std::vector<dsl::Scalar>& x, const onnx::Node& node)>;

/// `recorded` is the formula of ONNX's generator where that keeps fewer digits: its running error,
/// where it is the larger one, is the tolerance of what it recorded.
struct Elementwise {
  NodeFunction function;
  NodeFunction recorded = nullptr;
};

namespace elementwise {
using dsl::Scalar;
using Scalars = std::vector<Scalar>;

/// A function of one value, or of two.
template <class F>
Elementwise of(F function) {
  return {[function](const Scalars& x, const onnx::Node&) -> Scalar {
    if constexpr (requires { function(x[0]); })
      return function(x[0]);
    else
      return function(x[0], x[1]);
  }};
}

/// Of as many values as there are, in order.
template <class F>
Elementwise folded(F function) {
  return {[function](const Scalars& x, const onnx::Node&) -> Scalar {
    Scalar result = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) result = function(result, x[i]);
    return result;
  }};
}

inline Scalar one_where(const dsl::Condition& condition) {
  return dsl::select(condition, 1.0, 0.0);
}

/// alpha * (exp(min(x, 0)) - 1) beside max(x, 0), as ONNX's generators have it.
inline Scalar recorded_elu(const Scalar& x, const Scalar& alpha) {
  return dsl::maximum(x, 0.0) + alpha * (dsl::exp(dsl::minimum(x, 0.0)) - 1.0);
}

/// The remainder of a division that is rounded toward zero.
inline Scalar fmod(const Scalar& x, const Scalar& y) {
  const Scalar quotient = x / y;
  const Scalar size = dsl::floor(dsl::abs(quotient));
  return x - y * dsl::select(quotient < 0.0, -size, size);
}
}  // namespace elementwise

inline const std::map<std::string, Elementwise>& elementwise_operators() {
  using namespace elementwise;
  static const std::map<std::string, Elementwise> kOperators = {
      {"Abs", of([](Scalar x) { return dsl::abs(x); })},
      {"Acosh", of([](Scalar x) { return dsl::log(x + dsl::sqrt((x - 1.0) * (x + 1.0))); })},
      {"Add", of([](Scalar a, Scalar b) { return a + b; })},
      {"Asinh", of([](Scalar x) { return dsl::log(x + dsl::sqrt(x * x + 1.0)); })},
      {"Atanh", of([](Scalar x) { return 0.5 * (dsl::log1p(x) - dsl::log1p(-x)); })},
      {"Ceil", of([](Scalar x) { return -dsl::floor(-x); })},
      {"Celu",
       {[](const Scalars& x, const onnx::Node& node) {
          const double alpha = attribute_or(node, "alpha", 1.0F);
          return dsl::select(x[0] > 0.0, x[0], alpha * dsl::expm1(x[0] / alpha));
        },
        [](const Scalars& x, const onnx::Node& node) {
          const double alpha = attribute_or(node, "alpha", 1.0F);
          return dsl::maximum(x[0], 0.0) +
                 dsl::minimum(alpha * (dsl::exp(x[0] / alpha) - 1.0), 0.0);
        }}},
      {"Cos", of([](Scalar x) { return dsl::cos(x); })},
      {"Cosh", of([](Scalar x) { return 0.5 * (dsl::exp(x) + dsl::exp(-x)); })},
      {"Div", of([](Scalar a, Scalar b) { return a / b; })},
      {"Elu",
       {[](const Scalars& x, const onnx::Node& node) {
          return dsl::elu(x[0], attribute_or(node, "alpha", 1.0F));
        },
        [](const Scalars& x, const onnx::Node& node) {
          return recorded_elu(x[0], attribute_or(node, "alpha", 1.0F));
        }}},
      {"Erf", of([](Scalar x) { return dsl::erf(x); })},
      {"Exp", of([](Scalar x) { return dsl::exp(x); })},
      {"Floor", of([](Scalar x) { return dsl::floor(x); })},
      {"Greater", of([](Scalar a, Scalar b) { return one_where(a > b); })},
      {"GreaterOrEqual", of([](Scalar a, Scalar b) { return one_where(a >= b); })},
      {"HardSigmoid", {[](const Scalars& x, const onnx::Node& node) {
         const double alpha = attribute_or(node, "alpha", 0.2F);
         const double beta = attribute_or(node, "beta", 0.5F);
         return dsl::minimum(dsl::maximum(alpha * x[0] + beta, 0.0), 1.0);
       }}},
      {"HardSwish",
       {[](const Scalars& x, const onnx::Node&) { return dsl::hard_swish(x[0]); },
        [](const Scalars& x, const onnx::Node&) {
          return x[0] * dsl::maximum(dsl::minimum(1.0 / 6 * x[0] + 0.5, 1.0), 0.0);
        }}},
      {"Identity", of([](Scalar x) { return x; })},
      {"LeakyRelu", {[](const Scalars& x, const onnx::Node& node) {
         return dsl::leaky_relu(x[0], attribute_or(node, "alpha", 0.01F));
       }}},
      {"Less", of([](Scalar a, Scalar b) { return one_where(a < b); })},
      {"LessOrEqual", of([](Scalar a, Scalar b) { return one_where(a <= b); })},
      {"Log", of([](Scalar x) { return dsl::log(x); })},
      {"Max", folded([](Scalar a, Scalar b) { return dsl::max(a, b); })},
      {"Mean", {[](const Scalars& x, const onnx::Node&) {
         Scalar sum = x[0];
         for (std::size_t i = 1; i < x.size(); ++i) sum += x[i];
         return sum / static_cast<double>(x.size());
       }}},
      {"Min", folded([](Scalar a, Scalar b) { return dsl::min(a, b); })},
      {"Mish", of([](Scalar x) { return dsl::mish(x); })},
      {"Mod", of([](Scalar a, Scalar b) { return fmod(a, b); })},
      {"Mul", of([](Scalar a, Scalar b) { return a * b; })},
      {"Neg", of([](Scalar x) { return -x; })},
      {"PRelu", of([](Scalar x, Scalar slope) { return dsl::leaky_relu(x, slope); })},
      {"Pow", of([](Scalar x, Scalar exponent) { return dsl::pow(x, exponent); })},
      {"Reciprocal", of([](Scalar x) { return 1.0 / x; })},
      {"Selu",
       {[](const Scalars& x, const onnx::Node& node) {
          if (node.attributes.empty()) return dsl::selu(x[0]);
          return attribute_or(node, "gamma", 0.0F) *
                 dsl::elu(x[0], attribute_or(node, "alpha", 0.0F));
        },
        [](const Scalars& x, const onnx::Node& node) {
          return attribute_or(node, "gamma", 1.05070102214813232421875F) *
                 recorded_elu(x[0], attribute_or(node, "alpha", 1.67326319217681884765625F));
        }}},
      {"Shrink", {[](const Scalars& x, const onnx::Node& node) {
         const double lambda = attribute_or(node, "lambd", 0.5F);
         const double bias = attribute_or(node, "bias", 0.0F);
         const Scalar above = dsl::select(x[0] > lambda, x[0] - bias, 0.0);
         return dsl::select(x[0] < -lambda, x[0] + bias, above);
       }}},
      {"Sigmoid", of([](Scalar x) { return dsl::sigmoid(x); })},
      {"Sign", of([](Scalar x) { return dsl::select(x < 0.0, -1.0, one_where(x > 0.0)); })},
      {"Sin", of([](Scalar x) { return dsl::sin(x); })},
      {"Sinh", of([](Scalar x) { return 0.5 * (dsl::exp(x) - dsl::exp(-x)); })},
      {"Softplus",
       {[](const Scalars& x, const onnx::Node&) { return dsl::softplus(x[0]); },
        [](const Scalars& x, const onnx::Node&) { return dsl::log(dsl::exp(x[0]) + 1.0); }}},
      {"Softsign", of([](Scalar x) { return dsl::softsign(x); })},
      {"Sqrt", of([](Scalar x) { return dsl::sqrt(x); })},
      {"Sub", of([](Scalar a, Scalar b) { return a - b; })},
      {"Sum", folded([](Scalar a, Scalar b) { return a + b; })},
      {"Swish", {[](const Scalars& x, const onnx::Node& node) {
         return x[0] * dsl::sigmoid(attribute_or(node, "alpha", 1.0F) * x[0]);
       }}},
      {"Tan", of([](Scalar x) { return dsl::sin(x) / dsl::cos(x); })},
      {"Tanh", of([](Scalar x) { return dsl::tanh(x); })},
      {"ThresholdedRelu", {[](const Scalars& x, const onnx::Node& node) {
         return dsl::select(x[0] > attribute_or(node, "alpha", 1.0F), x[0], 0.0);
       }}},
      {"Where",
       {[](const Scalars& x, const onnx::Node&) { return dsl::select(x[0] == 1.0, x[1], x[2]); }}},
  };
  return kOperators;
}

/// Conditions and exponents that are integers come in as the numbers that they are.
inline bool reads_numbers(const onnx::Vector& vector) {
  const std::string& op = vector.nodes[0].op;
  for (std::size_t i = 0; i < vector.inputs.size(); ++i) {
    const onnx::Type type = vector.inputs[i].type;
    const bool is_integer = type == onnx::Type::i32 || type == onnx::Type::i64;
    if (type != onnx::Type::f32 && !(op == "Where" && i == 0 && type == onnx::Type::boolean) &&
        !(op == "Pow" && i == 1 && is_integer))
      return false;
  }
  return true;
}

inline std::string run_elementwise(const onnx::Vector& vector, const Elementwise& of) {
  if (!reads_numbers(vector)) return "not f32";
  if (vector.inputs[0].shape.size() == 1 && vector.outputs[0].shape != vector.inputs[0].shape)
    return "is no tensor";  // a sequence, of which the reader sees parts
  const auto judged = [&](const NodeFunction& function) {
    Graph graph;
    std::vector<Value> x;
    for (const onnx::Tensor& input : vector.inputs)
      x.push_back(graph.broadcast(graph.input(input), vector.outputs[0].shape));
    return graph.judged(graph.pointwise(
        x, [&](const std::vector<dsl::Scalar>& at) { return function(at, vector.nodes[0]); }));
  };
  Judged result = judged(of.function);
  check_declared(result);
  const Judged recorded = of.recorded ? judged(of.recorded) : result;
  for (std::size_t i = 0; i < result.error.size(); ++i)
    result.error[i] = std::max(result.error[i], recorded.error[i]);
  check_recorded(result, vector.outputs[0].values);
  return "";
}

/// Its ends are operands, of which either may be absent.
inline std::string run_clip(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  std::size_t next = 1;
  const auto end = [&](std::size_t at, double otherwise) {
    const bool is_given = node.inputs.size() > at && !node.inputs[at].empty();
    return is_given ? vector.inputs[next++].values.at(0) : otherwise;
  };
  if (!all_f32(vector.inputs)) return "not f32";
  const double low = end(1, -0x1.fffffep+127), high = end(2, 0x1.fffffep+127);
  return run_elementwise({vector.name, vector.nodes, {vector.inputs[0]}, vector.outputs},
                         elementwise::of([=](dsl::Scalar x) { return dsl::clamp(x, low, high); }));
}

/// Of one operand, as a layer.
inline std::string run_activation(const onnx::Vector& vector, const std::string& layer,
                                  const std::string& settings = "") {
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  graph.check(graph.layer(layer, {{"x", x}}, settings, x.shape), vector.outputs[0]);
  return "";
}

inline std::string run_gelu(const onnx::Vector& vector) {
  return run_activation(
      vector, "gelu",
      "approximation: " + (word_or(vector.nodes[0], "approximate", "none") == "tanh"
                               ? std::string("tanh")
                               : std::string("erf")));
}

}  // namespace halftone::reference::tests
