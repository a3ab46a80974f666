// SPDX-License-Identifier: Apache-2.0
// ONNX's Attention, of opset 23. It keeps heads in front of times where it has four dimensions, the
// language within columns.
#pragma once

#include "onnx_windows.hpp"

namespace halftone::reference::tests {

/// Of [batch, heads, times, n]: [batch, times, heads * n]; what has three dimensions lies so.
inline onnx::Tensor heads_in_columns(const onnx::Tensor& tensor) {
  if (tensor.shape.size() == 3) return tensor;
  onnx::Tensor result = turned(tensor, {0, 2, 1, 3});
  result.shape = {result.shape[0], result.shape[1], result.shape[2] * result.shape[3]};
  return result;
}

/// Of [batch, times, columns], the first `count` times of each.
inline onnx::Tensor first_times(const onnx::Tensor& tensor, std::int64_t count) {
  const std::int64_t times = tensor.shape[1], columns = tensor.shape[2];
  onnx::Tensor result{tensor.type, {tensor.shape[0], count, columns}, {}};
  for (std::int64_t sequence = 0; sequence < tensor.shape[0]; ++sequence) {
    const auto begin = tensor.values.begin() + sequence * times * columns;
    result.values.insert(result.values.end(), begin, begin + count * columns);
  }
  return result;
}

/// Of [batch, times, columns], query heads behind each other that read one key head. Here head a
/// reads key head a % key_heads (github.com/onnx/onnx/pull/7274), in the language floor(a / (heads
/// / key_heads)).
inline onnx::Tensor heads_by_key(const onnx::Tensor& tensor, std::int64_t heads,
                                 std::int64_t key_heads) {
  onnx::Tensor cut = tensor;
  cut.shape = {tensor.shape[0], tensor.shape[1], heads / key_heads, key_heads,
               tensor.shape[2] / heads};
  onnx::Tensor result = turned(cut, {0, 1, 3, 2, 4});
  result.shape = tensor.shape;
  return result;
}

inline std::string run_attention(const onnx::Vector& vector) {
  const onnx::Node& node = vector.nodes[0];
  if (!all_f32(vector.inputs)) return "not f32";
  if (vector.inputs.size() > 3) return "adds a mask to scores";
  if (vector.outputs.size() > 1) return "gives scores, too";
  const bool has_heads = vector.inputs[0].shape.size() == 4;
  const std::int64_t heads =
      has_heads ? vector.inputs[0].shape[1] : attribute_or(node, "q_num_heads", std::int64_t{1});
  const std::int64_t key_heads =
      has_heads ? vector.inputs[1].shape[1] : attribute_or(node, "kv_num_heads", std::int64_t{1});
  const onnx::Tensor query = heads_by_key(heads_in_columns(vector.inputs[0]), heads, key_heads);
  onnx::Tensor key = heads_in_columns(vector.inputs[1]);
  onnx::Tensor value = heads_in_columns(vector.inputs[2]);
  std::string settings =
      "heads: " + std::to_string(heads) + ", key_heads: " + std::to_string(key_heads);
  if (attribute_or(node, "is_causal", std::int64_t{0}) != 0) {
    // Here the first query sees the first key alone, in the language the last one sees the last.
    const std::int64_t times = query.shape[1];
    if (key.shape[1] < times) return "has fewer keys than queries";
    key = first_times(key, times);
    value = first_times(value, times);
    settings += ", causal: true";
  }
  for (const auto& [name, setting] :
       {std::pair("scale", ", score_scale: "), std::pair("softcap", ", soft_cap: ")}) {
    if (node.attributes.count(name) != 0)
      settings += setting + std::to_string(attribute_or(node, name, 0.0F));
  }
  Graph graph;
  const onnx::Tensor y = heads_by_key(heads_in_columns(vector.outputs[0]), heads, key_heads);
  const std::vector<std::pair<std::string, Value>> operands = {
      {"query", graph.input(query)}, {"key", graph.input(key)}, {"value", graph.input(value)}};
  graph.check(graph.layer("attention", operands, settings, y.shape), y);
  return "";
}

}  // namespace halftone::reference::tests
