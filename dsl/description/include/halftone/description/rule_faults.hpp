// SPDX-License-Identifier: Apache-2.0
// The rules that cannot be meant, P40 to P43. Both validate and the dsl's check ask here, so that
// they refuse the same rules; each brings its own view of rule and model.
#pragma once

#include "halftone/description/bounds.hpp"
#include "halftone/description/glob_states.hpp"
#include "halftone/description/in_f32.hpp"
#include "halftone/description/rule_meaning.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone::description::rules {

enum class Trouble : std::uint8_t {
  none,
  // a field by itself
  no_field,
  store_format,
  compute_format,
  result_format,
  master_format,
  field_encoding,
  field_rounding,
  field_scaled,
  follow_with_format,
  lone_rounding,
  stochastic_f32,
  scale_number,
  scale_divisor,
  scale_order,
  scale_growth,
  scale_backoff,
  scale_count,
  scale_surplus,
  budget_share,
  budget_bytes,
  budget_surplus,
  quantize_format,
  quantize_scale,
  // a clause by itself
  no_part,
  long_glob,
  not_a_chip,
  ordered_cpu,
  source_as_op,
  class_and_op,
  role_and_pass,
  wrong_bounds,
  // a field beside the parts of a clause
  beside_role,
  always_f32,
  weight_gradient_store,
  nothing_to_follow,
  recompute_role,
  recompute_pass,
  quantize_role,
  quantize_pass,
  place_role,
  stochastic_internal,
  state_format,
  state_scaling,
  flat_with_parts,
  scale_with_parts,
  // a rule in its model
  no_loss,
  unknown_name,
  unknown_internal,
  internal_without_role,
  absent_op,
  no_backward,
  empty_combination,
  idle_field,
  idle_clause,
  out_of_bounds,
  idle_exception,
  all_excepted,
};

/// The first trouble of a rule; which members count depends on it.
struct Finding {
  Trouble trouble = Trouble::none;
  int clause = -1;
  Field field = Field::store;
  Role role = Role::activation;
  const char* word = "";  ///< of a loss scale, a chip or a format
  Kind kind{};            ///< whose internal values a glob may have meant
};

struct Chip {
  Relation relation = Relation::is;
  const char* name = "";
};

/// `cpu`, or sm_ and a number of two or three digits, then `a` or `f` or nothing.
constexpr bool is_cpu(const char* name) {
  return name[0] == 'c' && name[1] == 'p' && name[2] == 'u' && name[3] == 0;
}
constexpr bool is_chip(const char* name) {
  if (is_cpu(name)) return true;
  if (name[0] != 's' || name[1] != 'm' || name[2] != '_') return false;
  const char* at = name + 3;
  if (*at < '1' || *at > '9') return false;
  while (*at >= '0' && *at <= '9') ++at;
  const auto digits = at - name - 3;
  if (*at == 'a' || *at == 'f') ++at;
  return digits >= 2 && digits <= 3 && *at == 0;
}

