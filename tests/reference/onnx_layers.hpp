// SPDX-License-Identifier: Apache-2.0
// ONNX operators as descriptions. Each function runs one vector and returns why it does not apply,
// or an empty string.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "judged.hpp"
#include "onnx.hpp"

namespace halftone::reference::tests {

using Shape = std::vector<std::int64_t>;

inline std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, std::int64_t{1},
                         std::multiplies<>());
}

inline std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

inline std::int64_t attribute_or(const onnx::Node& node, const std::string& name,
                                 std::int64_t otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.i;
}

inline double attribute_or(const onnx::Node& node, const std::string& name, float otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.f;
}

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

inline bool all_f32(const std::vector<onnx::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const onnx::Tensor& t) { return t.type == onnx::Type::f32; });
}

/// `body` over x0, x1, ... as one pointwise function, or `statement` when it is a layer of its own.
inline std::string run_elementwise(const onnx::Vector& vector, const std::string& body) {
  if (!all_f32(vector.inputs)) return "not f32";
  Problem problem;
  std::string statements, operands, loads;
  for (std::size_t i = 0; i < vector.inputs.size(); ++i) {
    if (vector.inputs[i].shape != vector.inputs[0].shape) return "broadcasts";
    const std::string x = "x" + std::to_string(i);
    statements += "input %" + x + " : f32" + text_of(vector.inputs[i].shape) + "\n";
    operands += (i == 0 ? "" : ", ") + x + ": %" + x;
    loads += "%" + std::to_string(i) + " = operand " + std::to_string(i) + "; ";
    problem.inputs.values[x] = vector.inputs[i].values;
  }
  statements += body == "relu" ? "%y = relu(x: %x0)"
                               : "%y = pointwise(" + operands + ") \"f\" { " + loads + body + " }";
  problem.model =
      parse_model(statements + " : " + text_of(vector.inputs[0].shape) + "\noutput \"y\" = %y\n");
  problem.external["y"].assign(vector.outputs[0].values.size(), 0);
  const auto y = [](const auto& run) { return run.value("y"); };
  check_recorded(judge(problem, y), vector.outputs[0].values);
  return "";
}

/// minimum or maximum over one operand or more, in order.
inline std::string run_fold(const onnx::Vector& vector, const std::string& op) {
  const std::size_t count = vector.inputs.size();
  if (count == 1) return "has one operand";
  std::string body;
  for (std::size_t i = 1; i < count; ++i) {
    const std::string before = std::to_string(i == 1 ? 0 : count + i - 2);
    body += (i == 1 ? "%" : "; %") + std::to_string(count + i - 1) + " = " + op + " %" + before +
            " %" + std::to_string(i);
  }
  return run_elementwise(vector, body);
}

inline std::string run_concat(const onnx::Vector& vector) {
  const Shape& first = vector.inputs[0].shape;
  const std::int64_t rank = static_cast<std::int64_t>(first.size());
  const std::int64_t axis = attribute_or(vector.nodes[0], "axis", std::int64_t{0});
  if ((axis + rank) % rank != rank - 1) return "not along the last axis";
  Problem problem;
  std::string statements, operands;
  for (std::size_t i = 0; i < vector.inputs.size(); ++i) {
    const std::string part = "part" + std::to_string(i);
    statements += "input %" + part + " : f32" + text_of(vector.inputs[i].shape) + "\n";
    operands += (i == 0 ? "" : ", ") + part + ": %" + part;
    problem.inputs.values[part] = vector.inputs[i].values;
  }
  problem.model = parse_model(statements + "%y = concat(" + operands +
                              ") : " + text_of(vector.outputs[0].shape) + "\noutput \"y\" = %y\n");
  check_recorded(judge(problem, [](const auto& run) { return run.value("y"); }),
                 vector.outputs[0].values);
  return "";
}

/// A layer of x alone that moves its elements; `layer` is its word, `setting` what stands in
/// braces.
inline std::string run_moving(const onnx::Vector& vector, const std::string& layer,
                              const std::string& setting) {
  const onnx::Tensor &x = vector.inputs[0], &y = vector.outputs[0];
  if (!all_f32({x})) return "not f32";
  if (x.values.empty()) return "has no elements";
  Problem problem;
  problem.model =
      parse_model("input %x : f32" + text_of(x.shape) + "\n%y = " + layer + "(x: %x) {" + setting +
                  "} : " + text_of(y.shape) + "\noutput \"y\" = %y\n");
  problem.inputs.values["x"] = x.values;
  problem.external["y"].assign(y.values.size(), 0);
  check_recorded(judge(problem, [](const auto& run) { return run.value("y"); }), y.values);
  return "";
}

inline std::string run_transpose(const onnx::Vector& vector) {
  Shape axes(vector.inputs[0].shape.size());  // where none are stated: in reverse
  std::iota(axes.rbegin(), axes.rend(), 0);
  const auto& attributes = vector.nodes[0].attributes;
  if (const auto stated = attributes.find("perm"); stated != attributes.end())
    axes = stated->second.ints;
  return run_moving(vector, "transpose", "axes: " + text_of(axes));
}

