// SPDX-License-Identifier: Apache-2.0
// A Description as rule_faults.hpp sees it: P40 to P43.
#include "halftone/description/rule_faults.hpp"

#include <algorithm>

#include "faults.hpp"
#include "halftone/description/glob.hpp"
#include "halftone/description/rule_sentences.hpp"
#include "spelling.hpp"

namespace halftone::description::detail {
namespace {

template <typename Enum>
rules::Mask mask_of(const std::vector<Enum>& choices) {
  rules::Mask mask = 0;
  for (const Enum choice : choices) mask |= rules::bit(choice);
  return mask;
}

KindSet set_of(const std::vector<Kind>& kinds) {
  KindSet set;
  for (const Kind kind : kinds) set |= KindSet(kind);
  return set;
}

class RuleView {
 public:
  explicit RuleView(const Rule& rule) : rule_(rule) {
    take(rules::Field::store, rule.store, fields_.store);
    take(rules::Field::compute, rule.compute, fields_.compute);
    take(rules::Field::result, rule.result, fields_.result);
    take(rules::Field::accumulate, rule.accumulate, fields_.accumulate);
    take(rules::Field::master, rule.master, fields_.master);
    fields_.remainder = rule.remainder;
    take(rules::Field::rounding, rule.rounding, fields_.rounding);
    take(rules::Field::recompute, rule.recompute, fields_.recompute);
    take(rules::Field::loss_scale, rule.loss_scale, fields_.loss_scale);
    take(rules::Field::memory_budget, rule.memory_budget, fields_.memory_budget);
    take(rules::Field::quantize, rule.quantize, fields_.quantize);
    take(rules::Field::place, rule.place, fields_.place);
  }

  const rules::Fields& fields() const { return fields_; }
  int clauses() const { return static_cast<int>(rule_.clauses.size()); }
  bool if_any() const { return rule_.if_any; }
  int exceptions() const { return static_cast<int>(rule_.exceptions.size()); }
  const Bounds& bounds(int c) const { return clause(c).bounds; }
  std::size_t glob_size(int c) const { return clause(c).layer->size(); }
  int chips(int c) const { return static_cast<int>(clause(c).targets.size()); }
  rules::Chip chip(int c, int i) const {
    const TargetRange& target = clause(c).targets[static_cast<std::size_t>(i)];
    return {target.relation, target.chip.c_str()};
  }
  rules::Parts parts(int c) const {
    const Clause& of = clause(c);
    return {mask_of(of.classes),  set_of(of.ops),      mask_of(of.roles),  mask_of(of.passes),
            of.layer.has_value(), !of.targets.empty(), of.bounds.stated(), !of.stages.empty()};
  }
  const Clause& clause(int c) const {
    const auto at = static_cast<std::size_t>(c);
    return at < rule_.clauses.size() ? rule_.clauses[at]
                                     : rule_.exceptions[at - rule_.clauses.size()];
  }

 private:
  template <typename Value>
  void take(rules::Field field, const std::optional<Value>& from, Value& to) {
    if (!from) return;
    fields_.stated |= rules::bit(field);
    to = *from;
  }

  const Rule& rule_;
  rules::Fields fields_;
};

struct Named {
  std::string_view name, layer;  // layer: a parameter's name without its last part (P5)
  rules::Subject subject;
  Place place;
  Table<const char*> internals{};
  Kind kind{};  // of a layer

  bool is_called(std::string_view glob) const {
    return glob_matches(glob, name) || glob_matches(glob, layer);
  }
  bool has_internal(std::string_view glob) const {
    return std::ranges::any_of(internals, [&](const char* value) {
      return glob_matches(glob, std::string(name) + "." + value);
    });
  }
  // Whether the glob and the bounds of a clause fit, its own name or that of an internal value.
  bool is_named(const RuleView& rule, int c) const {
    const Clause& clause = rule.clause(c);
    return !clause.layer || is_called(*clause.layer) ||
           ((rule.parts(c).roles & rules::bit(Role::internal)) != 0 && has_internal(*clause.layer));
  }
  bool is_meant(const RuleView& rule, int c) const {
    return is_named(rule, c) && fits(rule.bounds(c), place);
  }
};

std::string_view without_part(std::string_view name) {
  const std::size_t dot = name.rfind('.'), slash = name.rfind('/');
  const bool has_part = dot != name.npos && (slash == name.npos || slash < dot);
  return has_part ? name.substr(0, dot) : name;
}

class ModelView {
 public:
  explicit ModelView(const Description& description) : trains_(!description.losses.empty()) {
    const auto& nodes = description.nodes;
    const std::vector<Place> places = places_of(description);
    std::vector<KindSet> readers(nodes.size());
    std::vector<bool> trained(nodes.size(), false);  // values that have a gradient
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      trained[i] = wants_gradient(node);
      if (is_source(node.kind)) continue;
      rules::Reads reads;
      for (const Operand& operand : node.operands) {
        const auto source = static_cast<std::size_t>(operand.node);
        const auto* parameter = std::get_if<ParameterAttributes>(&nodes[source].attributes);
        readers[source] |= KindSet(node.kind);
        reads.values = reads.values ||
                       (!parameter && !operand_form(form_of(node.kind), operand.role).integers);
        reads.trained_values = reads.trained_values || trained[source];
        reads.parameters = reads.parameters || parameter;
        reads.trained_parameters = reads.trained_parameters || (parameter && !parameter->frozen);
      }
      trained[i] = reads.trained();
      named_.push_back({node.name, node.name, rules::layer_subject(node.kind, reads, trains_),
                        places[i], form_of(node.kind).internals, node.kind});
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto* parameter = std::get_if<ParameterAttributes>(&nodes[i].attributes);
      if (!parameter) continue;
      named_.push_back({nodes[i].name, without_part(nodes[i].name),
                        rules::parameter_subject(readers[i], trains_ && !parameter->frozen,
                                                 nodes[i].shape.size() > 1),
                        places[i]});
    }
  }