/// Of a loss scale's numbers, as the step computes with them: in f32 (L1 to L4).
constexpr Finding loss_scale_fault(const LossScale& scale) {  // P43
  const auto found = [](Trouble trouble, const char* word = "") {
    return Finding{.trouble = trouble, .field = Field::loss_scale, .word = word};
  };
  if (scale.kind != LossScale::Kind::none && !is_positive_in_f32(scale.initial)) {
    return found(Trouble::scale_number, "an initial value");
  }
  LossScale plain{.kind = scale.kind};
  if (scale.kind == LossScale::Kind::fixed) plain.initial = scale.initial;
  if (scale.kind != LossScale::Kind::dynamic && !(scale == plain)) {
    return found(Trouble::scale_surplus);
  }
  if (!is_positive_in_f32(scale.floor)) return found(Trouble::scale_number, "a floor");
  if (!is_positive_in_f32(scale.ceiling)) return found(Trouble::scale_number, "a ceiling");
  if (!is_divisor_in_f32(scale.initial)) return found(Trouble::scale_divisor, "an initial value");
  if (!is_divisor_in_f32(scale.floor)) return found(Trouble::scale_divisor, "a floor");
  const auto f32 = [](double value) { return static_cast<float>(value); };
  if (scale.kind == LossScale::Kind::dynamic &&
      !(f32(scale.floor) <= f32(scale.initial) && f32(scale.initial) <= f32(scale.ceiling))) {
    return found(Trouble::scale_order);
  }
  if (!is_positive_in_f32(scale.growth) || !(f32(scale.growth) > 1)) {
    return found(Trouble::scale_growth);
  }
  if (!is_positive_in_f32(scale.backoff) || !(f32(scale.backoff) < 1)) {
    return found(Trouble::scale_backoff);
  }
  const auto counts = [](std::int64_t count) { return count >= 1 && count <= 1 << 24; };
  if (!counts(scale.interval)) return found(Trouble::scale_count, "an interval");
  if (!counts(scale.hysteresis)) return found(Trouble::scale_count, "a hysteresis");
  if (!counts(scale.patience)) return found(Trouble::scale_count, "a patience");
  return {};
}

constexpr Finding memory_budget_fault(const MemoryBudget& budget) {  // P43
  const bool of_bytes = budget.kind == MemoryBudget::Kind::bytes;
  if (of_bytes ? budget.share != 1 : budget.bytes != 0) {
    return {.trouble = Trouble::budget_surplus, .field = Field::memory_budget};
  }
  if (of_bytes && budget.bytes < 1) {
    return {.trouble = Trouble::budget_bytes, .field = Field::memory_budget};
  }
  if (!(budget.share > 0 && budget.share <= 1)) {
    return {.trouble = Trouble::budget_share, .field = Field::memory_budget};
  }
  return {};
}

constexpr Finding quantize_fault(const Quantization& quantize) {  // P80
  if (!is_quantized(quantize.element) && quantize.element != Element::f32) {
    return {.trouble = Trouble::quantize_format,
            .field = Field::quantize,
            .word = encoding::word(quantize.element)};
  }
  if (!is_quantized(quantize.element) && quantize.scale != Quantization::Scale::maximum) {
    return {.trouble = Trouble::quantize_scale, .field = Field::quantize};
  }
  return {};
}

/// Fields of the whole model, which clauses may restrict to targets and stages alone.
inline constexpr Field kOfModel[] = {Field::loss_scale, Field::memory_budget};
inline constexpr Mask kOfModelMask = bit(Field::loss_scale) | bit(Field::memory_budget);

inline constexpr Field kWithRole[] = {Field::store, Field::compute};
inline constexpr Field kOfOperations[] = {Field::result, Field::accumulate};

inline constexpr Field kWithEncoding[] = {Field::store, Field::compute, Field::result,
                                          Field::master};
constexpr Encoding encoding_of(const Fields& fields, Field field) {
  return field == Field::store     ? fields.store.encoding
         : field == Field::compute ? fields.compute.encoding
         : field == Field::result  ? fields.result
                                   : fields.master;
}

/// P47
constexpr bool is_stochastic(const Fields& fields) {
  return fields.has(Field::rounding) && fields.rounding == Rounding::stochastic;
}
/// Whether store or compute states what anything may be rounded to.
constexpr bool rounds(const Fields& fields, Field field) {
  const EncodingChoice& choice = field == Field::store ? fields.store : fields.compute;
  return fields.has(field) && (choice.follow || choice.encoding.element != Element::f32);
}