inline std::string run_reshape(const onnx::Vector& vector) {
  return run_moving(vector, "reshape", "shape: " + text_of(vector.outputs[0].shape));
}

/// y = x weight' [+ bias] [+ addend], x of [rows, k] and weight of [m, k]; empty tensors are
/// absent.
struct Product {
  std::int64_t rows, k, m;
  std::vector<double> x, weight, bias, addend;

  [[nodiscard]] Judged result() const {
    const std::string to = "[" + std::to_string(rows) + ", " + std::to_string(m) + "]";
    Problem problem;
    std::string statements = "input %x : f32[" + std::to_string(rows) + ", " + std::to_string(k) +
                             "]\nparameter %w : [" + std::to_string(m) + ", " + std::to_string(k) +
                             "] init constant(0)\n";
    if (!bias.empty())
      statements += "parameter %b : [" + std::to_string(m) + "] init constant(0)\n";
    if (!addend.empty()) statements += "input %c : f32" + to + "\n";
    statements += std::string("%p = linear(x: %x, weight: %w") +
                  (bias.empty() ? "" : ", bias: %b") + ") : " + to + "\n";
    statements += addend.empty() ? "" : "%y = add(a: %p, b: %c) : " + to + "\n";
    problem.model =
        parse_model(statements + "output \"y\" = " + (addend.empty() ? "%p" : "%y") + "\n");
    problem.inputs.values["x"] = x;
    problem.parameters["w"] = weight;
    if (!bias.empty()) problem.parameters["b"] = bias;
    if (!addend.empty()) problem.inputs.values["c"] = addend;
    return judge(problem, [&](const auto& run) { return run.value(addend.empty() ? "p" : "y"); });
  }
};

inline std::string run_gemm(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  if (attribute_or(node, "alpha", 1.0f) != 1 || attribute_or(node, "beta", 1.0f) != 1)
    return "scales its terms";
  const Rows a(vector.inputs[0], attribute_or(node, "transA", std::int64_t{0}) != 0 ? 0 : 1);
  const Rows b(vector.inputs[1], attribute_or(node, "transB", std::int64_t{0}) != 0 ? 1 : 0);
  Product product{a.rows, a.columns, b.rows, a.values, b.values, {}, {}};
  if (vector.inputs.size() > 2) {
    const std::vector<double>& c = vector.inputs[2].values;
    if (c.size() == 1)
      product.bias.assign(product.m, c[0]);
    else if (static_cast<std::int64_t>(c.size()) == product.m)
      product.bias = c;
    else
      product.addend = c;
  }
  check_recorded(product.result(), vector.outputs[0].values);
  return "";
}

inline std::string run_matmul(const onnx::Vector& vector) {
  const onnx::Tensor &a = vector.inputs[0], &b = vector.inputs[1];
  if (b.shape.size() != a.shape.size()) return "broadcasts";
  Problem problem;
  problem.model =
      parse_model("input %a : f32" + text_of(a.shape) + "\ninput %b : f32" + text_of(b.shape) +
                  "\n%y = matmul(a: %a, b: %b) {transpose_a: false, transpose_b: "
                  "false} : " +
                  text_of(vector.outputs[0].shape) + "\noutput \"y\" = %y\n");
  problem.inputs.values = {{"a", a.values}, {"b", b.values}};
  check_recorded(judge(problem, [](const auto& run) { return run.value("y"); }),
                 vector.outputs[0].values);
  return "";
}

/// The axes from `axis` on are the columns.
inline std::string run_layer_norm(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const Shape& shape = vector.inputs[0].shape;
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = (attribute_or(node, "axis", std::int64_t{-1}) + rank) % rank;
  if (vector.inputs.size() != 3) return "has no bias";
  const std::string n = std::to_string(product(shape, axis, rank));
  const std::string of = "[" + std::to_string(product(shape, 0, axis)) + ", " + n + "]";
  Problem problem;
  std::string epsilon = std::to_string(attribute_or(node, "epsilon", 1e-5f));
  if (node.attributes.count("epsilon") == 0) epsilon = "1e-05";
  problem.model = parse_model(
      "input %x : f32" + of + "\nparameter %w : [" + n + "] init constant(0)\nparameter %b : [" +
      n + "] init constant(0)\n%y = layer_norm(x: %x, weight: %w, bias: %b) {epsilon: " + epsilon +
      "} : " + of + "\noutput \"y\" = %y\n");
  problem.inputs.values["x"] = vector.inputs[0].values;
  problem.parameters = {{"w", vector.inputs[1].values}, {"b", vector.inputs[2].values}};
  check_recorded(judge(problem, [](const auto& run) { return run.value("y"); }),
                 vector.outputs[0].values);
  return "";
}

}  // namespace halftone::reference::tests
