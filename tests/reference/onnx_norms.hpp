// SPDX-License-Identifier: Apache-2.0
// ONNX's normalizations and Dropout. They keep channels behind the image, the language last.
#pragma once

#include "onnx_windows.hpp"

namespace halftone::reference::tests {

inline std::string epsilon_of(const onnx::Node& node) {
  if (node.attributes.count("epsilon") == 0) return "epsilon: 1e-05";
  return "epsilon: " + std::to_string(attribute_or(node, "epsilon", 0.0F));
}

/// Of rows: the axes from `axis` on are the columns.
inline std::string run_row_norm(const onnx::Vector& vector, const std::string& layer) {
  const onnx::Node& node = vector.nodes[0];
  const Shape& shape = vector.inputs[0].shape;
  const std::size_t axis =
      counted_from_front(attribute_or(node, "axis", std::int64_t{-1}), shape.size());
  const std::int64_t n = product(shape, axis, shape.size());
  Graph graph;
  const Value x = graph.reshape(graph.input(vector.inputs[0]), {product(shape, 0, axis), n});
  std::vector<std::pair<std::string, Value>> operands = {
      {"x", x}, {"weight", graph.parameter({n}, vector.inputs[1].values)}};
  if (vector.inputs.size() > 2)
    operands.emplace_back("bias", graph.parameter({n}, vector.inputs[2].values));
  graph.check(graph.layer(layer, operands, epsilon_of(node), x.shape), vector.outputs[0]);
  return "";
}

inline std::string run_layer_norm(const onnx::Vector& vector) {
  return vector.inputs.size() == 3 ? run_row_norm(vector, "layer_norm") : "has no bias";
}

inline std::string run_rms_norm(const onnx::Vector& vector) {
  return run_row_norm(vector, "rms_norm");
}

/// Where `num_groups` says nothing, every channel is a group.
inline std::string run_group_norm(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor y = channels_last(vector.outputs[0]);
  const Shape& channels = vector.inputs[1].shape;
  const std::int64_t groups = attribute_or(node, "num_groups", channels[0]);
  Graph graph;
  const Value x = graph.input(channels_last(vector.inputs[0]));
  graph.check(graph.layer("group_norm",
                          {{"x", x},
                           {"weight", graph.parameter(channels, vector.inputs[1].values)},
                           {"bias", graph.parameter(channels, vector.inputs[2].values)}},
                          epsilon_of(node) + ", groups: " + std::to_string(groups), x.shape),
              y);
  return "";
}

/// A trainer's pass in training mode, otherwise a predictor's. ONNX averages the variance of the
/// rows as it is, torch and the language that times R / (R - 1).
inline std::string run_batch_norm(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  const onnx::Tensor y = channels_last(vector.outputs[0]);
  const onnx::Tensor &mean = vector.inputs[3], &variance = vector.inputs[4];
  const double kept = attribute_or(node, "momentum", 0.9F);
  Graph graph;
  const Value x = graph.input(channels_last(vector.inputs[0]));
  const Value m = graph.state(mean), v = graph.state(variance);
  const Value result =
      graph.layer("batch_norm",
                  {{"x", x},
                   {"weight", graph.parameter(mean.shape, vector.inputs[1].values)},
                   {"bias", graph.parameter(mean.shape, vector.inputs[2].values)},
                   {"mean", m},
                   {"variance", v}},
                  epsilon_of(node) + ", momentum: " + std::to_string(1 - kept), x.shape);
  if (attribute_or(node, "training_mode", std::int64_t{0}) == 0) {
    check_recorded(graph.predicted(result), y.values);
    return "";
  }
  graph.check(result, y);
  check_recorded(graph.assigned(result, m), vector.outputs[1].values);
  const double rows = static_cast<double>(y.values.size() / mean.values.size());
  Judged averaged = graph.assigned(result, v);
  for (std::size_t i = 0; i < averaged.exact.size(); ++i) {
    for (std::vector<double>* values : {&averaged.exact, &averaged.declared}) {
      const double before = kept * variance.values[i];
      (*values)[i] = before + ((*values)[i] - before) * (rows - 1) / rows;
    }
  }
  check_recorded(averaged, vector.outputs[2].values);
  return "";
}

/// Of every channel, over images and places. What ONNX adds to the deviation, 1e-9, is less than
/// its rounding.
inline std::string run_mean_variance(const onnx::Vector& vector) {
  const onnx::Tensor x = channels_last(vector.inputs[0]), y = channels_last(vector.outputs[0]);
  if (vector.nodes[0].attributes.count("axes") != 0) return "normalizes other axes";
  const Shape channels = {x.shape.back()};
  const onnx::Tensor zeros{onnx::Type::f32, channels, std::vector<double>(channels[0], 0)};
  Graph graph;
  const Value result =
      graph.layer("batch_norm",
                  {{"x", graph.input(x)},
                   {"weight", graph.parameter(channels, std::vector<double>(channels[0], 1))},
                   {"bias", graph.parameter(channels, zeros.values)},
                   {"mean", graph.state(zeros)},
                   {"variance", graph.state(zeros)}},
                  "epsilon: 1e-12, momentum: 0.1", x.shape);
  graph.check(result, y);
  return "";
}

/// Where nothing is drawn: a predictor's pass, or a trainer's at the rate 0.
inline std::string run_dropout(const onnx::Vector& vector) {
  if (vector.outputs.size() > 1) return "gives its mask, too";
  const bool is_training = vector.inputs.size() > 2 && vector.inputs[2].values.at(0) != 0;
  double rate = attribute_or(vector.nodes[0], "ratio", 0.5F);
  if (vector.inputs.size() > 1) rate = vector.inputs[1].values.at(0);
  if (is_training && rate != 0) return "draws";
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  const Value y = graph.layer("dropout", {{"x", x}}, "rate: " + std::to_string(rate), x.shape);
  check_recorded(is_training ? graph.judged(y) : graph.predicted(y), vector.outputs[0].values);
  return "";
}

}  // namespace halftone::reference::tests