/// What no model could honour in the fields of a rule: P41, P42, P43. `only` has the one role that
/// it speaks of, where that matters: internal values are rounded and not held, states may be
/// scaled.
constexpr Finding fields_fault(const Fields& fields, Mask only) {
  const auto found = [](Trouble trouble, Field field) {
    return Finding{.trouble = trouble, .field = field};
  };
  if (fields.stated == 0) return {.trouble = Trouble::no_field};
  const auto surplus = [](const EncodingChoice& choice) {
    return choice.follow && choice.encoding != Encoding();
  };
  for (const Field field : kWithRole) {
    const EncodingChoice& choice = field == Field::store ? fields.store : fields.compute;
    if (fields.has(field) && surplus(choice)) return found(Trouble::follow_with_format, field);
  }
  const encoding::ElementTraits& store = encoding::traits(fields.store.encoding.element);
  if (fields.has(Field::store) &&
      ((!store.stored && only != bit(Role::internal)) || !store.computed)) {
    return {.trouble = Trouble::store_format, .field = Field::store, .word = store.word};
  }
  const encoding::ElementTraits& compute = encoding::traits(fields.compute.encoding.element);
  const bool is_scaled = encoding::is_scaled(fields.compute.encoding);
  if (fields.has(Field::compute) && !compute.computed && !is_scaled) {
    return {.trouble = Trouble::compute_format, .field = Field::compute, .word = compute.word};
  }
  const encoding::ElementTraits& result = encoding::traits(fields.result.element);
  if (fields.has(Field::result) && !result.computed) {
    return {.trouble = Trouble::result_format, .field = Field::result, .word = result.word};
  }
  const bool is_split = fields.master == Encoding(Element::bf16);  // P69
  if (fields.has(Field::master) &&
      (fields.remainder != is_split || (!is_split && fields.master.element != Element::f32))) {
    return found(Trouble::master_format, Field::master);
  }
  for (const Field field : kWithEncoding) {
    const Encoding encoding = encoding_of(fields, field);
    if (!fields.has(field) || encoding == Encoding(encoding.element)) continue;
    const bool of_states = field == Field::store && only == bit(Role::optimizer_state);  // P86
    if (encoding::is_scaled(encoding) && of_states) {
      if (encoding::is_of_states(encoding)) continue;
      return found(Trouble::state_scaling, field);
    }
    if (encoding::is_scaled(encoding) && field != Field::compute) {
      return found(Trouble::field_scaled, field);
    }
    const char* const fault = encoding::fault(encoding);
    if (fault) return {.trouble = Trouble::field_encoding, .field = field, .word = fault};
    if (encoding.rounding != Rounding()) return found(Trouble::field_rounding, field);
  }
  if (fields.has(Field::compute) && is_scaled && fields.has(Field::rounding)) {
    Encoding rounded = fields.compute.encoding;
    rounded.rounding = fields.rounding;
    if (const char* const fault = encoding::fault(rounded)) {
      return {.trouble = Trouble::field_encoding, .field = Field::compute, .word = fault};
    }
  }
  if (fields.has(Field::rounding) && !fields.has(Field::store) && !fields.has(Field::compute)) {
    return found(Trouble::lone_rounding, Field::rounding);
  }
  if (is_stochastic(fields) && !rounds(fields, Field::store) && !rounds(fields, Field::compute)) {
    return found(Trouble::stochastic_f32, Field::rounding);
  }
  if (fields.has(Field::memory_budget)) {
    const Finding budget = memory_budget_fault(fields.memory_budget);
    if (budget.trouble != Trouble::none) return budget;
  }
  if (fields.has(Field::quantize)) {
    const Finding quantize = quantize_fault(fields.quantize);
    if (quantize.trouble != Trouble::none) return quantize;
  }
  return fields.has(Field::loss_scale) ? loss_scale_fault(fields.loss_scale) : Finding{};
}

/// P1, P2, P6, P18: whether a pass has anything of a role, be it a value or an operand.
constexpr bool go_together(Role role, Mask pass) {
  const Mask backward = bit(Pass::input_gradient) | bit(Pass::weight_gradient);
  switch (role) {
    case Role::saved:
    case Role::weight:
      return true;
    case Role::gradient:
      return (pass & backward) != 0;
    default:
      return (pass & pass_of(role)) != 0;
  }
}

