// SPDX-License-Identifier: Apache-2.0
// What an optimizer breaks of D11, and beside the rules that hold its states of P42, P86 and U18.
#include <algorithm>
#include <ranges>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "faults.hpp"
#include "halftone/description/in_f32.hpp"
#include "halftone/encoding/text.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

/// D11, of each setting alone.
template <class Optimizer>
Sentence setting_fault(const Optimizer& optimizer) {
  for (const auto& setting : Optimizer::settings) {
    if (setting.number == nullptr) continue;
    const double value = optimizer.*setting.number;
    if (setting.below_one ? is_fraction_in_f32(value) : is_not_negative_in_f32(value)) continue;
    return "the optimizer " + std::string(Optimizer::word) + " has " + setting.word + " " +
           spelled(value) + "; make it finite, not negative" +
           (setting.below_one ? " and below 1" : "") + " in f32 (D11)";
  }
  return std::nullopt;
}

Sentence settings_fault(const auto& optimizer) { return setting_fault(optimizer); }
Sentence settings_fault(const Sgd& sgd) {
  if (Sentence fault = setting_fault(sgd)) return fault;
  const bool moves = is_positive_in_f32(sgd.momentum);
  if (sgd.nesterov && !moves)
    return "the optimizer sgd has nesterov without momentum; give it a momentum above 0 (D11)";
  if (sgd.dampening == 0) return std::nullopt;
  if (!moves)
    return "the optimizer sgd has dampening without momentum; give it a momentum above 0 (D11)";
  if (sgd.nesterov) return "the optimizer sgd has nesterov and dampening; leave one out (D11)";
  return std::nullopt;
}

Sentence settings_fault(const Lamb& lamb) {
  if (Sentence fault = setting_fault(lamb)) return fault;
  if (!is_positive_in_f32(lamb.epsilon))
    return "the optimizer lamb has epsilon " + spelled(lamb.epsilon) +
           "; make it finite and positive in f32 (D11)";
  if (lamb.max_trust != 0 && !is_positive_in_f32(lamb.max_trust))
    return "the optimizer lamb has max_trust " + spelled(lamb.max_trust) +
           "; make it finite and positive in f32, or leave it out (D11)";
  return std::nullopt;
}

Sentence settings_fault(const Custom& custom) {
  if (Sentence fault = setting_fault(custom)) return fault;
  const std::size_t operands = kCustomOperands + custom.states.size();
  if (custom.states.size() > kMostCustomStates)
    return "the optimizer custom has " + std::to_string(custom.states.size()) +
           " states; leave it " + std::to_string(kMostCustomStates) + " or fewer (D11)";
  if (Sentence fault = expression_fault(custom.parameter, operands))
    return "the optimizer's new parameter: " + *fault + " (D11)";
  std::unordered_set<std::string_view> names{spelled(kParameterKind)};
  for (const Custom::State& state : custom.states) {
    if (!is_symbol(state.name) || !names.insert(state.name).second)
      return "the optimizer custom has a state " + quoted(state.name) +
             "; give each a name of its own of letters, digits and _, not 'parameter' (D11)";
    if (Sentence fault = expression_fault(state.next, operands))
      return "the optimizer's state " + quoted(state.name) + ": " + *fault + " (D11)";
  }
  return std::nullopt;
}

Sentence settings_fault(const Adafactor& adafactor) {
  if (Sentence fault = setting_fault(adafactor)) return fault;
  if (!is_positive_in_f32(adafactor.epsilon1 * adafactor.epsilon1))
    return "the optimizer adafactor has epsilon1 " + spelled(adafactor.epsilon1) +
           ", whose square it divides by; make that finite and positive in f32 (D11)";
  if (!is_positive_in_f32(adafactor.clip_threshold))
    return "the optimizer adafactor has clip_threshold " + spelled(adafactor.clip_threshold) +
           "; make it finite and positive in f32 (D11)";
  return std::nullopt;
}

bool speaks_of_states(const Rule& rule) {
  return std::ranges::any_of(rule.clauses, [](const Clause& clause) {
    return std::ranges::count(clause.roles, Role::optimizer_state) > 0;
  });
}

/// Whether a rule holds the optimizer's states in another format than f32.
bool rounds_states(const Rule& rule) {
  return rule.store && rule.store->encoding != Encoding() && speaks_of_states(rule);
}

/// Whether a rule holds the optimizer's states, and nothing else, in some format or place.
bool is_of_states_alone(const Rule& rule) {
  const std::vector<Role> states = {Role::optimizer_state};
  return (rule.store || rule.place) && !rule.if_any && !rule.clauses.empty() &&
         std::ranges::all_of(rule.clauses,
                             [&](const Clause& clause) { return clause.roles == states; });
}

