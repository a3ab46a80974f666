// SPDX-License-Identifier: Apache-2.0
// ONNX's softmax operators and its cross-entropy.
#pragma once

#include "onnx_products.hpp"

namespace halftone::reference::tests {

/// cross_entropy of [rows, columns] logits, summed or the mean; class weights and a label to ignore
/// where they are stated.
struct CrossEntropy {
  std::int64_t columns = 0;
  bool summed = false;
  std::vector<double> class_weight = {};
  std::string ignore_index = {};

  [[nodiscard]] Problem problem(const std::vector<double>& logits,
                                const std::vector<std::int32_t>& labels) const {
    const std::string rows = std::to_string(labels.size()), n = std::to_string(columns);
    std::string settings = ignore_index.empty() ? "" : "ignore_index: " + ignore_index;
    if (summed) settings += settings.empty() ? "summed: true" : ", summed: true";
    const bool weighs = !class_weight.empty();
    Problem problem;
    problem.model = parse_model(
        "input %label : i32[" + rows + "]\nparameter %x : [" + rows + ", " + n +
        "] init constant(0)\n" + (weighs ? "state %class : [" + n + "] initial 1\n" : "") +
        "%loss = cross_entropy(logits: %x, label: %label" +
        (weighs ? ", class_weight: %class" : "") + ")" +
        (settings.empty() ? "" : " {" + settings + "}") + " : []\nloss %loss weight 1\n");
    problem.parameters["x"] = logits;
    problem.inputs.integers["label"] = labels;
    if (weighs) problem.states["class"] = class_weight;
    return problem;
  }
};

inline Judged losses_of(const Problem& problem) {
  return judge(problem, [](const auto& run) { return run.forward.losses; });
}

/// softmax along an axis, or its logarithms, by the layer; rows as those of Rows.
inline Judged softmax(const Rows& x, const std::string& settings = "") {
  Graph graph;
  const Value rows = graph.input({onnx::Type::f32, {x.rows, x.columns}, x.values});
  return graph.judged(graph.layer("softmax", {{"x", rows}}, settings, rows.shape));
}

inline std::size_t axis_of(const onnx::Vector& vector) {
  return counted_from_front(attribute_or(vector.nodes[0], "axis", std::int64_t{-1}),
                            vector.inputs[0].shape.size());
}

/// By the layer, and as the negative loss of every label.
inline std::string run_log_softmax(const onnx::Vector& vector) {
  const Rows x(vector.inputs[0], axis_of(vector)), y(vector.outputs[0], axis_of(vector));
  check_recorded(softmax(x, "log: true"), y.values);
  Judged all;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int32_t j = 0; j < x.columns; ++j)
      all.append(losses_of(CrossEntropy{.columns = x.columns}.problem(x.row(i), {j})));
  }
  all.map([](double value) { return -value; });
  check_recorded(all, y.values);
  return "";
}

/// By the layer, and by the gradient of a row's cross_entropy: its softmax, less 1 at the label.
inline std::string run_softmax(const onnx::Vector& vector) {
  const Rows x(vector.inputs[0], axis_of(vector));
  std::vector<double> expected = Rows(vector.outputs[0], axis_of(vector)).values;
  check_recorded(softmax(x), expected);
  Judged all;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const Problem problem = CrossEntropy{.columns = x.columns}.problem(x.row(i), {0});
    all.append(judge(problem, [](const auto& run) { return run.gradient("x"); }));
    expected[i * x.columns] -= 1;
  }
  check_recorded(all, expected);
  return "";
}

/// none as the sum of each row.
inline std::string run_cross_entropy(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const std::string reduction = word_or(node, "reduction", "mean");
  const Rows x(vector.inputs[0], 1);
  const std::vector<std::int32_t> labels(vector.inputs[1].values.begin(),
                                         vector.inputs[1].values.end());
  CrossEntropy loss{.columns = x.columns, .summed = reduction != "mean"};
  if (vector.inputs.size() > 2) loss.class_weight = vector.inputs[2].values;
  if (node.attributes.count("ignore_index") != 0)
    loss.ignore_index = std::to_string(node.attributes.at("ignore_index").i);
  Judged losses;
  if (reduction == "none") {
    for (std::int64_t i = 0; i < x.rows; ++i)
      losses.append(losses_of(loss.problem(x.row(i), {labels[i]})));
  } else {
    losses = losses_of(loss.problem(x.values, labels));
  }
  check_recorded(losses, vector.outputs[0].values);
  if (vector.outputs.size() > 1)
    check_recorded(softmax(x, "log: true"), Rows(vector.outputs[1], 1).values);
  return "";
}

}  // namespace halftone::reference::tests