/// What no model could honour in the parts of a clause: P40, P41.
constexpr Finding parts_fault(const Parts& parts) {
  if (parts == Parts{}) return {.trouble = Trouble::no_part};
  if (!(parts.ops == (parts.ops & kAllOps))) return {.trouble = Trouble::source_as_op};
  if (!ops_of(parts).any()) return {.trouble = Trouble::class_and_op};
  if (parts.roles == 0 || parts.passes == 0) return {};
  for (int i = 0; i < kRoles; ++i) {
    const Role role = static_cast<Role>(i);
    if ((parts.roles & bit(role)) != 0 && go_together(role, parts.passes)) return {};
  }
  return {.trouble = Trouble::role_and_pass};
}

/// The first enumerator of a set that is not empty.
template <class Enum>
constexpr Enum first_of(Mask set) {
  int i = 0;
  while ((set >> i & 1) == 0) ++i;
  return static_cast<Enum>(i);
}

/// Whether a clause is about some layers or parameters and not about others, or about some stages,
/// from one to another of which what persists keeps its format (P71).
constexpr bool selects_some_names(const Parts& parts) {
  return parts.layer || parts.classes != 0 || parts.ops.any() || parts.bounds || parts.stages;
}

/// Fields that say what a flat buffer of all parameters is held in, so that they cannot differ
/// between parameters (P68, P69), and where one of states lies (P91). `roles` are those of a
/// clause.
constexpr Mask flat_fields(const Fields& fields, Mask roles) {
  const bool of_states = fields.has(Field::store) && (roles & bit(Role::optimizer_state)) != 0;
  const bool of_masters = fields.has(Field::master) && fields.remainder &&
                          fits(roles, bit(Role::master) | bit(Role::weight));
  const bool places_states = fields.has(Field::place) && fits(roles, bit(Role::optimizer_state));
  return (of_states ? bit(Field::store) : 0) | (of_masters ? bit(Field::master) : 0) |
         (places_states ? bit(Field::place) : 0);
}

/// Of an exception: the first flat field of the rule that it would take from some parameters.
template <class Rule>
constexpr Finding flat_exception_fault(const Rule& rule, int exception) {
  Mask flat = rule.clauses() == 0 ? flat_fields(rule.fields(), 0) : 0;
  for (int c = 0; c < rule.clauses(); ++c) flat |= flat_fields(rule.fields(), rule.parts(c).roles);
  const Parts& parts = rule.parts(exception);
  if (!fits(parts.roles, bit(Role::optimizer_state)))
    flat &= ~(bit(Field::store) | bit(Field::place));
  if (!fits(parts.roles, bit(Role::master))) flat &= ~bit(Field::master);
  if (flat == 0 || parts.passes != 0 || !selects_some_names(parts)) return {};
  return {.trouble = Trouble::flat_with_parts, .field = first_of<Field>(flat)};
}

