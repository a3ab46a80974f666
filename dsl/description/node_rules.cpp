// SPDX-License-Identifier: Apache-2.0
// The rules that a node keeps by itself: D1 to D4, D8, D11 for its attributes, and its line in the
// table of nodes.
#include <algorithm>

#include "faults.hpp"
#include "halftone/description/in_f32.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {

bool is_finite_not_negative(double value) { return is_finite_in_f32(value) && value >= 0; }

namespace {

std::size_t attributes_of(Kind kind) {
  switch (kind) {
    case Kind::parameter:
      return Attributes(ParameterAttributes{}).index();
    case Kind::state:
      return Attributes(StateAttributes{}).index();
    case Kind::layer_norm:
      return Attributes(LayerNormAttributes{}).index();
    case Kind::gelu:
      return Attributes(GeluAttributes{}).index();
    case Kind::pointwise:
    case Kind::pointwise_loss:
      return Attributes(PointwiseAttributes{}).index();
    default:
      return Attributes(std::monostate{}).index();
  }
}

Sentence name_fault(const Node& node) {  // D2
  if (!node.name.empty() && std::all_of(node.name.begin(), node.name.end(), is_name_byte)) {
    return std::nullopt;
  }
  return "the " + std::string(spelled(node.kind)) + " named " + quoted(node.name) +
         " needs a name of letters, digits and _ . / - (D2)";
}

Sentence dimension_fault(const Node& node) {  // D4
  for (const Dimension& dimension : node.shape) {
    if (dimension.symbol.empty() && dimension.extent <= 0) {
      return subject(node) + " has a dimension of " + std::to_string(dimension.extent) +
             "; make every extent positive (D4)";
    }
    if (dimension.symbol.empty()) continue;
    if (dimension.extent != 0 || !is_symbol(dimension.symbol)) {
      return subject(node) + " has a dimension " + quoted(dimension.symbol) +
             "; a symbol is an identifier and has no extent of its own (D4)";
    }
    if (node.kind == Kind::parameter) {
      return subject(node) + " has a dimension '" + dimension.symbol +
             "'; give a parameter fixed extents (D4)";
    }
  }
  return std::nullopt;
}

Sentence format_fault(const Description& description, const Node& node) {  // D8
  if (node.kind == Kind::input && node.format == Format::tf32) {
    return subject(node) + " is delivered in tf32, which is not stored; use f32 (D8)";
  }
  if (node.kind != Kind::input && node.format != Format::f32) {
    return subject(node) + " states the format " + std::string(spelled(node.format)) +
           "; leave it f32 and state formats in rules (D8)";
  }
  for (const Operand& operand : node.operands) {
    const Node& source = description.nodes[static_cast<std::size_t>(operand.node)];
    const bool is_label = node.kind == Kind::cross_entropy && operand.role == "label";
    if (is_label && source.format != Format::i32) {
      return subject(node) + " has the label '%" + source.name +
             "', which is not i32; use an input of format i32 (D8)";
    }
    if (!is_label && source.format == Format::i32) {
      return subject(node) + " computes with the i32 input '%" + source.name +
             "'; only labels are i32 (D8)";
    }
  }
  return std::nullopt;
}

Sentence parameter_fault(const Node& node, const ParameterAttributes& attributes) {
  const Initializer& initializer = attributes.initializer;
  if (initializer.kind == Initializer::Kind::constant && initializer.second != 0) {
    return subject(node) + " has a constant initializer with a second number, " +
           spelled(initializer.second) + "; leave it 0 (D20)";
  }
  if (!is_finite_in_f32(initializer.first) || !is_finite_in_f32(initializer.second) ||
      (initializer.kind == Initializer::Kind::uniform && initializer.first > initializer.second) ||
      (initializer.kind == Initializer::Kind::normal && initializer.second < 0)) {
    return subject(node) + " has an initializer " + std::string(spelled(initializer.kind)) +
           " of " + spelled(initializer.first) + " and " + spelled(initializer.second) +
           "; use numbers finite in f32, ends in order and a deviation that is not negative (D20)";
  }
  if (!is_finite_not_negative(attributes.learning_rate_scale)) {
    return subject(node) + " has a learning-rate scale of " +
           spelled(attributes.learning_rate_scale) +
           "; make it finite in f32 and not negative (D11)";
  }
  return std::nullopt;
}

Sentence attribute_fault(const Node& node) {
  if (node.attributes.index() != attributes_of(node.kind)) {
    return subject(node) + " has the attributes of another kind; give it its own (" +
           std::string(label_of(node)) + ")";
  }
  if (const auto* parameter = std::get_if<ParameterAttributes>(&node.attributes)) {
    return parameter_fault(node, *parameter);
  }
  const auto* state = std::get_if<StateAttributes>(&node.attributes);
  if (state && !is_finite_in_f32(state->initial)) {
    return subject(node) + " starts at " + spelled(state->initial) +
           "; give it an initial value that is finite in f32 (D20)";
  }
  const auto* norm = std::get_if<LayerNormAttributes>(&node.attributes);
  if (norm && !is_finite_not_negative(norm->epsilon)) {
    return subject(node) + " has an epsilon of " + spelled(norm->epsilon) +
           "; make it finite in f32 and not negative (D11)";
  }
  if (const auto* pointwise = std::get_if<PointwiseAttributes>(&node.attributes)) {
    if (const auto fault = expression_fault(pointwise->expression, node.operands.size())) {
      return subject(node) + ": " + *fault + " (" + std::string(label_of(node)) + ")";
    }
  }
  return std::nullopt;
}

Sentence shape_fault(const Description& description, const Node& node) {
  const InferredShape inferred = inferred_shape(description, node);
  if (!inferred.shape) {
    return inferred.fault.empty() ? std::nullopt : Sentence(inferred.fault);
  }
  if (*inferred.shape == node.shape) return std::nullopt;
  return subject(node) + " states the shape " + spelled(node.shape) + " but its operands give " +
         spelled(*inferred.shape) + "; state that (" + std::string(label_of(node)) + ")";
}

}  // namespace

Sentence node_fault(const Description& description, std::size_t index) {
  const Node& node = description.nodes[index];
  if (auto fault = name_fault(node)) return fault;
  if (auto fault = operand_fault(description, node, index)) return fault;
  if (auto fault = dimension_fault(node)) return fault;
  if (auto fault = attribute_fault(node)) return fault;
  if (auto fault = format_fault(description, node)) return fault;
  return shape_fault(description, node);
}

}  // namespace halftone::description::detail
