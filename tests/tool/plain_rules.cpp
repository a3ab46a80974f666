// SPDX-License-Identifier: Apache-2.0
#include "plain_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "halftone/encoding/traits.hpp"

namespace halftone::tests {

using namespace halftone::description;

namespace {

/// P3
bool is_of_class(Kind kind, LayerClass layer_class) {
  switch (layer_class) {
    case LayerClass::contraction:
      return kind == kind_called("linear") || kind == kind_called("matmul") ||
             kind == kind_called("attention") || kind == kind_called("causal_conv1d") ||
             kind == kind_called("convolution") || kind == kind_called("transposed_convolution");
    case LayerClass::normalization:
      return kind == kind_called("layer_norm") || kind == kind_called("rms_norm");
    case LayerClass::softmax:
      return kind == kind_called("cross_entropy") || kind == kind_called("softmax");
    case LayerClass::activation_function:
      return kind == kind_called("relu") || kind == kind_called("gelu") ||
             kind == kind_called("silu");
    case LayerClass::elementwise:
      return kind == kind_called("dropout") || kind == kind_called("add") ||
             kind == kind_called("concat") || kind == kind_called("pointwise") ||
             kind == kind_called("reshape") || kind == kind_called("transpose") ||
             kind == kind_called("pool") || kind == kind_called("upsample");
    case LayerClass::loss:
      return kind == kind_called("cross_entropy") || kind == kind_called("mse") ||
             kind == kind_called("pointwise_loss");
  }
  return false;
}

bool matches(const Rule& rule, Kind kind) {
  if (rule.result || rule.rounding || rule.recompute) throw std::runtime_error("not a plain rule");
  for (const Clause& clause : rule.clauses) {
    if (clause.layer || !clause.ops.empty() || !clause.roles.empty() || !clause.passes.empty() ||
        !clause.targets.empty()) {
      throw std::runtime_error("not a plain rule");
    }
    for (const LayerClass layer_class : clause.classes) {
      if (is_of_class(kind, layer_class)) return true;
    }
  }
  return rule.clauses.empty();
}

/// P4
Element last(const std::vector<Rule>& rules, Kind kind,
             std::optional<EncodingChoice> Rule::*field) {
  Element format = Element::f32;
  for (const Rule& rule : rules) {
    if (!matches(rule, kind) || !(rule.*field)) continue;
    if ((rule.*field)->follow) throw std::runtime_error("not a plain rule");
    format = (rule.*field)->encoding.element;
  }
  return format;
}

}  // namespace

PlainModel::PlainModel(Description description)
    : description_(std::move(description)),
      learns_(description_.nodes.size()),
      is_used_(description_.nodes.size()) {
  const auto at = [](NodeId id) { return static_cast<std::size_t>(id); };
  for (std::size_t id = 0; id < nodes().size(); ++id) {
    if (nodes()[id].kind == kind_called("parameter"))
      learns_[id] = is_trained(static_cast<NodeId>(id));
    if (wants_gradient(nodes()[id])) learns_[id] = true;
    for (const Operand& operand : nodes()[id].operands) {
      if (learns_[at(operand.node)]) learns_[id] = true;
    }
  }
  for (std::size_t id = nodes().size(); id-- > 0;) {
    if (is_loss(nodes()[id].kind)) is_used_[id] = true;
    for (const Operand& operand : nodes()[id].operands) {
      if (is_used_[id]) is_used_[at(operand.node)] = true;
    }
  }
}

Element PlainModel::store(NodeId layer) const {
  return last(description_.rules, nodes()[static_cast<std::size_t>(layer)].kind, &Rule::store);
}

Element PlainModel::compute(NodeId layer) const {
  return last(description_.rules, nodes()[static_cast<std::size_t>(layer)].kind, &Rule::compute);
}

bool PlainModel::is_loss(Kind kind) { return is_of_class(kind, LayerClass::loss); }

bool PlainModel::is_layer(Kind kind) {
  return kind != kind_called("input") && kind != kind_called("parameter") &&
         kind != kind_called("state") && !is_loss(kind);
}

bool PlainModel::is_trained(NodeId parameter) const {
  const Node& node = nodes()[static_cast<std::size_t>(parameter)];
  return !std::get<ParameterAttributes>(node.attributes).frozen;
}

bool PlainModel::has_gradient(NodeId layer) const {
  const auto id = static_cast<std::size_t>(layer);
  return is_layer(nodes()[id].kind) && learns_[id] && is_used_[id];
}

std::vector<NodeId> PlainModel::operands(NodeId node) const {
  std::vector<NodeId> result;
  for (const Operand& operand : nodes()[static_cast<std::size_t>(node)].operands) {
    const Node& read = nodes()[static_cast<std::size_t>(operand.node)];
    const bool is_label = is_counted(description_, operand.node);
    if (read.kind != kind_called("parameter") && !is_label) result.push_back(operand.node);
  }
  return result;
}

std::vector<NodeId> PlainModel::parameters(NodeId node) const {
  std::vector<NodeId> result;
  for (const Operand& operand : nodes()[static_cast<std::size_t>(node)].operands) {
    if (nodes()[static_cast<std::size_t>(operand.node)].kind == kind_called("parameter")) {
      result.push_back(operand.node);
    }
  }
  return result;
}

std::int64_t PlainModel::bytes(NodeId node, Element format, std::int64_t symbol) const {
  std::int64_t bytes = format == Element::f16 || format == Element::bf16 ? 2 : 4;
  for (const Dimension& dimension : nodes()[static_cast<std::size_t>(node)].shape) {
    bytes *= dimension.symbol.empty() ? dimension.extent : dimension.factor * symbol;
  }
  return bytes;
}

const char* word(Element format) { return encoding::word(format); }

}  // namespace halftone::tests
