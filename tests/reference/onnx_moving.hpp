// SPDX-License-Identifier: Apache-2.0
// ONNX operators that move elements, or repeat them, or leave some out. What the language does
// along the last axis is done along another behind a transposition.
#pragma once

#include "onnx_graph.hpp"

namespace halftone::reference::tests {

/// Axes of which `axis` is the last.
inline Shape axes_with_last(std::size_t rank, std::size_t axis) {
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + axis, axes.begin() + axis + 1, axes.end());
  return axes;
}

/// The transposition that undoes `axes`.
inline Shape inverse_of(const Shape& axes) {
  Shape inverse(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) inverse[axes[d]] = static_cast<std::int64_t>(d);
  return inverse;
}

inline Value with_last(Graph& graph, const Value& x, std::size_t axis) {
  if (axis + 1 == x.shape.size()) return x;
  return graph.transpose(x, axes_with_last(x.shape.size(), axis));
}

/// with_last undone.
inline Value with_last_back(Graph& graph, const Value& x, std::size_t axis) {
  if (axis + 1 == x.shape.size()) return x;
  return graph.transpose(x, inverse_of(axes_with_last(x.shape.size(), axis)));
}

/// Elements begin to end - 1 of an axis.
inline Value slice_along(Graph& graph, const Value& x, std::size_t axis, std::int64_t begin,
                         std::int64_t end) {
  const Value turned = with_last(graph, x, axis);
  Shape shape = turned.shape;
  shape.back() = end - begin;
  const Value part =
      graph.layer("slice", {{"x", turned}},
                  "begin: " + std::to_string(begin) + ", end: " + std::to_string(end), shape);
  return with_last_back(graph, part, axis);
}

inline std::string run_transpose(const onnx::Vector& vector) {
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  Shape axes(x.shape.size());  // where none are stated: in reverse
  std::iota(axes.rbegin(), axes.rend(), 0);
  const auto& attributes = vector.nodes[0].attributes;
  if (const auto stated = attributes.find("perm"); stated != attributes.end())
    axes = stated->second.ints;
  graph.check(graph.transpose(x, axes), vector.outputs[0]);
  return "";
}

/// Reshape, Flatten, Squeeze and Unsqueeze.
inline std::string run_reshape(const onnx::Vector& vector) {
  if (vector.inputs[0].type != onnx::Type::f32) return "not f32";
  if (vector.inputs[0].values.empty()) return "has no elements";
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  graph.check(graph.reshape(x, vector.outputs[0].shape), vector.outputs[0]);
  return "";
}

inline std::string run_concat(const onnx::Vector& vector) {
  const std::size_t rank = vector.inputs[0].shape.size();
  const std::size_t axis =
      counted_from_front(attribute_or(vector.nodes[0], "axis", std::int64_t{0}), rank);
  Graph graph;
  std::vector<std::pair<std::string, Value>> parts;
  std::int64_t columns = 0;
  for (const onnx::Tensor& input : vector.inputs) {
    parts.emplace_back("part" + std::to_string(parts.size()),
                       with_last(graph, graph.input(input), axis));
    columns += input.shape[axis];
  }
  Shape shape = parts[0].second.shape;
  shape.back() = columns;
  graph.check(with_last_back(graph, graph.layer("concat", parts, "", shape), axis),
              vector.outputs[0]);
  return "";
}

inline std::string run_split(const onnx::Vector& vector) {
  const onnx::Tensor& x = vector.inputs[0];
  if (x.values.empty()) return "has no elements";
  const std::size_t axis =
      counted_from_front(attribute_or(vector.nodes[0], "axis", std::int64_t{0}), x.shape.size());
  std::int64_t begin = 0;
  for (const onnx::Tensor& part : vector.outputs) {
    Graph graph;
    const std::int64_t end = begin + part.shape[axis];
    graph.check(slice_along(graph, graph.input(x), axis, begin, end), part);
    begin = end;
  }
  CHECK(begin == x.shape[axis]);
  return "";
}

