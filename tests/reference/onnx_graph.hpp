// SPDX-License-Identifier: Apache-2.0
// Descriptions of a few layers, put together from ONNX's tensors and judged by all evaluations.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "halftone/expression.hpp"
#include "judged.hpp"
#include "onnx.hpp"

namespace halftone::reference::tests {

using Shape = std::vector<std::int64_t>;

inline std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, std::int64_t{1},
                         std::multiplies<>());
}

inline std::int64_t elements_of(const Shape& shape) { return product(shape, 0, shape.size()); }

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

inline std::string word_or(const onnx::Node& node, const std::string& name,
                           const std::string& otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.s;
}

/// `axis`, counted from the end where it is negative.
inline std::size_t counted_from_front(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

inline bool all_f32(const std::vector<onnx::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const onnx::Tensor& t) { return t.type == onnx::Type::f32; });
}

/// A function of single elements, written as users write theirs.
using Function = std::function<dsl::Scalar(const std::vector<dsl::Scalar>& x)>;

/// `function` of `arity` values as the dsl traces it.
inline description::Expression traced(std::size_t arity, const Function& function) {
  dsl::Tape tape;
  std::vector<dsl::Scalar> x;
  for (std::size_t i = 0; i < arity; ++i)
    x.emplace_back(&tape, tape.record(dsl::ScalarOp::operand, static_cast<int>(i)));
  const dsl::Scalar result = function(x);
  const dsl::Tape kept = dsl::tracing::prune(tape, dsl::tracing::place(tape, result));
  REQUIRE(tape.defect == dsl::Defect::none);
  description::Expression expression{static_cast<std::int32_t>(arity), {}};
  for (int i = 0; i < kept.size; ++i) {
    const dsl::Instruction& from = kept.instructions[i];
    expression.instructions.push_back(
        {static_cast<description::ScalarOp>(from.op), from.a, from.b, from.c, from.constant});
  }
  return expression;
}

/// A node of a graph.
struct Value {
  std::string name;
  Shape shape;
};

class Graph {
 public:
  /// A scalar is of one dimension here, as every tensor of the language is of one or more.
  Value input(const onnx::Tensor& tensor) {
    const Value x = named(tensor.shape.empty() ? Shape{1} : tensor.shape);
    statements_ += "input %" + x.name + " : f32" + text_of(x.shape) + "\n";
    problem_.inputs.values[x.name] = tensor.values;
    return x;
  }

  Value integers(const onnx::Tensor& tensor) {
    const Value x = named(tensor.shape);
    statements_ += "input %" + x.name + " : i32" + text_of(x.shape) + "\n";
    problem_.inputs.integers[x.name].assign(tensor.values.begin(), tensor.values.end());
    return x;
  }

  Value parameter(const Shape& shape, const std::vector<double>& values) {
    const Value x = named(shape);
    statements_ += "parameter %" + x.name + " : " + text_of(shape) + " init constant(0)\n";
    problem_.parameters[x.name] = values;
    return x;
  }

  Value state(const onnx::Tensor& tensor) {
    const Value x = named(tensor.shape);
    statements_ += "state %" + x.name + " : " + text_of(x.shape) + " initial 0\n";
    problem_.states[x.name] = tensor.values;
    return x;
  }

  /// `operands` by role; `settings` as in the text form, without braces.
  Value layer(const std::string& kind, const std::vector<std::pair<std::string, Value>>& operands,
              const std::string& settings, const Shape& shape) {
    std::string reads;
    for (const auto& [role, value] : operands)
      reads += (reads.empty() ? "" : ", ") + role + ": %" + value.name;
    return stated(kind + "(" + reads + ")" + (settings.empty() ? "" : " {" + settings + "}"),
                  shape);
  }

  /// All of `x` have one shape.
  Value pointwise(const std::vector<Value>& x, const Function& function) {
    std::string reads, loads;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::string number = std::to_string(i);
      reads += (i == 0 ? "x" : ", x") + number + ": %" + x[i].name;
      loads += (i == 0 ? "%" : "; %") + number + " = operand " + number;
    }
    const Value y = stated("pointwise(" + reads + ") \"f\" { " + loads + " }", x[0].shape);
    functions_.emplace_back(y.name, traced(x.size(), function));
    return y;
  }

  Value reshape(const Value& x, const Shape& shape) {
    return layer("reshape", {{"x", x}}, "shape: " + text_of(shape), shape);
  }

  /// Dimension d of the result is dimension axes[d] of x.
  Value transpose(const Value& x, const Shape& axes) {
    Shape shape;
    for (const std::int64_t axis : axes) shape.push_back(x.shape[axis]);
    return layer("transpose", {{"x", x}}, "axes: " + text_of(axes), shape);
  }

  /// The elements of `axis` `times` times one after the other.
  Value repeat(const Value& x, std::size_t axis, std::int64_t times) {
    const Shape folded = {product(x.shape, 0, axis), product(x.shape, axis, x.shape.size())};
    const Value rows = reshape(x, folded);
    const Shape more = {folded[0], times, folded[1]};
    const Value repeated = layer("expand", {{"x", rows}}, "shape: " + text_of(more), more);
    Shape shape = x.shape;
    shape[axis] *= times;
    return reshape(repeated, shape);
  }

  /// ONNX's multidirectional broadcast of one operand: dimensions are added in front, and those of
  /// one element are repeated.
  Value broadcast(const Value& x, const Shape& to) {
    if (x.shape == to) return x;
    Shape aligned(to.size() - x.shape.size(), 1);
    aligned.insert(aligned.end(), x.shape.begin(), x.shape.end());
    Value y = reshape(x, aligned);
    for (std::size_t d = 0; d < to.size(); ++d) {
      if (y.shape[d] != to[d]) y = repeat(y, d, to[d]);
    }
    return y;
  }

  [[nodiscard]] Judged judged(const Value& y) const {
    return judge(problem(y), [&](const auto& run) { return run.value(y.name); });
  }

  /// By a predictor instead of a trainer.
  [[nodiscard]] Judged predicted(const Value& y) const {
    const Problem of = problem(y);
    return judge(of, [&](const auto& run) {
      using Scalar = std::remove_cvref_t<decltype(run.value(y.name)[0])>;
      const auto forward = run.evaluator.predict(run.state, as<Scalar>(of.inputs));
      return forward.values[run.evaluator.find(y.name)];
    });
  }

  /// Of a state behind a step whose result is y.
  [[nodiscard]] Judged assigned(const Value& y, const Value& state) const {
    return judge(problem(y), [&](const auto& run) { return run.forward.states.at(state.name); });
  }

  void check(const Value& y, const onnx::Tensor& recorded) const {
    check_recorded(judged(y), recorded.values);
  }

 private:
  Value named(const Shape& shape) { return {"v" + std::to_string(count_++), shape}; }

  Value stated(const std::string& text, const Shape& shape) {
    const Value y = named(shape);
    statements_ += "%" + y.name + " = " + text + " : " + text_of(shape) + "\n";
    return y;
  }

  [[nodiscard]] Problem problem(const Value& y) const {
    Problem of = problem_;
    of.model = parse_model(statements_ + "output \"y\" = %" + y.name + "\n");
    for (const auto& [name, expression] : functions_) {
      for (description::Node& node : of.model.nodes) {
        if (node.name == name)
          std::get<description::LayerAttributes>(node.attributes).function->expression = expression;
      }
    }
    return of;
  }

  int count_ = 0;
  std::string statements_;
  std::vector<std::pair<std::string, description::Expression>> functions_;
  Problem problem_;
};

}  // namespace halftone::reference::tests
