// SPDX-License-Identifier: Apache-2.0
// The rules D1 to D17, in an order that lets each rely on those before it.
#include "halftone/description/validate.hpp"

#include <algorithm>
#include <initializer_list>
#include <unordered_set>
#include <vector>

#include "faults.hpp"
#include "halftone/description/in_f32.hpp"
#include "halftone/encoding/text.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

/// "cross_entropy, mse or pointwise_loss"
std::string losses() {
  std::vector<std::string_view> words;
  for (const KindForm* form : AllKinds::forms) {
    if (form->category == Category::loss) words.push_back(form->word);
  }
  std::string list(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    list.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
  }
  return list;
}

/// Checks of the whole; each function leaves the first fault it finds.
class Checker {
 public:
  explicit Checker(const Description& description)
      : description_(description), nodes_(description.nodes), uses_(nodes_.size(), 0) {}

  std::optional<Fault> find() {
    const bool holds = check_nodes() && check_outputs() && check_losses() && check_kept() &&
                       check_assignments() && check_uses() && check_training() && check_stages() &&
                       check_rules() && check_optimizer();
    return holds ? std::nullopt : std::optional(fault_);
  }

 private:
  bool fail(Section section, std::size_t index, NodeId node, std::string message) {
    fault_ = {section, index, node, std::move(message)};
    return false;
  }

  bool is_node(NodeId id) const { return id >= 0 && static_cast<std::size_t>(id) < nodes_.size(); }

  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }

  bool check_nodes();
  bool check_outputs();
  bool check_losses();
  bool check_kept();
  bool check_assignments();
  bool check_uses();
  bool check_training();
  bool check_stages();
  bool check_rules();
  bool check_optimizer();

  const Description& description_;
  const std::vector<Node>& nodes_;
  std::vector<std::size_t> uses_;      // users, outputs, losses and assignments of each node
  std::vector<bool> depends_on_loss_;  // a loss node, or computed from one
  Fault fault_;
};

bool Checker::check_nodes() {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (auto fault = node_fault(description_, i)) return fail(Section::node, i, id, *fault);
    if (!names.insert(nodes_[i].name).second) {
      return fail(Section::node, i, id,
                  "two nodes are named '%" + nodes_[i].name + "'; rename one (D2)");
    }
    bool depends = is_loss(nodes_[i].kind);
    for (const Operand& operand : nodes_[i].operands) {
      const auto source = static_cast<std::size_t>(operand.node);
      ++uses_[source];
      if (is_loss(nodes_[i].kind) && depends_on_loss_[source]) {
        return fail(Section::node, i, id,
                    subject(nodes_[i]) +
                        " is computed from another loss; give each loss its own "
                        "values and let their weights add them up (D6)");
      }
      depends = depends || depends_on_loss_[source];
    }
    depends_on_loss_.push_back(depends);
  }
  const auto delivered = [](const Node& node) { return is_input(node.kind); };
  if (std::any_of(nodes_.begin(), nodes_.end(), delivered)) return true;
  return fail(Section::model, 0, -1,
              "the model " + quoted(description_.name) + " has no input; give it one (D4)");
}

bool Checker::check_outputs() {  // D6
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < description_.outputs.size(); ++i) {
    const Output& output = description_.outputs[i];
    const std::string subject = "the output " + quoted(output.name);
    if (!is_node(output.node)) {
      return fail(Section::output, i, -1, subject + " names no node; name one that exists (D6)");
    }
    if (output.name.empty() || !names.insert(output.name).second) {
      return fail(Section::output, i, output.node,
                  subject + " needs a name that no other output has; rename it (D6)");
    }
    if (holds_integers(node(output.node))) {
      return fail(Section::output, i, output.node,
                  subject + " is the " + std::string(spelled(node(output.node).format)) +
                      " input '%" + node(output.node).name +
                      "'; no output holds integers, so remove it (D6)");
    }
    ++uses_[static_cast<std::size_t>(output.node)];
  }
  return true;
}

