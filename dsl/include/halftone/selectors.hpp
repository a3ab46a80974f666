// SPDX-License-Identifier: Apache-2.0
// What a precision rule speaks of: parts such as layer("h/*/fc"), normalization or forward_pass,
// joined by & and | to a list of clauses of which one must match (P3).
#pragma once

#include "halftone/description/bounds.hpp"
#include "halftone/description/rule_faults.hpp"

namespace halftone::dsl {

/// What is wrong with a rule before its model is looked at; rule_words.hpp has the sentences.
enum class RuleDefect : unsigned char {
  none,
  not_a_rule,
  not_a_field,
  not_a_setting,
  not_a_value,
  setting_twice,
  field_twice,
  accumulate_format,
  cannot_follow,
  not_a_selector,
  not_a_name,
  logical,
  unknown_op,
  too_many_clauses,
  too_many_targets,
  too_many_stages,
  two_globs,
  two_targets,
  two_stages,
  excluded,
  exceptions_twice,
  reason_twice,
  paint_lists,
  paint_operands,
};

/// One clause: all its parts must fit.
struct SelectedParts {
  static constexpr int kMaxTargets = 6, kMaxStages = 4;
  const char* layer = nullptr;
  description::rules::Mask classes = 0;
  description::KindSet ops{};
  description::rules::Mask roles = 0, passes = 0;
  description::rules::Chip targets[kMaxTargets]{};
  int target_count = 0;
  description::Bounds bounds{};
  const char* stages[kMaxStages]{};
  int stage_count = 0;
};

/// A list of clauses, of which one must match.
struct Selector {
  static constexpr int kMaxClauses = 8;
  SelectedParts clauses[kMaxClauses]{};
  int size = 0;
  RuleDefect defect = RuleDefect::none;
  const char* word = nullptr;   ///< what the defect is about
  const char* between = " or";  ///< the clauses; another word where these two cannot be joined

  constexpr void fail(RuleDefect is, const char* about = nullptr) {
    if (defect != RuleDefect::none) return;
    defect = is;
    word = about;
  }

