// SPDX-License-Identifier: Apache-2.0
// The shapes in the table of nodes of docs/spec/description.md.
#include <algorithm>
#include <limits>

#include "faults.hpp"
#include "halftone/description/validate.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

InferredShape refused(const Node& node, const std::string& reason) {
  return {std::nullopt, subject(node) + " " + reason + " (" + std::string(label_of(node)) + ")"};
}

const Shape& shape_of(const Description& description, const Node& node, std::size_t operand) {
  return description.nodes[static_cast<std::size_t>(node.operands[operand].node)].shape;
}

InferredShape linear_shape(const Description& description, const Node& node) {
  const Shape& x = shape_of(description, node, 0);
  const Shape& weight = shape_of(description, node, 1);
  if (x.empty()) return refused(node, "has a scalar x; give x at least one dimension");
  if (weight.size() != 2 || weight[1] != x.back()) {
    return refused(node, "has x " + spelled(x) + " and weight " + spelled(weight) +
                             "; make the weight [outputs, " + spelled(Shape{x.back()}).substr(1));
  }
  if (node.operands.size() > 2 && shape_of(description, node, 2) != Shape{weight[0]}) {
    return refused(node, "has bias " + spelled(shape_of(description, node, 2)) +
                             "; make the bias " + spelled(Shape{weight[0]}));
  }
  Shape result = x;
  result.back() = weight[0];
  return {result, {}};
}

InferredShape layer_norm_shape(const Description& description, const Node& node) {
  const Shape& x = shape_of(description, node, 0);
  if (x.empty()) return refused(node, "has a scalar x; give x at least one dimension");
  for (const std::size_t operand : {1, 2}) {
    const Shape& shape = shape_of(description, node, operand);
    if (shape != Shape{x.back()}) {
      return refused(node, "has " + node.operands[operand].role + " " + spelled(shape) + " for x " +
                               spelled(x) + "; make it " + spelled(Shape{x.back()}));
    }
  }
  return {x, {}};
}

/// All operands of one shape; `is_scalar` when the node is a mean over it.
InferredShape common_shape(const Description& description, const Node& node, bool is_scalar) {
  const Shape& first = shape_of(description, node, 0);
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    const Shape& shape = shape_of(description, node, i);
    if (shape != first) {
      return refused(node, "has " + node.operands[0].role + " " + spelled(first) + " and " +
                               node.operands[i].role + " " + spelled(shape) +
                               "; make their shapes equal");
    }
  }
  return {is_scalar ? Shape{} : first, {}};
}

InferredShape concat_shape(const Description& description, const Node& node) {
  Shape result = shape_of(description, node, 0);
  std::int64_t columns = 0;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Shape& part = shape_of(description, node, i);
    if (part.size() != result.size() || part.empty() ||
        !std::equal(part.begin(), part.end() - 1, result.begin())) {
      return refused(node, "joins " + spelled(result) + " and " + spelled(part) +
                               "; make all dimensions but the last equal");
    }
    if (!part.back().symbol.empty()) {
      return refused(node, "joins a last dimension '" + part.back().symbol +
                               "'; give the last dimension of every part a fixed size");
    }
    if (part.back().extent > std::numeric_limits<std::int64_t>::max() - columns) {
      return refused(node, "is wider than 64 bits can count; join fewer columns");
    }
    columns += part.back().extent;
  }
  result.back().extent = columns;
  return {result, {}};
}

InferredShape cross_entropy_shape(const Description& description, const Node& node) {
  const Shape& logits = shape_of(description, node, 0);
  const Shape& label = shape_of(description, node, 1);
  if (logits.empty()) return refused(node, "has scalar logits; give them a dimension of classes");
  const Shape rows(logits.begin(), logits.end() - 1);
  if (label != rows) {
    return refused(node, "has logits " + spelled(logits) + " and label " + spelled(label) +
                             "; make the label " + spelled(rows));
  }
  return {Shape{}, {}};
}

}  // namespace

InferredShape inferred_shape(const Description& description, const Node& node) {
  switch (node.kind) {
    case Kind::input:
    case Kind::parameter:
    case Kind::state:
      return {};
    case Kind::linear:
      return linear_shape(description, node);
    case Kind::layer_norm:
      return layer_norm_shape(description, node);
    case Kind::relu:
    case Kind::gelu:
    case Kind::silu:
    case Kind::add:
    case Kind::pointwise:
      return common_shape(description, node, false);
    case Kind::concat:
      return concat_shape(description, node);
    case Kind::cross_entropy:
      return cross_entropy_shape(description, node);
    case Kind::mse:
    case Kind::pointwise_loss:
      return common_shape(description, node, true);
  }
  return {};
}

}  // namespace halftone::description::detail

namespace halftone::description {

std::optional<Shape> infer_shape(const Description& description, const Node& node) {
  if (detail::operand_fault(description, node, description.nodes.size())) return std::nullopt;
  return detail::inferred_shape(description, node).shape;
}

}  // namespace halftone::description