/// Fields that the parts of a clause leave without meaning, in any model: P42.
constexpr Finding beside_fault(const Fields& fields, const Parts& parts) {
  const auto found = [](Trouble trouble, Field field, Role role = Role::activation) {
    return Finding{.trouble = trouble, .field = field, .role = role};
  };
  const bool selects_some = parts.layer || parts.classes != 0 || parts.ops.any() ||
                            parts.roles != 0 || parts.passes != 0 || parts.bounds;
  for (const Field field : kOfModel) {
    if (fields.has(field) && selects_some) return found(Trouble::scale_with_parts, field);
  }
  for (const Field field : kOfOperations) {
    if (fields.has(field) && parts.roles != 0) return found(Trouble::beside_role, field);
  }
  const Mask kept = parts.roles & (bit(Role::master) | bit(Role::optimizer_state));
  for (const Field field : kWithRole) {
    const Mask f32_alone = field == Field::store ? kept & bit(Role::master) : kept;
    if (fields.has(field) && f32_alone != 0)
      return found(Trouble::always_f32, field, first_of<Role>(f32_alone));
  }
  const EncodingChoice store = fields.store;
  const Mask of_gradients = parts.roles & bit(Role::weight_gradient);
  if (fields.has(Field::store) && of_gradients != 0 &&
      (store.follow || store.encoding.element != Element::f32)) {
    return found(Trouble::weight_gradient_store, Field::store);
  }
  const Mask leading =
      parts.roles & (bit(Role::weight) | bit(Role::optimizer_state) | bit(Role::internal));
  if (fields.has(Field::store) && store.follow && leading != 0) {
    return found(Trouble::nothing_to_follow, Field::store, first_of<Role>(leading));
  }
  const Mask flat = flat_fields(fields, parts.roles);
  if ((flat & bit(Field::store)) != 0 && !encoding::is_scaled(store.encoding) &&
      encoding::traits(store.encoding.element).bits < 16) {
    return {.trouble = Trouble::state_format,
            .field = Field::store,
            .word = encoding::word(store.encoding.element)};
  }
  const bool is_about_weights = (flat & bit(Field::master)) != 0 && parts.roles != 0 &&
                                (parts.roles & bit(Role::master)) == 0;
  if (flat != 0 && (selects_some_names(parts) || is_about_weights)) {
    return found(Trouble::flat_with_parts, first_of<Field>(flat));
  }
  if (is_stochastic(fields) && (parts.roles & bit(Role::internal)) != 0) {
    return found(Trouble::stochastic_internal, Field::rounding, Role::internal);
  }
  if (fields.has(Field::quantize)) {
    const Mask others = parts.roles & ~bit(Role::weight);
    if (others != 0) return found(Trouble::quantize_role, Field::quantize, first_of<Role>(others));
    if (parts.passes != 0) return found(Trouble::quantize_pass, Field::quantize);
  }
  if (const Mask others = parts.roles & ~(bit(Role::optimizer_state) | bit(Role::activation));
      fields.has(Field::place) && others != 0) {
    return found(Trouble::place_role, Field::place, first_of<Role>(others));
  }
  if (fields.has(Field::recompute)) {
    const Mask others = parts.roles & ~bit(Role::activation);
    if (others != 0)
      return found(Trouble::recompute_role, Field::recompute, first_of<Role>(others));
    if ((parts.passes & ~bit(Pass::forward)) != 0) {
      return found(Trouble::recompute_pass, Field::recompute);
    }
  }
  return {};
}

/// P40, P42: what a clause selects. `named`, `of_ops`, `any` are about any field.
struct Selected {
  bool named = false, of_ops = false, any = false;
  bool excepted = false;  ///< whether exceptions left nothing of something
  bool bounded = false;   ///< whether bounds left out something
  Mask fields = 0;
};

/// P61: takes from the parts of a clause what an exception that fits the subject's name and bounds
/// leaves of it; false when it leaves nothing. What sets of roles and passes cannot say counts as
/// left.
constexpr bool leave(Parts& parts, const Parts& exception, const Subject& subject) {
  if (exception.targets || exception.stages || !(ops_of(exception) & subject.ops).any())
    return true;
  if (exception.roles == 0 && exception.passes == 0) return false;
  Mask& set = exception.roles == 0 ? parts.passes : parts.roles;
  if ((exception.roles != 0 && exception.passes != 0) || set == 0) return true;
  set &= ~(exception.roles | exception.passes);
  return set != 0;
}

/// What a clause and an exception from it select together; false when there is no such thing.
constexpr bool both(Parts& parts, const Parts& exception) {
  parts.ops = ops_of(parts) & ops_of(exception);
  if (!parts.ops.any()) return false;
  parts.classes = 0;
  const auto join = [](Mask& into, Mask with) {
    const bool apart = into != 0 && with != 0 && (into & with) == 0;
    into = into == 0 || with == 0 ? into | with : into & with;
    return !apart;
  };
  return join(parts.roles, exception.roles) && join(parts.passes, exception.passes);
}