  bool trains() const { return trains_; }

  rules::Selected select(const RuleView& rule, int c, rules::Mask fields) const {
    const rules::Parts parts = c < 0 ? rules::Parts{} : rule.parts(c);
    const bool of_internals = (parts.roles & rules::bit(Role::internal)) != 0;
    rules::Selected selected;
    for (const Named& one : named_) {
      const bool whole = !parts.layer || one.is_called(*rule.clause(c).layer);
      if (!whole && !(of_internals && one.has_internal(*rule.clause(c).layer))) continue;
      const rules::Subject subject = whole ? one.subject : rules::internal_subject(one.kind);
      if (c >= 0 && !fits(rule.bounds(c), one.place)) {
        selected.named = selected.bounded = true;
        selected.of_ops = selected.of_ops || (rules::ops_of(parts) & subject.ops).any();
        continue;
      }
      rules::Parts left = parts;
      if (c < rule.clauses() && !leave(left, rule, one, subject)) {
        selected.named = selected.of_ops = selected.excepted = true;
        continue;
      }
      rules::select(selected, left, subject, fields);
    }
    return selected;
  }

  bool excepts(const RuleView& rule, int exception) const {
    for (int c = rule.clauses() > 0 ? 0 : -1; c < rule.clauses(); ++c) {
      rules::Parts parts = c < 0 ? rules::Parts{} : rule.parts(c);
      if (!rules::both(parts, rule.parts(exception))) continue;
      for (const Named& one : named_) {
        if ((c < 0 || one.is_meant(rule, c)) && one.is_meant(rule, exception) &&
            rules::selects(parts, one.subject)) {
          return true;
        }
      }
    }
    return false;
  }

  rules::Internal meant(const RuleView& rule, int c) const {
    const std::string_view glob = *rule.clause(c).layer;
    rules::Internal meant;
    for (const Named& one : named_) {
      if (one.has_internal(glob)) return {.exact = true, .of_layer = true, .kind = one.kind};
      if (!is_source(one.kind) && without_part(glob) != glob && one.is_called(without_part(glob))) {
        meant.prefer(one.kind);
      }
    }
    return meant;
  }

 private:
  // P61: what the exceptions leave of one that a clause means.
  static bool leave(rules::Parts& parts, const RuleView& rule, const Named& one,
                    const rules::Subject& subject) {
    for (int e = rule.clauses(); e < rule.clauses() + rule.exceptions(); ++e) {
      if (one.is_meant(rule, e) && !rules::leave(parts, rule.parts(e), subject)) return false;
    }
    return true;
  }

  bool trains_;
  std::vector<Named> named_;
};

struct Words {
  std::string text;
  void put(std::string_view words) { text += words; }
  void quote(std::string_view words) { text += quoted(words); }
};

// P69: masters that some rule splits are all alike, so that no later one speaks of a few.
bool keeps_some_whole(const RuleView& rule) {
  if (!rule.fields().has(rules::Field::master)) return false;
  for (int c = 0; c < rule.clauses() + rule.exceptions(); ++c) {
    const bool is_exception = c >= rule.clauses();
    const rules::Parts parts = rule.parts(c);
    const bool is_about_masters = rules::fits(parts.roles, rules::bit(Role::master));
    if (is_about_masters ? rules::selects_some_names(parts)
                         : !is_exception && (parts.roles & rules::bit(Role::weight)) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<RuleFault> rule_fault(const Description& description) {
  const ModelView model(description);
  bool splits_masters = false;
  for (std::size_t i = 0; i < description.rules.size(); ++i) {
    const RuleView rule(description.rules[i]);
    rules::Finding found = rules::find_fault(rule, model);
    splits_masters = splits_masters || rule.fields().remainder;
    if (found.trouble == rules::Trouble::none && splits_masters && keeps_some_whole(rule)) {
      found = {.trouble = rules::Trouble::flat_with_parts, .field = rules::Field::master};
    }
    if (found.trouble == rules::Trouble::none) continue;
    Words words{"the rule " + quoted(spelled(description.rules[i]))};
    const bool named = found.clause >= 0 && rule.clause(found.clause).layer;
    rules::write_fault(words, found, named ? rule.clause(found.clause).layer->c_str() : nullptr);
    return RuleFault{i, std::move(words.text)};
  }
  return std::nullopt;
}

}  // namespace halftone::description::detail
