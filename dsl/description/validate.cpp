// SPDX-License-Identifier: Apache-2.0
// The rules D1 to D17 and D116, in an order that lets each rely on those before it.
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
    const bool holds = check_nodes() && check_outputs() && check_losses() && check_limits() &&
                       check_kept() && check_assignments() && check_uses() && check_training() &&
                       check_stages() && check_rules() && check_optimizer();
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
  bool check_limits();
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

bool Checker::check_limits() {  // D116
  const std::vector<SizeLimit> limits = size_limits(description_);
  for (const SizeLimit& low : limits) {
    for (const SizeLimit& high : limits) {
      if (low.symbol != high.symbol || low.least <= high.most) continue;
      const auto of = std::find_if(nodes_.begin(), nodes_.end(),
                                   [&](const Node& node) { return node.name == high.node; });
      const auto index = static_cast<std::size_t>(of - nodes_.begin());
      return fail(Section::node, index, static_cast<NodeId>(index),
                  subject(*of) + " " + high.reason + ", which wants '" + high.symbol + "' to be " +
                      std::to_string(high.most) + " or less, but '%" + low.node + "' " +
                      low.reason + ", which wants " + std::to_string(low.least) +
                      " or more; give one of them a number, or another symbol (D116)");
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

bool Checker::check_optimizer() {  // D11
  if (const auto fault = optimizer_fault(description_))
    return fail(Section::optimizer, 0, -1, *fault);
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