bool Checker::check_losses() {  // D6
  std::vector<bool> named(nodes_.size(), false);
  for (std::size_t i = 0; i < description_.losses.size(); ++i) {
    const Loss& loss = description_.losses[i];
    if (!is_node(loss.node) || !is_loss(node(loss.node).kind)) {
      return fail(Section::loss, i, is_node(loss.node) ? loss.node : -1,
                  (is_node(loss.node) ? subject(node(loss.node)) : "a loss that names no node") +
                      " is no loss; name a " + losses() + " (D6)");
    }
    const std::string who = subject(node(loss.node));
    if (named[static_cast<std::size_t>(loss.node)]) {
      return fail(Section::loss, i, loss.node,
                  who + " is named as a loss twice; add the weights up in one (D6)");
    }
    if (!is_finite_in_f32(loss.weight)) {
      return fail(Section::loss, i, loss.node,
                  who + " has the weight " + spelled(loss.weight) + "; make it finite in f32 (D6)");
    }
    named[static_cast<std::size_t>(loss.node)] = true;
    ++uses_[static_cast<std::size_t>(loss.node)];
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_loss(nodes_[i].kind) || named[i]) continue;
    return fail(Section::node, i, static_cast<NodeId>(i),
                subject(nodes_[i]) + " is not named as a loss; add a loss statement for it (D6)");
  }
  return true;
}

bool Checker::check_kept() {  // D17
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    for (const Operand& operand : nodes_[i].operands) {
      if (!operand_form(form_of(nodes_[i].kind), operand.role).kept) continue;
      const auto refuse = [&](const std::string& message) {
        return fail(Section::node, i, id,
                    subject(nodes_[i]) + " keeps '%" + node(operand.node).name + "' as its " +
                        operand.role + message + " (D17)");
      };
      if (!is_state(node(operand.node).kind)) return refuse(", which is no state; name a state");
      const auto is_its = [&](const Assignment& one) { return one.state == operand.node; };
      if (uses_[static_cast<std::size_t>(operand.node)] > 1 ||
          std::any_of(description_.assignments.begin(), description_.assignments.end(), is_its))
        return refuse(", which something else reads or assigns; give it a state of its own");
    }
  }
  return true;
}

bool Checker::check_assignments() {  // D7
  std::vector<bool> assigned(nodes_.size(), false);
  for (std::size_t i = 0; i < description_.assignments.size(); ++i) {
    const auto [state, value] = description_.assignments[i];
    const auto refuse = [&](const std::string& message) {
      return fail(Section::assignment, i, is_node(state) ? state : -1, message + " (D7)");
    };
    if (!is_node(state) || !is_state(node(state).kind)) {
      return refuse((is_node(state) ? subject(node(state)) : "an assignment that names no node") +
                    " cannot be assigned to; name a state");
    }
    const std::string who = subject(node(state));
    if (!is_node(value)) return refuse(who + " is assigned no value; name one that exists");
    const std::string what = "'%" + node(value).name + "'";
    if (assigned[static_cast<std::size_t>(state)]) {
      return refuse(who + " is assigned twice; keep one assignment");
    }
    if (node(value).shape != node(state).shape) {
      return refuse(who + " of shape " + spelled(node(state).shape) + " is assigned " + what +
                    " of shape " + spelled(node(value).shape) + "; make their shapes equal");
    }
    if (holds_integers(node(value))) {
      return refuse(who + " is assigned the " + std::string(spelled(node(value).format)) +
                    " input " + what + "; assign a value that is computed");
    }
    if (depends_on_loss_[static_cast<std::size_t>(value)]) {
      return refuse(who + " is assigned " + what +
                    ", which depends on a loss; assign a value from before the losses");
    }
    assigned[static_cast<std::size_t>(state)] = true;
    ++uses_[static_cast<std::size_t>(value)];
  }
  return true;
}

bool Checker::check_uses() {  // D5
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (uses_[i] > 0) continue;
    return fail(Section::node, i, static_cast<NodeId>(i),
                subject(nodes_[i]) + " is never used; " +
                    (is_source(nodes_[i].kind) ? "give it a user or remove it"
                                               : "give it a user, make it an output or remove it") +
                    " (D5)");
  }
  return true;
}

bool Checker::check_training() {  // D9
  if (description_.losses.empty()) return true;
  for (const Node& node : nodes_) {
    const auto* parameter = std::get_if<ParameterAttributes>(&node.attributes);
    if (parameter && !parameter->frozen) return true;
  }
  return fail(Section::model, 0, -1,
              "the model " + quoted(description_.name) +
                  " has a loss and nothing to train; add a parameter that is not frozen (D9)");
}

bool Checker::check_stages() {
  auto fault = stages_fault(description_);
  return !fault || fail(fault->section, fault->index, -1, std::move(fault->message));
}