  explicit operator bool() const = delete;  // join with & and |, and write where(...)(fields)
};

namespace selecting {

constexpr bool same(const char* left, const char* right) {
  if (left == nullptr || right == nullptr) return left == right;
  while (*left != 0 && *left == *right) ++left, ++right;
  return *left == *right;
}

constexpr bool same_targets(const SelectedParts& a, const SelectedParts& b) {
  if (a.target_count != b.target_count) return false;
  for (int i = 0; i < a.target_count; ++i) {
    if (a.targets[i].relation != b.targets[i].relation ||
        !same(a.targets[i].name, b.targets[i].name)) {
      return false;
    }
  }
  return true;
}

constexpr bool same_stages(const SelectedParts& a, const SelectedParts& b) {
  if (a.stage_count != b.stage_count) return false;
  for (int i = 0; i < a.stage_count; ++i) {
    if (!same(a.stages[i], b.stages[i])) return false;
  }
  return true;
}

constexpr bool is_empty(description::rules::Mask set) { return set == 0; }
constexpr bool is_empty(const description::KindSet& set) { return !set.any(); }

/// Takes `other` into `into` when the two differ in the alternatives of one part alone.
constexpr bool merge(SelectedParts& into, const SelectedParts& other, Selector& whole) {
  if (!same(into.layer, other.layer) || !(into.bounds == other.bounds)) return false;
  const bool targets = !same_targets(into, other), stages = !same_stages(into, other);
  const int different = (into.classes != other.classes) + !(into.ops == other.ops) +
                        (into.roles != other.roles) + (into.passes != other.passes) + targets +
                        stages;
  const auto half = [](const auto& a, const auto& b) {
    return !(a == b) && (is_empty(a) || is_empty(b));
  };
  if (different > 1 || half(into.classes, other.classes) || half(into.ops, other.ops) ||
      half(into.roles, other.roles) || half(into.passes, other.passes) ||
      (targets && (into.target_count == 0 || other.target_count == 0)) ||
      (stages && (into.stage_count == 0 || other.stage_count == 0))) {
    return false;
  }
  into.classes |= other.classes;
  into.ops |= other.ops;
  into.roles |= other.roles;
  into.passes |= other.passes;
  for (int i = 0; targets && i < other.target_count; ++i) {
    if (into.target_count == SelectedParts::kMaxTargets) {
      whole.fail(RuleDefect::too_many_targets);
      break;
    }
    into.targets[into.target_count++] = other.targets[i];
  }
  for (int i = 0; stages && i < other.stage_count; ++i) {
    if (into.stage_count == SelectedParts::kMaxStages) {
      whole.fail(RuleDefect::too_many_stages);
      break;
    }
    into.stages[into.stage_count++] = other.stages[i];
  }
  return true;
}

constexpr void append(Selector& to, const SelectedParts& clause) {
  for (int i = 0; i < to.size; ++i) {
    if (merge(to.clauses[i], clause, to)) return;
  }
  if (to.size == Selector::kMaxClauses) return to.fail(RuleDefect::too_many_clauses);
  to.clauses[to.size++] = clause;
}

/// Both lists of alternatives at once; an empty one fits everything.
template <class Set>
constexpr Set both(const Set& a, const Set& b, Selector& whole) {
  if (is_empty(a) || is_empty(b)) return a | b;
  if (is_empty(a & b)) whole.fail(RuleDefect::excluded);
  return a & b;
}

/// Both bounds at once: the narrower of each.
constexpr description::Bounds both(const description::Bounds& a, const description::Bounds& b,
                                   Selector& whole) {
  const auto least = [](std::int64_t x, std::int64_t y) {
    return x == 0 || (y != 0 && y < x) ? y : x;
  };
  const auto most = [](std::int64_t x, std::int64_t y) { return x > y ? x : y; };
  const description::Bounds narrow{least(a.first, b.first),
                                   least(a.last, b.last),
                                   most(a.depth_from, b.depth_from),
                                   least(a.depth_end, b.depth_end),
                                   most(a.at_least, b.at_least),
                                   least(a.smaller_than, b.smaller_than)};
  const bool sound = bounds_fault(a) == nullptr && bounds_fault(b) == nullptr;
  if (sound && bounds_fault(narrow) != nullptr) whole.fail(RuleDefect::excluded);
  return narrow;
}

/// All parts of both clauses.
constexpr SelectedParts joined(const SelectedParts& a, const SelectedParts& b, Selector& whole) {
  SelectedParts result = a;
  if (b.layer != nullptr) result.layer = b.layer;
  if (a.layer != nullptr && b.layer != nullptr && !same(a.layer, b.layer)) {
    whole.fail(RuleDefect::two_globs);
  }
  result.ops = both(a.ops, b.ops, whole);
  if (a.classes != 0 && b.classes != 0 && a.classes != b.classes) {  // a loss may be a softmax
    result.classes = 0;
    const description::KindSet shared = description::rules::ops_of_classes(a.classes) &
                                        description::rules::ops_of_classes(b.classes);
    if (is_empty(shared)) whole.fail(RuleDefect::excluded);
    result.ops = both(result.ops, shared, whole);
  } else {
    result.classes = a.classes | b.classes;
  }
  result.roles = both(a.roles, b.roles, whole);
  result.passes = both(a.passes, b.passes, whole);
  result.bounds = both(a.bounds, b.bounds, whole);
  if (b.stage_count > 0) {
    if (a.stage_count > 0 && !same_stages(a, b)) whole.fail(RuleDefect::two_stages);
    for (int i = 0; i < b.stage_count; ++i) result.stages[i] = b.stages[i];
    result.stage_count = b.stage_count;
  }
  if (b.target_count == 0) return result;
  if (a.target_count > 0 && !same_targets(a, b)) whole.fail(RuleDefect::two_targets);
  for (int i = 0; i < b.target_count; ++i) result.targets[i] = b.targets[i];
  result.target_count = b.target_count;
  return result;
}

constexpr Selector only(const SelectedParts& clause) {
  Selector result;
  result.clauses[result.size++] = clause;
  return result;
}
constexpr Selector only(const description::Bounds& bounds) {
  return only(SelectedParts{.bounds = bounds});
}
/// 0, which in Bounds is nothing stated, is wrong as negative numbers are.
constexpr std::int64_t counted(std::int64_t number) { return number == 0 ? -1 : number; }
constexpr Selector only(description::LayerClass is) {
  return only(SelectedParts{.classes = description::rules::bit(is)});
}
constexpr Selector only(description::Role is) {
  return only(SelectedParts{.roles = description::rules::bit(is)});
}
constexpr Selector only(description::Pass is) {
  return only(SelectedParts{.passes = description::rules::bit(is)});
}

/// Two clauses that cannot be joined, as they were written.
constexpr Selector pair(const SelectedParts& a, const SelectedParts& b, const char* between,
                        RuleDefect defect) {
  Selector result;
  result.clauses[result.size++] = a;
  result.clauses[result.size++] = b;
  result.between = between;
  result.fail(defect);
  return result;
}

constexpr Selector unnamed() {
  Selector result;
  result.fail(RuleDefect::not_a_name);
  return result;
}

}  // namespace selecting

/// Either of the two.
constexpr Selector operator|(const Selector& a, const Selector& b) {
  if (a.defect != RuleDefect::none || b.defect != RuleDefect::none)
    return a.defect != RuleDefect::none ? a : b;
  Selector result = a;
  for (int i = 0; i < b.size; ++i) selecting::append(result, b.clauses[i]);
  return result;
}

/// Both at once.
constexpr Selector operator&(const Selector& a, const Selector& b) {
  if (a.defect != RuleDefect::none || b.defect != RuleDefect::none)
    return a.defect != RuleDefect::none ? a : b;
  Selector result;
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j < b.size; ++j) {
      const SelectedParts clause = selecting::joined(a.clauses[i], b.clauses[j], result);
      if (result.defect != RuleDefect::none)
        return selecting::pair(a.clauses[i], b.clauses[j], " and", result.defect);
      selecting::append(result, clause);
    }
  }
  return result;
}

