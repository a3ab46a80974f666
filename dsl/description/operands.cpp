// SPDX-License-Identifier: Apache-2.0
// Which operands a kind takes (D1, D3) and which instructions an expression may hold (D28, D31).
#include <algorithm>
#include <cmath>

#include "faults.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {

std::string subject(const Node& node) {
  return std::string(spelled(node.kind)) + " '%" + node.name + "'";
}

bool is_weighted(const Node& node) {
  const Table<OperandForm>& forms = form_of(node.kind).operands;
  return forms.size > 0 && forms[forms.size - 1].weighs && !node.operands.empty() &&
         node.operands.back().role == forms[forms.size - 1].role;
}

std::size_t count_values(const Node& node) {
  return node.operands.size() - (is_weighted(node) ? 1 : 0);
}

std::string_view label_of(const Node& node) {
  const KindForm& form = form_of(node.kind);
  const auto* attributes = std::get_if<LayerAttributes>(&node.attributes);
  if (!attributes) return form.label;
  for (const SettingForm& expected : form.settings) {
    for (const Setting& setting : attributes->settings) {
      const auto* word = std::get_if<std::string>(&setting.value);
      if (expected.labels.size == 0 || setting.name != expected.name || !word) continue;
      for (int w = 0; w < expected.words.size; ++w) {
        if (*word == expected.words[w]) return expected.labels[w];
      }
    }
  }
  return form.label;
}

namespace {

/// x0, x1, ..., and what weighs behind them.
bool repeat_well(const Node& node, const std::string& role) {
  const std::size_t values = count_values(node);
  for (std::size_t i = 0; i < values; ++i) {
    if (node.operands[i].role != role + std::to_string(i)) return false;
  }
  return values > 0;
}

/// Each role once, in order; optional ones may be absent.
bool stand_in_order(const Node& node, const Table<OperandForm>& forms) {
  int next = 0;
  const auto skip_to = [&](std::string_view role) {
    while (next < forms.size && forms[next].role != role && forms[next].optional) ++next;
    return next < forms.size && forms[next].role == role;
  };
  for (const Operand& operand : node.operands) {
    if (!skip_to(operand.role)) return false;
    ++next;
  }
  return std::all_of(forms.begin() + next, forms.end(),
                     [](const OperandForm& form) { return form.optional; });
}

std::string role_list(const Table<OperandForm>& operands) {
  std::string list;
  for (const OperandForm& operand : operands) {
    const std::string role(operand.role);
    list.append(list.empty() ? "" : ", ").append(role);
    if (operand.repeated) list.append("0, ").append(role).append("1, ...");
    if (operand.optional) list += " (may be absent)";
  }
  return list.empty() ? "no operands" : list;
}

}  // namespace

Sentence operand_fault(const Description& description, const Node& node, std::size_t position) {
  const Table<OperandForm>& roles = form_of(node.kind).operands;
  const bool repeats = roles.size > 0 && roles[0].repeated;
  const bool fits = repeats ? repeat_well(node, roles[0].role) : stand_in_order(node, roles);
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