constexpr void select(Selected& selected, const Parts& parts, const Subject& subject, Mask fields) {
  selected.named = true;
  if (!(ops_of(parts) & subject.ops).any()) return;
  selected.of_ops = true;
  selected.any = selected.any || selects(parts, subject);
  for (int i = 0; i < kFields; ++i) {
    const Mask field = Mask{1} << i;
    if ((fields & field & ~selected.fields) != 0 &&
        selects(parts, subject, static_cast<Field>(i))) {
      selected.fields |= field;
    }
  }
}

/// What a glob that fits no name may have meant: an internal value of a layer, by its name, or some
/// other one of that layer.
struct Internal {
  bool exact = false, of_layer = false;
  Kind kind{};

  /// Of several layers one that has internal values, whatever their order.
  constexpr void prefer(Kind is) {
    const bool has = form_of(is).internals.size > 0, had = form_of(kind).internals.size > 0;
    if (!of_layer || (has == had ? is < kind : has)) kind = is;
    of_layer = true;
  }
};

/// Whether a model without losses has none of what `parts` name.
constexpr bool is_backward(const Parts& parts) {
  const Mask forward =
      bit(Role::activation) | bit(Role::weight) | bit(Role::master) | bit(Role::internal);
  return !fits(parts.passes, bit(Pass::forward)) || !fits(parts.roles, forward);
}

/// The bit of the one role that a rule speaks of, or 0; asked where it stores what nothing but
/// internal values, or nothing but states, may be rounded to.
template <class Rule>
constexpr Mask only_role(const Rule& rule) {
  const Encoding store = rule.fields().store.encoding;
  if (encoding::traits(store.element).stored && !encoding::is_scaled(store)) return 0;
  const Mask role = bit(encoding::is_scaled(store) ? Role::optimizer_state : Role::internal);
  for (int c = 0; c < rule.clauses(); ++c) {
    if (rule.parts(c).roles != role) return 0;
  }
  return rule.clauses() > 0 ? role : 0;
}

/// The first trouble that a rule has in any model.
template <class Rule>
constexpr Finding form_fault(const Rule& rule) {
  const Finding found = fields_fault(rule.fields(), only_role(rule));
  if (found.trouble != Trouble::none) return found;
  for (int c = 0; c < rule.clauses() + rule.exceptions(); ++c) {
    if (rule.parts(c).layer && rule.glob_size(c) > static_cast<unsigned long>(kLongestGlob)) {
      return {.trouble = Trouble::long_glob, .clause = c};
    }
    for (int i = 0; i < rule.chips(c); ++i) {
      const Chip chip = rule.chip(c, i);
      if (!is_chip(chip.name)) {
        return {.trouble = Trouble::not_a_chip, .clause = c, .word = chip.name};
      }
      if (is_cpu(chip.name) && chip.relation != Relation::is) {
        return {.trouble = Trouble::ordered_cpu, .clause = c};
      }
    }
    Finding of_clause = parts_fault(rule.parts(c));
    if (const char* const fault = bounds_fault(rule.bounds(c))) {
      of_clause = {.trouble = Trouble::wrong_bounds, .word = fault};
    }
    const bool is_exception = c >= rule.clauses();
    const Fields& fields = rule.fields();
    if (of_clause.trouble == Trouble::none &&
        (!is_exception || (fields.stated & kOfModelMask) != 0)) {
      of_clause = beside_fault(fields, rule.parts(c));
    }
    if (of_clause.trouble == Trouble::none && is_exception)
      of_clause = flat_exception_fault(rule, c);
    of_clause.clause = c;
    if (of_clause.trouble != Trouble::none) return of_clause;
  }
  return {};
}

/// Of a clause whose glob fits no name.
constexpr Finding name_fault(int clause, const Parts& parts, const Internal& meant) {
  const auto found = [&](Trouble trouble) {
    return Finding{.trouble = trouble, .clause = clause, .kind = meant.kind};
  };
  const bool of_internals = (parts.roles & bit(Role::internal)) != 0;
  if (meant.exact && !of_internals) return found(Trouble::internal_without_role);
  return found(meant.of_layer && of_internals ? Trouble::unknown_internal : Trouble::unknown_name);
}