bool Checker::check_rules() {  // D10
  auto fault = rule_fault(description_);
  return !fault || fail(Section::rule, fault->index, -1, std::move(fault->message));
}

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

Sentence optimizer_fault(const auto& optimizer) { return setting_fault(optimizer); }
Sentence optimizer_fault(const Sgd& sgd) {
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

Sentence optimizer_fault(const Lamb& lamb) {
  if (Sentence fault = setting_fault(lamb)) return fault;
  if (!is_positive_in_f32(lamb.epsilon))
    return "the optimizer lamb has epsilon " + spelled(lamb.epsilon) +
           "; make it finite and positive in f32 (D11)";
  if (lamb.max_trust != 0 && !is_positive_in_f32(lamb.max_trust))
    return "the optimizer lamb has max_trust " + spelled(lamb.max_trust) +
           "; make it finite and positive in f32, or leave it out (D11)";
  return std::nullopt;
}

Sentence optimizer_fault(const Custom& custom) {
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

Sentence optimizer_fault(const Adafactor& adafactor) {
  if (Sentence fault = setting_fault(adafactor)) return fault;
  if (!is_positive_in_f32(adafactor.epsilon1 * adafactor.epsilon1))
    return "the optimizer adafactor has epsilon1 " + spelled(adafactor.epsilon1) +
           ", whose square it divides by; make that finite and positive in f32 (D11)";
  if (!is_positive_in_f32(adafactor.clip_threshold))
    return "the optimizer adafactor has clip_threshold " + spelled(adafactor.clip_threshold) +
           "; make it finite and positive in f32 (D11)";
  return std::nullopt;
}

/// Whether a rule holds the optimizer's states in another format than f32.
bool rounds_states(const Rule& rule) {
  return rule.store && rule.store->encoding != Encoding() &&
         std::ranges::any_of(rule.clauses, [](const Clause& clause) {
           return std::ranges::count(clause.roles, Role::optimizer_state) > 0;
         });
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

/// Of an optimizer under the rules for its states.
Sentence held_states_fault(const Description& description) {
  const Optimizer& optimizer = description.optimizer;
  for (const Rule& rule : description.rules) {
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

bool Checker::check_optimizer() {  // D11
  const auto fault = std::visit([](const auto& optimizer) { return optimizer_fault(optimizer); },
                                description_.optimizer);
  if (fault) return fail(Section::optimizer, 0, -1, *fault);
  if (const auto held = held_states_fault(description_))
    return fail(Section::optimizer, 0, -1, *held);
  if (std::holds_alternative<Adafactor>(description_.optimizer) &&
      !description_.clip_groups.empty())
    return fail(Section::optimizer, 0, -1,
                "the optimizer adafactor has a clip_group, but clips each parameter's step itself; "
                "write clip in its place (U18)");
  const double clip = description_.clip.value_or(1.0);
  if (!is_positive_in_f32(clip)) {
    return fail(Section::clip, 0, -1,
                "the clip norm is " + spelled(clip) + "; make it finite and positive in f32 (D11)");
  }
  for (std::size_t i = 0; i < description_.clip_groups.size(); ++i) {
    if (auto unsound = clip_group_fault(description_, i))
      return fail(Section::clip_group, i, -1, *unsound + " (D11)");
  }
  const double clip_value = description_.clip_value.value_or(1.0);
  if (!is_positive_in_f32(clip_value)) {
    return fail(
        Section::clip_value, 0, -1,
        "the clip value is " + spelled(clip_value) + "; make it finite and positive in f32 (D11)");
  }
  if (description_.schedule) {
    const auto unsound = expression_fault(*description_.schedule, 1);
    if (unsound) return fail(Section::schedule, 0, -1, "the schedule: " + *unsound + " (D11)");
  }
  if (!description_.average || is_fraction_in_f32(*description_.average)) return true;
  return fail(Section::average, 0, -1,
              "the averages keep a share of " + spelled(*description_.average) +
                  "; make it 0 or more and below 1 in f32 (D11)");
}

}  // namespace

std::optional<Fault> find_fault(const Description& description) {
  return Checker(description).find();
}

}  // namespace halftone::description::detail

namespace halftone::description {

std::optional<Violation> validate(const Description& description) {
  auto fault = detail::find_fault(description);
  if (!fault) return std::nullopt;
  return Violation{fault->node, std::move(fault->message)};
}

}  // namespace halftone::description
