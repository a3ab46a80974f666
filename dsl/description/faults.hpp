// SPDX-License-Identifier: Apache-2.0
// What validate finds, with the statement at fault, so that parse can name its line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::description::detail {

enum class Section {
  model,
  node,
  output,
  loss,
  assignment,
  stages,
  rule,
  optimizer,
  clip,
  clip_group,
  clip_value,
  schedule,
  average
};
inline constexpr std::size_t kSections = 13;

struct Fault {
  Section section = Section::model;
  std::size_t index = 0;  ///< of the statement among those of its section
  NodeId node = -1;
  std::string message;
};

/// A sentence that says what is wrong, or nothing.
using Sentence = std::optional<std::string>;

std::optional<Fault> find_fault(const Description& description);

/// "linear '%fc1'"
std::string subject(const Node& node);

/// Whether its last operand is a sample_weight (D70).
bool is_weighted(const Node& node);
/// Of its operands without it.
std::size_t count_values(const Node& node);

/// The label of a kind's shape and formula, "D21".
std::string_view label_of(const Node& node);

/// What the node at `index` breaks of the rules that a node keeps by itself.
Sentence node_fault(const Description& description, std::size_t index);
/// What the operands of the node at `position` break of D3 and D1.
Sentence operand_fault(const Description& description, const Node& node, std::size_t position);
struct RuleFault {
  std::size_t index = 0;  ///< of the rule
  std::string message;
};
/// What the rules break of P40 to P43; expects nodes and losses without fault.
std::optional<RuleFault> rule_fault(const Description& description);
/// What the clip of a group breaks of D11.
Sentence clip_group_fault(const Description& description, std::size_t index);
/// What the optimizer, and the rules that hold its states, break of D11, P42, P86 and U18.
Sentence optimizer_fault(const Description& description);
/// What the stages, and the rules that speak of some, break of P66.
std::optional<Fault> stages_fault(const Description& description);
/// What an expression over `operands` values breaks, without its subject.
Sentence expression_fault(const Expression& expression, std::size_t operands);

struct InferredShape {
  std::optional<Shape> shape;
  std::string fault;  ///< why there is none; empty for sources
  std::vector<SizeLimit> limits;
};
/// Expects operands without fault.
InferredShape inferred_shape(const Description& description, const Node& node);

}  // namespace halftone::description::detail