// What C++ joins truth values with.
constexpr Selector operator!(const Selector& a) {
  Selector result = a;
  result.fail(RuleDefect::logical);
  result.between = " not";
  return result;
}
constexpr Selector operator&&(const Selector& a, const Selector& b) {
  return selecting::pair(a.clauses[0], b.clauses[0], " &&", RuleDefect::logical);
}
constexpr Selector operator||(const Selector& a, const Selector& b) {
  return selecting::pair(a.clauses[0], b.clauses[0], " ||", RuleDefect::logical);
}

/// The layers, losses and parameters whose names match: layer("fc1"), layer("h/*/{fc,proj}"),
/// layer("**"). `*` and `?` stay within a path component.
constexpr Selector layer(const char* glob) { return selecting::only(SelectedParts{.layer = glob}); }

/// The layers or losses of one kind: op("gelu").
constexpr Selector op(const char* kind) {
  for (int i = 0; i < description::kKinds; ++i) {
    const auto is = static_cast<description::Kind>(i);
    if (description::is_computed(is) && selecting::same(kind, description::form_of(is).word)) {
      return selecting::only(SelectedParts{.ops = description::KindSet(is)});
    }
  }
  Selector result;
  result.fail(RuleDefect::unknown_op, kind);
  return result;
}

// Bounds (P60). They fit layers, and parameters as the layers that read them.

/// The first or last so many contractions of the model, in its order.
constexpr Selector first_layers(std::int64_t count) {
  return selecting::only(description::Bounds{.first = selecting::counted(count)});
}
constexpr Selector last_layers(std::int64_t count) {
  return selecting::only(description::Bounds{.last = selecting::counted(count)});
}
/// What stands in copies from..end-1 of a repeat, of the outermost where repeats are nested.
constexpr Selector depth(std::int64_t from, std::int64_t end) {
  return selecting::only(
      description::Bounds{.depth_from = from, .depth_end = selecting::counted(end)});
}
/// Layers whose largest parameter has fewer elements, and parameters that have.
constexpr Selector smaller_than(std::int64_t elements) {
  return selecting::only(description::Bounds{.smaller_than = selecting::counted(elements)});
}
/// Layers whose largest parameter has so many elements or more, and parameters that have.
constexpr Selector at_least(std::int64_t elements) {
  return selecting::only(description::Bounds{.at_least = selecting::counted(elements)});
}

