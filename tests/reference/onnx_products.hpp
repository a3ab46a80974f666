// SPDX-License-Identifier: Apache-2.0
// ONNX's products as descriptions. Each function runs one vector and returns why it does not apply,
// or an empty string.
#pragma once

#include "onnx_graph.hpp"

namespace halftone::reference::tests {

/// A tensor as a matrix whose columns run along one axis.
struct Rows {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Rows(const onnx::Tensor& tensor, std::size_t axis) {
    columns = tensor.shape[axis];
    const std::int64_t inner = product(tensor.shape, axis + 1, tensor.shape.size());
    const std::int64_t outer = product(tensor.shape, 0, axis);
    rows = outer * inner;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        for (std::int64_t c = 0; c < columns; ++c)
          values.push_back(tensor.values[(o * columns + c) * inner + i]);
      }
    }
  }

  [[nodiscard]] std::vector<double> row(std::int64_t i) const {
    return {values.begin() + i * columns, values.begin() + (i + 1) * columns};
  }
};

/// alpha * a b + beta * c, where either factor is not 1.
inline Value scaled_gemm(Graph& graph, const Value& product, const onnx::Tensor& c, double alpha,
                         double beta) {
  return graph.pointwise({product, graph.broadcast(graph.input(c), product.shape)},
                         [=](const auto& x) { return alpha * x[0] + beta * x[1]; });
}

inline std::string run_gemm(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const double alpha = attribute_or(node, "alpha", 1.0F), beta = attribute_or(node, "beta", 1.0F);
  const Rows a(vector.inputs[0], attribute_or(node, "transA", std::int64_t{0}) != 0 ? 0 : 1);
  const Rows b(vector.inputs[1], attribute_or(node, "transB", std::int64_t{0}) != 0 ? 1 : 0);
  const bool has_addend = vector.inputs.size() > 2;
  const std::size_t addends = has_addend ? vector.inputs[2].values.size() : 0;
  Graph graph;
  std::vector<std::pair<std::string, Value>> operands = {
      {"x", graph.input({onnx::Type::f32, {a.rows, a.columns}, a.values})},
      {"weight", graph.parameter({b.rows, b.columns}, b.values)}};
  const Shape shape = {a.rows, b.rows};
  const bool is_plain = alpha == 1 && beta == 1;
  if (is_plain && has_addend && addends != static_cast<std::size_t>(a.rows * b.rows)) {
    std::vector<double> bias = vector.inputs[2].values;
    if (addends == 1) bias.assign(b.rows, bias[0]);
    operands.emplace_back("bias", graph.parameter({b.rows}, bias));
  }
  Value y = graph.layer("linear", operands, "", shape);
  if (!is_plain)
    y = scaled_gemm(graph, y, vector.inputs[2], alpha, beta);
  else if (has_addend && operands.size() == 2)
    y = graph.layer("add", {{"a", y}, {"b", graph.input(vector.inputs[2])}}, "", shape);
  graph.check(y, vector.outputs[0]);
  return "";
}

inline std::string run_matmul(const onnx::Vector& vector) {
  const onnx::Tensor &a = vector.inputs[0], &b = vector.inputs[1];
  if (b.shape.size() != a.shape.size()) return "broadcasts";
  Graph graph;
  const Value x = graph.input(a), y = graph.input(b);
  graph.check(graph.layer("matmul", {{"a", x}, {"b", y}}, "transpose_a: false, transpose_b: false",
                          vector.outputs[0].shape),
              vector.outputs[0]);
  return "";
}

}  // namespace halftone::reference::tests
