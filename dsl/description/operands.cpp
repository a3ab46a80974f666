// SPDX-License-Identifier: Apache-2.0
// Which operands a kind takes (D1, D3) and which instructions an expression may hold (D28, D31).
#include <cmath>

#include "faults.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {

std::string subject(const Node& node) {
  return std::string(spelled(node.kind)) + " '%" + node.name + "'";
}

Roles roles_of(Kind kind) {
  switch (kind) {
    case Kind::input:
    case Kind::parameter:
    case Kind::state:
      return {};
    case Kind::linear:
      return {{"x", "weight", "bias"}, 3, 1, {}};
    case Kind::layer_norm:
      return {{"x", "weight", "bias"}, 3, 0, {}};
    case Kind::relu:
    case Kind::gelu:
    case Kind::silu:
      return {{"x"}, 1, 0, {}};
    case Kind::add:
      return {{"a", "b"}, 2, 0, {}};
    case Kind::concat:
      return {{}, 0, 0, "part"};
    case Kind::pointwise:
    case Kind::pointwise_loss:
      return {{}, 0, 0, "x"};
    case Kind::cross_entropy:
      return {{"logits", "label"}, 2, 0, {}};
    case Kind::mse:
      return {{"x", "target"}, 2, 0, {}};
  }
  return {};
}

std::string_view label_of(const Node& node) {
  switch (node.kind) {
    case Kind::input:
    case Kind::parameter:
    case Kind::state:
      return "D20";
    case Kind::linear:
      return "D21";
    case Kind::layer_norm:
      return "D22";
    case Kind::relu:
      return "D23";
    case Kind::gelu: {
      const auto* gelu = std::get_if<GeluAttributes>(&node.attributes);
      return gelu && gelu->approximation == GeluApproximation::tanh ? "D25" : "D24";
    }
    case Kind::silu:
      return "D32";
    case Kind::add:
      return "D26";
    case Kind::concat:
      return "D27";
    case Kind::pointwise:
      return "D28";
    case Kind::cross_entropy:
      return "D29";
    case Kind::mse:
      return "D30";
    case Kind::pointwise_loss:
      return "D31";
  }
  return "D20";
}

namespace {

std::string expected_role(const Roles& roles, std::size_t index) {
  if (!roles.repeated.empty()) return std::string(roles.repeated) + std::to_string(index);
  return index < roles.count ? std::string(roles.roles[index]) : "";
}

std::string role_list(const Roles& roles) {
  if (!roles.repeated.empty()) {
    const std::string stem(roles.repeated);
    return stem + "0, " + stem + "1, ...";
  }
  std::string list;
  for (std::size_t i = 0; i < roles.count; ++i) {
    list.append(i == 0 ? "" : ", ").append(roles.roles[i]);
    if (i + roles.optional >= roles.count) list += " (may be absent)";
  }
  return list.empty() ? "no operands" : list;
}

}  // namespace

Sentence operand_fault(const Description& description, const Node& node, std::size_t position) {
  const Roles roles = roles_of(node.kind);
  const std::size_t required = roles.repeated.empty() ? roles.count - roles.optional : 1;
  bool fits = node.operands.size() >= required;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::string expected = expected_role(roles, i);
    fits = fits && !expected.empty() && node.operands[i].role == expected;
  }
  if (!fits) {
    return subject(node) + " does not have the operands of its kind; give it " + role_list(roles) +
           ", in this order (D3)";
  }
  for (const Operand& operand : node.operands) {
    const auto id = static_cast<std::size_t>(operand.node);
    if (id < position && id < description.nodes.size()) continue;
    return subject(node) + " has an operand '" + operand.role +
           "' that does not stand before it; put every operand's node before its users (D1)";
  }
  return std::nullopt;
}

namespace {

bool is_condition(ScalarOp op) { return op >= ScalarOp::less && op <= ScalarOp::equal; }

/// Fields that an operation does not read must keep their defaults, or the text form would lose
/// them.
bool has_stray_fields(const ScalarInstruction& instruction) {
  const int used = instruction.op == ScalarOp::operand ? 1 : arity(instruction.op);
  return (used < 1 && instruction.a != 0) || (used < 2 && instruction.b != 0) ||
         (used < 3 && instruction.c != 0) ||
         (instruction.op != ScalarOp::constant && instruction.constant != 0.0);
}

Sentence instruction_fault(const Expression& expression, std::size_t index) {
  const ScalarInstruction& instruction = expression.instructions[index];
  const std::string where =
      "instruction %" + std::to_string(index) + " (" + std::string(spelled(instruction.op)) + ") ";
  if (has_stray_fields(instruction)) {
    return where + "sets a field that its operation does not read; leave it 0";
  }
  if (instruction.op == ScalarOp::operand) {
    if (instruction.a >= 0 && instruction.a < expression.arity) return std::nullopt;
    return where + "reads operand " + std::to_string(instruction.a) + " of " +
           std::to_string(expression.arity) + "; count operands from 0";
  }
  if (std::isnan(instruction.constant)) return where + "holds a NaN; use a number";
  const std::int32_t read[] = {instruction.a, instruction.b, instruction.c};
  for (int i = 0; i < arity(instruction.op); ++i) {
    if (read[i] < 0 || static_cast<std::size_t>(read[i]) >= index) {
      return where + "reads %" + std::to_string(read[i]) +
             ", which is not an earlier instruction; put it first";
    }
    const bool wanted = instruction.op == ScalarOp::select && i == 0;
    if (is_condition(expression.instructions[static_cast<std::size_t>(read[i])].op) != wanted) {
      return where + (wanted ? "needs a condition (less, less_equal or equal) as its first operand"
                             : "computes with a condition; conditions only steer select");
    }
  }
  return std::nullopt;
}

}  // namespace

Sentence expression_fault(const Expression& expression, std::size_t operands) {
  if (static_cast<std::size_t>(expression.arity) != operands) {
    return "its function takes " + std::to_string(expression.arity) + " values and it has " +
           std::to_string(operands) + " operands; make them equal";
  }
  if (expression.instructions.empty()) return "its function is empty; give it an instruction";
  for (std::size_t i = 0; i < expression.instructions.size(); ++i) {
    if (auto fault = instruction_fault(expression, i)) return fault;
  }
  if (is_condition(expression.instructions.back().op)) {
    return "its function ends in a condition; end it with a select";
  }
  return std::nullopt;
}

}  // namespace halftone::description::detail