// Classes of layers and losses (P3).
inline constexpr Selector contraction = selecting::only(description::LayerClass::contraction);
inline constexpr Selector normalization = selecting::only(description::LayerClass::normalization);
inline constexpr Selector activation_function =
    selecting::only(description::LayerClass::activation_function);
inline constexpr Selector elementwise = selecting::only(description::LayerClass::elementwise);
inline constexpr Selector loss = selecting::only(description::LayerClass::loss);
// softmax, which is a layer, too, is in layers.hpp.

// Roles of values and operands (P2, P18).
inline constexpr Selector activations = selecting::only(description::Role::activation);
inline constexpr Selector saved_activations = selecting::only(description::Role::saved);
inline constexpr Selector gradients = selecting::only(description::Role::gradient);
inline constexpr Selector weights = selecting::only(description::Role::weight);
inline constexpr Selector weight_gradients = selecting::only(description::Role::weight_gradient);
inline constexpr Selector master_weights = selecting::only(description::Role::master);
inline constexpr Selector optimizer_states = selecting::only(description::Role::optimizer_state);
inline constexpr Selector internal_values = selecting::only(description::Role::internal);

// Passes (P1).
inline constexpr Selector forward_pass = selecting::only(description::Pass::forward);
inline constexpr Selector input_gradient_pass = selecting::only(description::Pass::input_gradient);
inline constexpr Selector weight_gradient_pass =
    selecting::only(description::Pass::weight_gradient);

// Targets (P3).
struct Chip {
  const char* name;
};
/// "cpu", or sm_ and a number, with a or f after it or not.
constexpr Chip chip(const char* name) { return {name}; }
inline constexpr Chip cpu{"cpu"}, sm_75{"sm_75"}, sm_80{"sm_80"}, sm_86{"sm_86"}, sm_87{"sm_87"},
    sm_89{"sm_89"}, sm_90{"sm_90"}, sm_90a{"sm_90a"}, sm_100a{"sm_100a"}, sm_103a{"sm_103a"},
    sm_110a{"sm_110a"}, sm_120a{"sm_120a"}, sm_121a{"sm_121a"};

inline constexpr Chip kChips[] = {cpu,    sm_75,   sm_80,   sm_86,   sm_87,   sm_89,  sm_90,
                                  sm_90a, sm_100a, sm_103a, sm_110a, sm_120a, sm_121a};

struct ChipRange {
  description::Relation relation;
  const char* chip;
};
/// All chips with a smaller number; `cpu` is none of them.
constexpr ChipRange before(const Chip& chip) { return {description::Relation::before, chip.name}; }
/// The chip and all with a larger number.
constexpr ChipRange from(const Chip& chip) { return {description::Relation::from, chip.name}; }

// Chips by what their tensor cores multiply (P62): on(fp8_cores). All later chips do, too.
inline constexpr ChipRange f16_cores = from(sm_75), bf16_cores = from(sm_80),
                           tf32_cores = from(sm_80), fp8_cores = from(sm_89),
                           block_scaled_cores = from(sm_100a);

/// on(cpu), on(sm_80), on(before(sm_80)), on(from(sm_89)).
constexpr Selector on(const ChipRange& range) {
  SelectedParts clause;
  clause.targets[clause.target_count++] = {range.relation, range.chip};
  return selecting::only(clause);
}
constexpr Selector on(const Chip& chip) {
  return on(ChipRange{description::Relation::is, chip.name});
}

/// What holds in one of the stages that HALFTONE_MODEL is given with stages(...), and in no other
/// (P66): where(during("predict"))(compute(bf16)), layer("fc*") & during("predict").
constexpr Selector during(const char* stage) {
  SelectedParts clause;
  clause.stages[clause.stage_count++] = stage;
  return selecting::only(clause);
}

}  // namespace halftone::dsl
