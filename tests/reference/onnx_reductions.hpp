// SPDX-License-Identifier: Apache-2.0
// ONNX's reductions: a product with ones for sums, one window over all for means and largest
// values, and functions of single elements before and behind.
#pragma once

#include <map>

#include "onnx_moving.hpp"

namespace halftone::reference::tests {

enum class Over : std::uint8_t { sum, average, max };

/// behind(reduce(before(x))).
struct Reduction {
  Over over = Over::sum;
  Function before, behind;  ///< empty where nothing changes
};

inline const std::map<std::string, Reduction>& reductions() {
  using Scalars = std::vector<dsl::Scalar>;
  static const Function kNegative = [](const Scalars& x) { return -x[0]; };
  static const Function kSquare = [](const Scalars& x) { return x[0] * x[0]; };
  static const std::map<std::string, Reduction> kReductions = {
      {"ReduceL1", {Over::sum, [](const Scalars& x) { return dsl::abs(x[0]); }, {}}},
      {"ReduceL2", {Over::sum, kSquare, [](const Scalars& x) { return dsl::sqrt(x[0]); }}},
      {"ReduceLogSum", {Over::sum, {}, [](const Scalars& x) { return dsl::log(x[0]); }}},
      {"ReduceMax", {Over::max, {}, {}}},
      {"ReduceMean", {Over::average, {}, {}}},
      {"ReduceMin", {Over::max, kNegative, kNegative}},
      {"ReduceSum", {Over::sum, {}, {}}},
      {"ReduceSumSquare", {Over::sum, kSquare, {}}},
  };
  return kReductions;
}

/// The axes to reduce, of an attribute or an input; all where none are stated, or none at all.
inline Shape reduced_axes(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const std::size_t rank = vector.inputs[0].shape.size();
  Shape axes;
  if (const auto stated = node.attributes.find("axes"); stated != node.attributes.end())
    axes = stated->second.ints;
  if (vector.inputs.size() > 1)
    axes.assign(vector.inputs[1].values.begin(), vector.inputs[1].values.end());
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(counted_from_front(axis, rank));
  if (axes.empty() && attribute_or(node, "noop_with_empty_axes", std::int64_t{0}) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

/// Of rows [rows, n], as [rows, 1].
inline Value reduced(Graph& graph, const Value& rows, Over over) {
  const std::int64_t n = rows.shape[1];
  if (over == Over::sum) {
    const Value ones = graph.parameter({1, n}, std::vector<double>(n, 1));
    return graph.layer("linear", {{"x", rows}, {"weight", ones}}, "", {rows.shape[0], 1});
  }
  const Value images = graph.reshape(rows, {rows.shape[0], n, 1});
  return graph.layer(
      "pool", {{"x", images}},
      "kernel: [" + std::to_string(n) + "], function: " + (over == Over::max ? "max" : "average"),
      {rows.shape[0], 1, 1});
}

inline std::string run_reduction(const onnx::Vector& vector, const Reduction& reduction) {
  if (vector.inputs[0].type != onnx::Type::f32) return "not f32";
  if (vector.inputs[0].values.empty()) return "has no elements";
  const Shape axes = reduced_axes(vector);
  Graph graph;
  Value x = graph.input(vector.inputs[0]);
  Shape kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.shape.size()); ++d) {
    if (std::count(axes.begin(), axes.end(), d) == 0) kept.push_back(d);
  }
  std::int64_t rows = 1;
  for (const std::int64_t d : kept) rows *= x.shape[d];
  Shape order = kept;
  order.insert(order.end(), axes.begin(), axes.end());
  if (reduction.before) x = graph.pointwise({x}, reduction.before);
  const std::int64_t count = elements_of(x.shape) / rows;
  x = reduced(graph, graph.reshape(graph.transpose(x, order), {rows, count}), reduction.over);
  if (reduction.behind) x = graph.pointwise({x}, reduction.behind);
  graph.check(x, vector.outputs[0]);
  return "";
}

}  // namespace halftone::reference::tests