/// P68
bool keeps_states(const Optimizer& optimizer) {
  const auto* sgd = std::get_if<Sgd>(&optimizer);
  const auto* custom = std::get_if<Custom>(&optimizer);
  return sgd != nullptr ? sgd->momentum != 0 : custom == nullptr || !custom->states.empty();
}

/// P86: what pads a block has a gradient and a parameter of 0, and states that stay 0.
Sentence fault_in_blocks(const auto& optimizer) {
  if constexpr (requires { optimizer.initial_accumulator_value; }) {
    if (optimizer.initial_accumulator_value != 0)
      return "the optimizer adagrad has initial_accumulator_value " +
             spelled(optimizer.initial_accumulator_value) +
             ", but states in blocks begin at 0; leave it out, or store bf16 (P86)";
  }
  if constexpr (requires { optimizer.epsilon; }) {
    if (!is_positive_in_f32(optimizer.epsilon))
      return "the optimizer has epsilon " + spelled(optimizer.epsilon) +
             " and states in blocks, whose padding that makes NaN; make it positive (P86)";
  }
  return std::nullopt;
}
Sentence fault_in_blocks(const Custom&) {
  return "the optimizer custom has states in blocks, whose padding must stay 0, which nobody knows "
         "of a function of yours; store f32, f16 or bf16 (P86)";
}

/// Of a rule about the optimizer's states.
bool is_of_all_targets(const Rule& rule) {
  return rule.exceptions.empty() && std::ranges::all_of(rule.clauses, [](const Clause& clause) {
           return clause.targets.empty();
         });
}
/// P91: the rule that places the states in the host's memory on some target; null where there is
/// none, or a later one has them on the device.
const Rule* placing_in_host(const Description& description) {
  for (const Rule& rule : std::views::reverse(description.rules)) {
    if (!speaks_of_states(rule)) continue;
    if (rule.place == Memory::host) return &rule;
    if (rule.place && is_of_all_targets(rule)) return nullptr;
  }
  return nullptr;
}
bool draws_states(const Rule& rule) {
  return rounds_states(rule) && rule.rounding == Rounding::stochastic;
}

/// P91: an update in parts knows neither sums over parameters nor an element's place among all.
Sentence placed_states_fault(const Description& description) {
  const Rule* const host = placing_in_host(description);
  if (host == nullptr) return std::nullopt;
  const std::string places =
      ", but the rule " + quoted(spelled(*host)) + " places them in the host's memory";
  if (std::holds_alternative<Adafactor>(description.optimizer))
    return "the optimizer adafactor has few states" + places + "; leave that rule out (P91)";
  if (std::holds_alternative<Lamb>(description.optimizer))
    return "the optimizer lamb reads its states twice" + places +
           "; use another optimizer, as adamw, or leave that rule out (P91)";
  if (std::ranges::any_of(description.rules, draws_states))
    return "a rule rounds the optimizer's states stochastically" + places +
           ", from where parts of them come; round them to the nearest, or leave that rule out "
           "(P91)";
  return std::nullopt;
}

/// Of an optimizer under the rules for its states.
Sentence held_states_fault(const Description& description) {
  const Optimizer& optimizer = description.optimizer;
  for (const Rule& rule : description.rules) {
    const bool places_averages = rule.place && !rule.store && description.average;  // P91
    if (!keeps_states(optimizer) && !places_averages && is_of_states_alone(rule))
      return std::string("the optimizer ") +
             (std::holds_alternative<Sgd>(optimizer) ? "sgd without momentum"
                                                     : "custom without states") +
             " keeps no states, but the rule " + quoted(spelled(rule)) +
             (rule.store ? " stores" : " places") +
             " them; leave that rule out, or write if_any in it (P42)";
    if (!rounds_states(rule)) continue;
    if (std::holds_alternative<Adafactor>(optimizer))
      return "the optimizer adafactor keeps f32, of which it has little, but a rule stores role "
             "optimizer_state in " +
             encoding::spelled(rule.store->encoding) + "; leave that rule out (U18)";
    if (!encoding::is_scaled(rule.store->encoding)) continue;
    if (Sentence fault = std::visit([](const auto& is) { return fault_in_blocks(is); }, optimizer))
      return fault;
  }
  return std::nullopt;
}

}  // namespace

Sentence optimizer_fault(const Description& description) {
  const Optimizer& optimizer = description.optimizer;
  if (Sentence fault = std::visit([](const auto& is) { return settings_fault(is); }, optimizer))
    return fault;
  if (Sentence fault = held_states_fault(description)) return fault;
  if (Sentence fault = placed_states_fault(description)) return fault;
  if (std::holds_alternative<Adafactor>(optimizer) && !description.clip_groups.empty())
    return "the optimizer adafactor has a clip_group, but clips each parameter's step itself; "
           "write clip in its place (U18)";
  return std::nullopt;
}

}  // namespace halftone::description::detail