/// Inputs are x, starts, ends and, where they are not all axes in order and steps of 1, these.
inline std::string run_slice(const onnx::Vector& vector) {
  if (vector.outputs[0].values.empty()) return "has no elements";
  Graph graph;
  Value x = graph.input(vector.inputs[0]);
  for (std::size_t i = 0; i < vector.inputs[1].values.size(); ++i) {
    const auto at = [&](std::size_t input, double otherwise) {
      const bool is_given = vector.inputs.size() > input;
      return static_cast<std::int64_t>(is_given ? vector.inputs[input].values[i] : otherwise);
    };
    if (at(4, 1) != 1) return "steps backwards";
    const std::size_t axis = counted_from_front(at(3, static_cast<double>(i)), x.shape.size());
    const std::int64_t length = x.shape[axis];
    const auto place = [&](std::int64_t end) {
      return std::clamp<std::int64_t>(end < 0 ? end + length : end, 0, length);
    };
    x = slice_along(graph, x, axis, place(at(1, 0)), place(at(2, 0)));
  }
  graph.check(x, vector.outputs[0]);
  return "";
}

/// Rows of an embedding whose weight has the axis first.
inline std::string run_gather(const onnx::Vector& vector) {
  const onnx::Tensor &x = vector.inputs[0], &indices = vector.inputs[1];
  if (std::any_of(indices.values.begin(), indices.values.end(), [](double i) { return i < 0; }))
    return "counts indices from the end";
  const std::size_t rank = x.shape.size();
  const std::size_t axis =
      counted_from_front(attribute_or(vector.nodes[0], "axis", std::int64_t{0}), rank);
  Shape first(rank);
  std::iota(first.begin(), first.end(), 0);
  std::rotate(first.begin(), first.begin() + axis, first.begin() + axis + 1);
  Graph graph;
  Value y = graph.transpose(graph.input(x), first);
  const Shape others(y.shape.begin() + 1, y.shape.end());
  const Shape table = {x.shape[axis], elements_of(others)};
  // A weight is a parameter: the tensor as the transposition and the view leave it.
  const Judged weight = graph.judged(graph.reshape(y, table));
  Graph lookup;
  const Value token = lookup.integers(indices);
  Shape shape = indices.shape;
  shape.push_back(table[1]);
  y = lookup.layer("embedding",
                   {{"token", token}, {"weight", lookup.parameter(table, weight.exact)}}, "",
                   shape);
  shape = indices.shape;
  shape.insert(shape.end(), others.begin(), others.end());
  y = lookup.reshape(y, shape);
  Shape back(shape.size());  // the axes of the indices behind those before the gathered one
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin(), back.begin() + indices.shape.size(),
              back.begin() + indices.shape.size() + axis);
  lookup.check(lookup.transpose(y, back), vector.outputs[0]);
  return "";
}

/// Repeats what has one element along an axis; the new shape may ask for less than there is.
inline std::string run_expand(const onnx::Vector& vector) {
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  graph.check(graph.broadcast(x, vector.outputs[0].shape), vector.outputs[0]);
  return "";
}

inline std::string run_tile(const onnx::Vector& vector) {
  Graph graph;
  Value x = graph.input(vector.inputs[0]);
  for (std::size_t d = 0; d < x.shape.size(); ++d)
    x = graph.repeat(x, d, static_cast<std::int64_t>(vector.inputs[1].values[d]));
  graph.check(x, vector.outputs[0]);
  return "";
}

/// DepthToSpace whose channels are places of a block first, by views and a transposition.
inline std::string run_depth_first(const onnx::Vector& vector) {
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  const std::int64_t block = attribute_or(vector.nodes[0], "blocksize", std::int64_t{0});
  const Shape& of = x.shape;
  const Value apart =
      graph.reshape(x, {of[0], block, block, of[1] / (block * block), of[2], of[3]});
  graph.check(graph.reshape(graph.transpose(apart, {0, 3, 4, 1, 5, 2}), vector.outputs[0].shape),
              vector.outputs[0]);
  return "";
}

/// SpaceToDepth with channels that are places of a block first.
inline std::string run_space_first(const onnx::Vector& vector) {
  Graph graph;
  const Value x = graph.input(vector.inputs[0]);
  const std::int64_t block = attribute_or(vector.nodes[0], "blocksize", std::int64_t{0});
  const Shape& of = x.shape;
  const Value apart = graph.reshape(x, {of[0], of[1], of[2] / block, block, of[3] / block, block});
  graph.check(graph.reshape(graph.transpose(apart, {0, 3, 5, 1, 2, 4}), vector.outputs[0].shape),
              vector.outputs[0]);
  return "";
}

}  // namespace halftone::reference::tests
