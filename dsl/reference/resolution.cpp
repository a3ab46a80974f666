// SPDX-License-Identifier: Apache-2.0
// Who a rule speaks of (P3, P5, P6, P18, P19), which rule wins (P4), and what `follow` follows
// (P20).
#include "halftone/reference/resolution.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

#include "halftone/description/glob.hpp"
#include "node_kinds.hpp"

namespace halftone::reference {
namespace {

using namespace description;

// What a field belongs to, as the parts of a clause see it.
struct Subject {
  std::vector<std::string_view> names;  // a glob fits when it fits one of them
  std::vector<Kind> kinds;              // a class or op fits when it fits one of them
  std::optional<Role> role;
  std::optional<Pass> pass;
  bool without_role = true;  // whether a clause that states no role speaks of it
  NodeId node = -1;          // of the layer, the loss or the parameter
};

template <class Value>
bool contains(const std::vector<Value>& values, const Value& value) {
  return std::ranges::find(values, value) != values.end();
}

// The number of a chip such as sm_90a, or -1 for the cpu.
int number_of(std::string_view chip) {
  int number = -1;
  for (const char c : chip) {
    if (c >= '0' && c <= '9') number = std::max(number, 0) * 10 + (c - '0');
  }
  return number;
}

bool is_target(const TargetRange& range, std::string_view target) {  // P3
  const int mine = number_of(target), theirs = number_of(range.chip);
  switch (range.relation) {
    case TargetRange::Relation::is:
      return target == range.chip;
    case TargetRange::Relation::before:
      return mine >= 0 && mine < theirs;
    case TargetRange::Relation::from:
      return mine >= theirs && theirs >= 0;
  }
  return false;
}

// P60: the layers that a bound on contractions is asked of.
std::vector<NodeId> readers(const Description& description, NodeId of) {
  if (!is_parameter(description.nodes[of])) return {of};
  std::vector<NodeId> found;
  for (std::size_t id = 0; id < description.nodes.size(); ++id) {
    for (const Operand& operand : description.nodes[id].operands) {
      if (operand.node == of) found.push_back(static_cast<NodeId>(id));
    }
  }
  return found;
}

// Contractions in front of the node, or behind it; nothing for a node that is none itself.
std::optional<std::ptrdiff_t> contractions_beside(const Description& description, NodeId node,
                                                  bool behind) {
  const auto multiplies = [](const Node& is) {
    return belongs_to(is.kind, LayerClass::contraction);
  };
  const auto at = description.nodes.begin() + node;
  if (!multiplies(*at)) return std::nullopt;
  return behind ? std::count_if(at + 1, description.nodes.end(), multiplies)
                : std::count_if(description.nodes.begin(), at, multiplies);
}

// The first component of a name that is a number.
std::optional<std::int64_t> copy_of(const std::string& name) {
  std::istringstream components(name);
  for (std::string component; std::getline(components, component, '/');) {
    if (!component.empty() &&
        std::ranges::all_of(component, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return std::stoll(component);
    }
  }
  return std::nullopt;
}

// P60: the elements of a parameter, or of the largest one that a layer reads.
std::optional<std::int64_t> weight_elements(const Description& description, NodeId id) {
  const Node& node = description.nodes[id];
  if (is_parameter(node)) {
    std::int64_t elements = 1;
    for (const Dimension& dimension : node.shape) elements *= dimension.extent;
    return elements;
  }
  std::optional<std::int64_t> most;
  for (const Operand& operand : node.operands) {
    if (!is_parameter(description.nodes[operand.node])) continue;
    most = std::max(most.value_or(0), *weight_elements(description, operand.node));
  }
  return most;
}

bool is_within(const Bounds& bounds, const Description& description, NodeId node) {  // P60
  if (bounds == Bounds{}) return true;
  if (node < 0) return false;
  const auto reaches = [&](std::int64_t count, bool behind) {
    return std::ranges::any_of(readers(description, node), [&](NodeId layer) {
      const auto beside = contractions_beside(description, layer, behind);
      return beside && *beside < count;
    });
  };
  if (bounds.first != 0 && !reaches(bounds.first, false)) return false;
  if (bounds.last != 0 && !reaches(bounds.last, true)) return false;
  if (bounds.depth_end != 0) {
    const auto copy = copy_of(description.nodes[node].name);
    if (!copy || *copy < bounds.depth_from || *copy >= bounds.depth_end) return false;
  }
  if (bounds.at_least == 0 && bounds.smaller_than == 0) return true;
  const auto elements = weight_elements(description, node);
  return elements && *elements >= bounds.at_least &&
         (bounds.smaller_than == 0 || *elements < bounds.smaller_than);
}

// What rules are asked for: a target and a stage.
struct Asked {
  std::string_view target, stage;
};

// P3: every part that is stated fits. P61: P19 is no matter of exceptions.
bool matches(const Description& description, const Clause& clause, const Subject& subject,
             const Asked& asked, bool is_exception = false) {
  const auto fits_name = [&](std::string_view name) { return glob_matches(*clause.layer, name); };
  const auto fits_class = [&](LayerClass layer_class) {
    return std::ranges::any_of(subject.kinds,
                               [&](Kind kind) { return belongs_to(kind, layer_class); });
  };
  const auto fits_op = [&](Kind kind) { return contains(subject.kinds, kind); };
  const auto fits_target = [&](const TargetRange& range) { return is_target(range, asked.target); };
  if (clause.layer && std::ranges::none_of(subject.names, fits_name)) return false;
  if (!clause.classes.empty() && std::ranges::none_of(clause.classes, fits_class)) return false;
  if (!clause.ops.empty() && std::ranges::none_of(clause.ops, fits_op)) return false;
  if (clause.roles.empty() && !subject.without_role && !is_exception) return false;
  if (!is_within(clause.bounds, description, subject.node)) return false;
  if (!clause.roles.empty() && !(subject.role && contains(clause.roles, *subject.role))) {
    return false;
  }
  if (!clause.passes.empty() && !(subject.pass && contains(clause.passes, *subject.pass))) {
    return false;
  }
  if (!clause.stages.empty() && !contains(clause.stages, std::string(asked.stage))) return false;
  return clause.targets.empty() || std::ranges::any_of(clause.targets, fits_target);
}

// P4: what the last rule that matches and states the field states.
template <class Field>
std::optional<Field> winner(const Description& description, const Asked& asked,
                            const Subject& subject, std::optional<Field> Rule::*field) {
  const auto speaks_of = [&](const Clause& clause) {
    return matches(description, clause, subject, asked);
  };
  const auto excepts = [&](const Clause& clause) {
    return matches(description, clause, subject, asked, true);
  };
  std::optional<Field> stated;
  for (const Rule& rule : description.rules) {
    const bool fits =
        rule.clauses.empty() ? speaks_of(Clause{}) : std::ranges::any_of(rule.clauses, speaks_of);
    if (fits && rule.*field && std::ranges::none_of(rule.exceptions, excepts)) {
      stated = rule.*field;
    }
  }
  return stated;
}

// P1; the role is that of an operand (P18), absent for fields that have none.
Subject operation(const Description& description, NodeId id, Pass pass,
                  std::optional<Role> role = {}) {
  const Node& node = description.nodes[id];
  return {{node.name}, {node.kind}, role, pass, true, id};
}

// P5
Subject parameter(const Description& description, NodeId id, Role role) {
  const std::string_view name = description.nodes[id].name;
  Subject subject{{name}, {}, role, {}, false, id};
  const std::size_t part = name.rfind('.'), component = name.rfind('/');
  if (part != name.npos && (component == name.npos || component < part)) {
    subject.names.push_back(name.substr(0, part));
  }
  for (const Node& node : description.nodes) {
    for (const Operand& operand : node.operands) {
      if (operand.node == id) subject.kinds.push_back(node.kind);
    }
  }
  return subject;
}

// P2, P6, P19
Subject value(const Description& description, NodeId id, Role role) {
  const Node& node = description.nodes[id];
  switch (role) {
    case Role::activation:
      return {{node.name}, {node.kind}, role, Pass::forward, true, id};
    case Role::saved:
      return {{node.name}, {node.kind}, role, Pass::forward, false, id};
    case Role::gradient:
      return {{node.name}, {node.kind}, role, Pass::input_gradient, true, id};
    case Role::weight_gradient: {
      Subject subject = parameter(description, id, role);
      subject.pass = Pass::weight_gradient;
      return subject;
    }
    case Role::weight:
    case Role::master:
    case Role::optimizer_state:
    case Role::internal:
      break;
  }
  return parameter(description, id, role);
}

// P20: what holds every one of the formats; f32 for none. It saturates where all of them do.
Encoding widest(const std::vector<Encoding>& formats) {
  if (formats.empty() || formats.front().element == Element::tf32) return Element::f32;
  Encoding common = formats.front().element;
  common.saturate = std::ranges::all_of(formats, &Encoding::saturate);
  const auto is_common = [&](const Encoding& is) { return is.element == common.element; };
  return std::ranges::all_of(formats, is_common) ? common : Element::f32;
}

RoundTo rounding_to(const Encoding& encoding) {
  return {encoding.element, Rounding::nearest_even, encoding.saturate, encoding.scaling};
}

// Whatever rounded to it left; what is scaled counts as bf16 (P53).
Encoding left_by(const RoundTo& to) {
  if (to.scaling.kind != encoding::Scaling::Kind::none) return Element::bf16;
  Encoding left = to.format;
  left.saturate = to.saturate;
  return left;
}

// What the gradients of this pass read besides parameters and the gradient that arrives.
std::vector<NodeId> read_backward(const Description& description, NodeId id, Pass pass) {
  const Node& node = description.nodes[id];
  std::vector<NodeId> read;
  if (gradient_reads_result(node.kind)) read.push_back(id);
  for (const Operand& operand : node.operands) {
    const bool is_needed = std::ranges::any_of(node.operands, [&](const Operand& wanted) {
      const bool is_of_pass =
          is_parameter(description.nodes[wanted.node]) == (pass == Pass::weight_gradient);
      return is_of_pass && gradient_reads(node.kind, operand.role, wanted.role);
    });
    if (is_needed && !is_parameter(description.nodes[operand.node])) read.push_back(operand.node);
  }
  return read;
}

}  // namespace

Resolution::Resolution(Description description, std::string target, std::string stage)
    : description_(std::move(description)), target_(std::move(target)), stage_(std::move(stage)) {
  if (stage_.empty() && !description_.stages.empty()) stage_ = description_.stages.front();
  for (std::size_t at = 0; at < description_.nodes.size(); ++at) {
    const NodeId id = static_cast<NodeId>(at);
    const Node& node = description_.nodes[at];
    activations_.emplace_back(is_input(node) && !holds_integers(node) ? node.format : Element::f32);
    if (!is_layer(node)) continue;
    const auto choice = winner(description_, {target_, stage_},
                               value(description_, id, Role::activation), &Rule::store);
    if (!choice) continue;
    const bool reads_values = std::ranges::any_of(node.operands, [&](const Operand& operand) {
      return !is_parameter(description_.nodes[operand.node]) &&
             !is_counted(description_, operand.node);
    });
    std::vector<Encoding> rounded_to;
    if (reads_values) rounded_to = {left_by(operand(id, Pass::forward, Role::activation))};
    activations_.back() = choice->follow ? widest(rounded_to) : choice->encoding;
  }
}

// The store formats of what an operation reads, for `compute follow`.
Encoding Resolution::widest_operand(NodeId node, Pass pass) const {
  std::vector<Encoding> formats;
  if (pass == Pass::forward) {
    for (const Operand& operand : description_.nodes[node].operands) {
      const Node& source = description_.nodes[operand.node];
      if (is_parameter(source) || is_counted(description_, operand.node)) continue;
      if (is_kept(description_.nodes[node].kind, operand.role)) continue;
      formats.push_back(activations_[operand.node]);
    }
    return widest(formats);
  }
  if (is_layer(description_.nodes[node])) formats.push_back(left_by(store(node, Role::gradient)));
  for (const NodeId read : read_backward(description_, node, pass)) {
    if (is_counted(description_, read)) continue;
    formats.push_back(left_by(store(read, Role::saved)));
  }
  return widest(formats);
}

RoundTo Resolution::operand(NodeId node, Pass pass, Role role) const {
  const Subject subject = operation(description_, node, pass, role);
  const auto compute = winner(description_, {target_, stage_}, subject, &Rule::compute);
  const auto rounding = winner(description_, {target_, stage_}, subject, &Rule::rounding);
  RoundTo to;
  if (compute) to = rounding_to(compute->follow ? widest_operand(node, pass) : compute->encoding);
  if (rounding) to.rounding = *rounding;
  return to;
}

RoundTo Resolution::result(NodeId node, Pass pass) const {
  const Subject subject = operation(description_, node, pass);
  return rounding_to(
      winner(description_, {target_, stage_}, subject, &Rule::result).value_or(Element::f32));
}

std::optional<Quantization> Resolution::quantization(NodeId node) const {
  if (description_.nodes[node].shape.size() < 2) return std::nullopt;
  const auto stated = winner(description_, {target_, stage_},
                             parameter(description_, node, Role::weight), &Rule::quantize);
  return stated && is_quantized(stated->element) ? stated : std::nullopt;
}

Accumulation Resolution::accumulation(NodeId node, Pass pass) const {
  const Subject subject = operation(description_, node, pass);
  return winner(description_, {target_, stage_}, subject, &Rule::accumulate)
      .value_or(Accumulation::f32);
}

RoundTo Resolution::store(NodeId node, Role role) const {
  const Node& of = description_.nodes[node];
  const bool is_activation = role == Role::activation || role == Role::saved;
  if (!is_layer(of) && !is_parameter(of))
    return is_activation ? rounding_to(activations_[node]) : RoundTo();
  const Subject subject = value(description_, node, role);
  const auto choice = winner(description_, {target_, stage_}, subject, &Rule::store);
  if (role == Role::saved && !choice) return store(node, Role::activation);
  RoundTo to;
  if (choice) to = rounding_to(choice->follow ? activations_[node] : choice->encoding);
  to.rounding = winner(description_, {target_, stage_}, subject, &Rule::rounding)
                    .value_or(Rounding::nearest_even);
  return to;
}

RoundTo Resolution::internal(NodeId node, std::string_view value) const {
  const Node& of = description_.nodes[node];
  const std::string own = of.name + "." + std::string(value);
  const Subject subject{{own, of.name}, {of.kind}, Role::internal, {}, false, node};  // P5, P6, P19
  const auto choice = winner(description_, {target_, stage_}, subject, &Rule::store);
  const auto rounding = winner(description_, {target_, stage_}, subject, &Rule::rounding);
  RoundTo to = rounding_to(choice.value_or(EncodingChoice{}).encoding);
  to.rounding = rounding.value_or(Rounding::nearest_even);
  return to;
}

// P14, P69: of all parameters, so by role, target and stage alone; P42 sees to that.
bool Resolution::splits_masters() const {
  const Subject masters{{}, {}, Role::master, {}, true, -1};
  return winner(description_, {target_, stage_}, masters, &Rule::master) == Encoding(Element::bf16);
}

std::optional<bool> Resolution::recompute(NodeId node) const {
  return winner(description_, {target_, stage_}, value(description_, node, Role::activation),
                &Rule::recompute);
}

LossScale Resolution::loss_scale() const {
  return winner(description_, {target_, stage_}, Subject{}, &Rule::loss_scale)
      .value_or(LossScale{});
}

}  // namespace halftone::reference