/// Why a clause that selects nothing does so.
constexpr Trouble empty_trouble(const Selected& by, const Parts& parts, bool trains) {
  if (!by.named && parts.layer) return Trouble::unknown_name;
  if (!by.of_ops && (parts.layer || parts.classes != 0 || parts.ops.any())) {
    return Trouble::absent_op;
  }
  if (by.any) return Trouble::none;
  if (by.excepted) return Trouble::all_excepted;
  if (by.bounded) return Trouble::out_of_bounds;
  return !trains && is_backward(parts) ? Trouble::no_backward : Trouble::empty_combination;
}

/// A rule for everything, everywhere or on some targets or in some stages, may state more than one
/// model has.
template <class Rule>
constexpr bool is_general(const Rule& rule) {
  for (int c = 0; c < rule.clauses() + rule.exceptions(); ++c) {
    Parts parts = rule.parts(c);
    if (!parts.targets && !parts.stages) return false;
    parts.targets = parts.stages = false;
    if (!(parts == Parts{})) return false;
  }
  return true;
}

/// The first trouble of one rule in its model. `Rule` has fields(), clauses(), parts(clause),
/// glob_size(clause), bounds(clause), chips(clause) and chip(clause, i), if_any(), and
/// exceptions(), which are counted on behind the clauses; `Model` has trains(), select(rule,
/// clause, fields) -> Selected, clause -1 being everywhere and exceptions taken off, meant(rule,
/// clause) -> Internal, and excepts(rule, exception) -> bool, whether that takes off anything.
template <class Rule, class Model>
constexpr Finding find_fault(const Rule& rule, Model& model) {
  if (const Finding found = form_fault(rule); found.trouble != Trouble::none) return found;
  if (rule.if_any()) return {};  // P65
  const Mask of_model = rule.fields().stated & kOfModelMask;
  if (of_model != 0 && !model.trains()) {
    return {.trouble = Trouble::no_loss, .field = first_of<Field>(of_model)};
  }
  const Mask wanted = rule.fields().stated & ~of_model;
  if (is_general(rule)) {
    const Mask always = bit(Field::store) | bit(Field::compute) | bit(Field::result);
    if (of_model != 0 || (wanted & always) != 0 || model.select(rule, -1, wanted).fields != 0)
      return {};
    return {.trouble = Trouble::idle_field, .field = first_of<Field>(wanted)};
  }
  Mask selected = 0;
  int idle = -1;
  for (int c = rule.clauses() > 0 ? 0 : -1; c < rule.clauses(); ++c) {
    const Selected by = model.select(rule, c, wanted);
    const Parts parts = c < 0 ? Parts{} : rule.parts(c);
    const Trouble trouble = empty_trouble(by, parts, model.trains());
    if (trouble == Trouble::unknown_name) return name_fault(c, parts, model.meant(rule, c));
    if (trouble != Trouble::none) return {.trouble = trouble, .clause = c};
    selected |= by.fields;
    if (by.fields == 0 && idle < 0) idle = c;
  }
  for (int c = rule.clauses(); c < rule.clauses() + rule.exceptions(); ++c) {
    const Parts parts = rule.parts(c);
    const Trouble trouble = empty_trouble(model.select(rule, c, wanted), parts, model.trains());
    if (trouble == Trouble::unknown_name) return name_fault(c, parts, model.meant(rule, c));
    if (trouble != Trouble::none) return {.trouble = trouble, .clause = c};
    if (!parts.targets && !parts.stages && !model.excepts(rule, c)) {
      return {.trouble = Trouble::idle_exception, .clause = c};
    }
  }
  if ((wanted & ~selected) != 0) {
    return {.trouble = Trouble::idle_field, .field = first_of<Field>(wanted & ~selected)};
  }
  if (idle >= 0) return {.trouble = Trouble::idle_clause, .clause = idle};
  return {};
}

}  // namespace halftone::description::rules
