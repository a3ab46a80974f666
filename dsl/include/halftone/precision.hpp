// SPDX-License-Identifier: Apache-2.0
// Precision rules: what each speaks of and the fields that it states (docs/spec/precision.md). The
// last rule that matches wins, field by field; what no rule states is f32.
//
//   constexpr auto mixed = precision(everywhere(store(bf16), compute(bf16)),
//                                    where(normalization | softmax | loss)(compute(f32)));
#pragma once

#include <type_traits>

#include "halftone/encoding/encoding.hpp"
#include "halftone/formats.hpp"
#include "halftone/selectors.hpp"

namespace halftone::dsl {

/// One field, as it stands in a rule.
struct FieldOfRule {
  description::rules::Fields fields;
  RuleDefect defect = RuleDefect::none;
  const char* word = nullptr;     ///< what the defect is about, if not the field
  const char* written = nullptr;  ///< a value that the field cannot have
};

namespace stating {
constexpr FieldOfRule one(description::rules::Field field) {
  FieldOfRule result;
  result.fields.stated = description::rules::bit(field);
  return result;
}

constexpr FieldOfRule defective(description::rules::Field field, RuleDefect defect,
                                const char* written) {
  FieldOfRule result = one(field);
  result.defect = defect;
  result.written = written;
  return result;
}

/// For an argument that the field does not take.
constexpr FieldOfRule stranger(description::rules::Field field) {
  return defective(field, RuleDefect::not_a_value, "?");
}

constexpr description::Encoding saturating(Element format) {
  description::Encoding encoding(format);
  encoding.saturate = true;
  return encoding;
}

constexpr FieldOfRule choice(description::rules::Field field, description::EncodingChoice choice) {
  FieldOfRule result = one(field);
  (field == description::rules::Field::store ? result.fields.store : result.fields.compute) =
      choice;
  return result;
}

constexpr FieldOfRule scaled(description::rules::Field field, const Scaled& format) {
  if (!format.sound) return stranger(field);
  FieldOfRule is = one(field);
  using enum description::rules::Field;
  (field == store     ? is.fields.store.encoding
   : field == compute ? is.fields.compute.encoding
   : field == master  ? is.fields.master
                      : is.fields.result) = format.encoding;
  return is;
}
}  // namespace stating

/// What values are rounded to and held in: f32, f16, bf16, f8e4m3, f8e5m2 or follow (P12). With
/// `saturate`, what exceeds the largest number becomes it.
constexpr FieldOfRule store(Element format) {
  return stating::choice(description::rules::Field::store, {false, format});
}
constexpr FieldOfRule store(Element format, Saturate) {
  return stating::choice(description::rules::Field::store, {false, stating::saturating(format)});
}
/// Of optimizer_states alone: f8e4m3 or f8e5m2 in blocks with a scale each, in f32, as
/// store(scaled(f8e4m3, block(256), f32)) (P86). Nothing else is held scaled.
constexpr FieldOfRule store(const Scaled& format) {
  return stating::scaled(description::rules::Field::store, format);
}
constexpr FieldOfRule store(const Scaled& format, Saturate) { return store(format); }
constexpr FieldOfRule store(Follow) {
  return stating::choice(description::rules::Field::store, {true, f32});
}

/// What operands are rounded to before use: f32, tf32, f16, bf16, f8e4m3, f8e5m2 or follow (P10),
/// with or without `saturate`; or scaled(f8e4m3), scaled(f4e2m1, block(32)) or their like (P51).
constexpr FieldOfRule compute(Element format) {
  return stating::choice(description::rules::Field::compute, {false, format});
}
constexpr FieldOfRule compute(Element format, Saturate) {
  return stating::choice(description::rules::Field::compute, {false, stating::saturating(format)});
}
constexpr FieldOfRule compute(const Scaled& format) {
  return stating::scaled(description::rules::Field::compute, format);
}
constexpr FieldOfRule compute(const Scaled& format, Saturate) { return compute(format); }
constexpr FieldOfRule compute(Follow) {
  return stating::choice(description::rules::Field::compute, {true, f32});
}

/// What an operation's f32 result is rounded to before it is stored: f32, tf32, f16, bf16, f8e4m3
/// or f8e5m2 (P11), with or without `saturate`.
constexpr FieldOfRule result(Element format) {
  FieldOfRule field = stating::one(description::rules::Field::result);
  field.fields.result = format;
  return field;
}
constexpr FieldOfRule result(Element format, Saturate) {
  FieldOfRule field = result(format);
  field.fields.result.saturate = true;
  return field;
}
/// Which no model can have: operands alone are scaled (P51).
constexpr FieldOfRule result(const Scaled& format) {
  return stating::scaled(description::rules::Field::result, format);
}
constexpr FieldOfRule result(const Scaled& format, Saturate) { return result(format); }
constexpr FieldOfRule result(Follow) {
  return stating::defective(description::rules::Field::result, RuleDefect::cannot_follow, "follow");
}

// Orders of a contraction's f32 sum (P21), beside f32.
inline constexpr auto ordered = description::Accumulation::ordered;
inline constexpr auto hardware = description::Accumulation::hardware;
inline constexpr auto promoted = description::Accumulation::promoted;

/// accumulate(f32), accumulate(ordered), accumulate(hardware) or accumulate(promoted) (P13).
constexpr FieldOfRule accumulate(description::Accumulation order) {
  FieldOfRule field = stating::one(description::rules::Field::accumulate);
  field.fields.accumulate = order;
  return field;
}
constexpr FieldOfRule accumulate(Element format) {
  if (format == f32) return accumulate(description::Accumulation::f32);
  return stating::defective(description::rules::Field::accumulate, RuleDefect::accumulate_format,
                            encoding::word(format));
}
constexpr FieldOfRule accumulate(const Scaled& format) {
  return stating::defective(description::rules::Field::accumulate, RuleDefect::accumulate_format,
                            encoding::word(format.encoding.element));
}

/// What the optimizer keeps parameters in: f32 (P14).
constexpr FieldOfRule master(Element format) {
  FieldOfRule field = stating::one(description::rules::Field::master);
  field.fields.master = format;
  return field;
}
/// Or bf16, which operations read, beside 16 further bits with which it is the f32 that the
/// optimizer updates: master(bf16, with_remainder) (P69).
struct WithRemainder {};
inline constexpr WithRemainder with_remainder{};
constexpr FieldOfRule master(Element format, WithRemainder) {
  FieldOfRule field = master(format);
  field.fields.remainder = true;
  return field;
}
constexpr FieldOfRule master(const Scaled& format) {
  return stating::scaled(description::rules::Field::master, format);
}
constexpr FieldOfRule master(Follow) {
  return stating::defective(description::rules::Field::master, RuleDefect::cannot_follow, "follow");
}

inline constexpr auto nearest_even = description::Rounding::nearest_even;
inline constexpr auto toward_zero = description::Rounding::toward_zero;
/// Up or down by chance, so that the mean is the number (F6); of no result and no internal value.
inline constexpr auto stochastic = description::Rounding::stochastic;

/// How the operands and values that the rule selects are rounded (P15). A field like any other: the
/// last rule that states it wins (P4), whichever rule states their formats.
constexpr FieldOfRule rounding(description::Rounding mode) {
  FieldOfRule field = stating::one(description::rules::Field::rounding);
  field.fields.rounding = mode;
  return field;
}

enum class Recomputation : bool { never, always };
inline constexpr auto never = Recomputation::never;
inline constexpr auto always = Recomputation::always;

/// Whether activations are computed again for the backward pass or kept; bits do not depend on it
/// (P16).
constexpr FieldOfRule recompute(Recomputation is) {
  FieldOfRule field = stating::one(description::rules::Field::recompute);
  field.fields.recompute = is == always;
  return field;
}

/// The most that activations may take of the arena, as a share of what they take without it: what
/// does not fit is computed again for the backward pass, the cheapest first; bits do not depend on it
/// (P67).
constexpr FieldOfRule memory_budget(double share) {
  FieldOfRule field = stating::one(description::rules::Field::memory_budget);
  field.fields.memory_budget.share = share;
  return field;
}
/// The same in bytes, at the sizes that are assumed of symbols.
constexpr FieldOfRule memory_budget_bytes(long long bytes) {
  FieldOfRule field = stating::one(description::rules::Field::memory_budget);
  field.fields.memory_budget.kind = description::MemoryBudget::Kind::bytes;
  field.fields.memory_budget.bytes = bytes;
  return field;
}

/// How a predictor finds the scale of a channel: from the largest of its weights, or as the one of a
/// grid of smaller ones too that leaves the least squared error (P81).
inline constexpr auto least_error = description::Quantization::Scale::least_error;

/// What predictors and generators hold the weights in that the rule selects by role weight: i8 or
/// f8e4m3, with a scale for every output channel (P80); f32, as they are. Training knows nothing of
/// it: where(weights)(quantize(i8)).
constexpr FieldOfRule quantize(Element format) {
  FieldOfRule field = stating::one(description::rules::Field::quantize);
  field.fields.quantize.element = format;
  return field;
}
constexpr FieldOfRule quantize(Element format, description::Quantization::Scale scale) {
  FieldOfRule field = quantize(format);
  field.fields.quantize.scale = scale;
  return field;
}

/// Where the optimizer's states lie between two updates (P91), and activations between the passes
/// (P98): host, page-locked memory of the host, to and from which a GPU moves them beside its
/// kernels, or on_device, as without a rule: where(optimizer_states)(place(host)),
/// where(activations & layer("h/*"))(place(host)). On a CPU both are one memory. No bit depends on it.
constexpr FieldOfRule place(description::Memory memory) {
  FieldOfRule field = stating::one(description::rules::Field::place);
  field.fields.place = memory;
  return field;
}
inline constexpr auto host = description::Memory::host, on_device = description::Memory::device;

/// Why there is a rule, for people: explain prints it with the rule (P63).
struct Because {
  const char* reason = "";
};
constexpr Because because(const char* reason) { return {reason}; }

/// A rule: what it speaks of, and its fields.
struct Rule {
  Selector selector;    ///< no clauses: everywhere
  Selector exceptions;  ///< but for these (P61)
  bool if_any = false;  ///< whether it may match nothing (P65)
  const char* because = nullptr;
  // Of paint(...): rules by these lists in place of one rule.
  description::rules::PaintLists lists{};
  Element painted_in = f32;
  description::rules::Fields fields;
  RuleDefect defect = RuleDefect::none;
  const char* word = nullptr;  ///< what the defect is about
  // The value of field `odd` that `fields` does not hold, and whether it stands beside one that it
  // does.
  description::rules::Field odd{};
  const char* written = nullptr;
  bool twice = false;
};

namespace stating {
constexpr void copy(description::rules::Field field, const description::rules::Fields& from,
                    description::rules::Fields& to) {
  using enum description::rules::Field;
  switch (field) {
    case store:
      to.store = from.store;
      break;
    case compute:
      to.compute = from.compute;
      break;
    case result:
      to.result = from.result;
      break;
    case accumulate:
      to.accumulate = from.accumulate;
      break;
    case master:
      to.master = from.master;
      to.remainder = from.remainder;
      break;
    case rounding:
      to.rounding = from.rounding;
      break;
    case recompute:
      to.recompute = from.recompute;
      break;
    case loss_scale:
      to.loss_scale = from.loss_scale;
      break;
    case memory_budget:
      to.memory_budget = from.memory_budget;
      break;
    case quantize:
      to.quantize = from.quantize;
      break;
    case place:
      to.place = from.place;
      break;
  }
}

/// How a field's value reads in the text of a rule.
constexpr const char* spelling(const description::EncodingChoice& choice) {
  return choice.follow ? "follow" : encoding::word(choice.encoding.element);
}

constexpr const char* value_of(const description::rules::Fields& fields,
                               description::rules::Field field) {
  using namespace description;
  switch (field) {
    case description::rules::Field::store:
      return spelling(fields.store);
    case description::rules::Field::compute:
      return spelling(fields.compute);
    case description::rules::Field::result:
      return encoding::word(fields.result.element);
    case description::rules::Field::accumulate:
      return kAccumulationWords[static_cast<int>(fields.accumulate)];
    case description::rules::Field::master:
      return encoding::word(fields.master.element);
    case description::rules::Field::rounding:
      return kRoundingWords[static_cast<int>(fields.rounding)];
    case description::rules::Field::recompute:
      return fields.recompute ? "always" : "never";
    case description::rules::Field::memory_budget:
      return kMemoryBudgetWords[static_cast<int>(fields.memory_budget.kind)];
    case description::rules::Field::quantize:
      return encoding::word(fields.quantize.element);
    case description::rules::Field::place:
      return kMemoryWords[static_cast<int>(fields.place)];
    default:
      return kLossScaleWords[static_cast<int>(fields.loss_scale.kind)];
  }
}

/// What a field's format has beside its element; of a field that states no format nothing.
constexpr description::Encoding beside_element(const description::rules::Fields& fields,
                                               description::rules::Field field) {
  using enum description::rules::Field;
  return field == store     ? fields.store.encoding
         : field == compute ? fields.compute.encoding
         : field == result  ? fields.result
         : field == master  ? fields.master
                            : description::Encoding();
}

constexpr void fail(Rule& rule, RuleDefect defect, const char* word = nullptr) {
  if (rule.defect != RuleDefect::none) return;
  rule.defect = defect;
  rule.word = word;
}

constexpr void add(Rule& rule, const auto&) { fail(rule, RuleDefect::not_a_field); }
constexpr void add(Rule& rule, const Because& part) {
  if (rule.because != nullptr) fail(rule, RuleDefect::reason_twice);
  rule.because = part.reason;
}
constexpr void add(Rule& rule, const FieldOfRule& part) {
  const auto field = description::rules::first_of<description::rules::Field>(part.fields.stated);
  const char* const word = description::rules::kFieldWords[static_cast<int>(field)];
  const bool sound = rule.defect == RuleDefect::none;
  if (part.defect != RuleDefect::none) {
    fail(rule, part.defect, part.word != nullptr ? part.word : word);
  }
  const bool twice = rule.fields.has(field);
  if (twice) fail(rule, RuleDefect::field_twice, word);
  if (sound && rule.defect != RuleDefect::none) {
    rule.odd = field;
    rule.written = part.written != nullptr ? part.written : value_of(part.fields, field);
    rule.twice = twice;
  }
  if (twice) return;
  rule.fields.stated |= part.fields.stated;
  copy(field, part.fields, rule.fields);
}
}  // namespace stating

/// Takes the fields of a rule: where(layer("fc*"))(compute(f32)).
struct Selection {
  Selector selector, exceptions{};
  bool optional = false;
  template <class... Parts>
  constexpr Rule operator()(const Parts&... parts) const {
    Rule rule;
    rule.selector = selector;
    rule.exceptions = exceptions;
    rule.if_any = optional;
    rule.defect = selector.defect;
    rule.word = selector.word;
    if (exceptions.defect != RuleDefect::none)
      stating::fail(rule, exceptions.defect, exceptions.word);
    (stating::add(rule, parts), ...);
    return rule;
  }

  /// The rule may match nothing, which is otherwise an error (P65): for rules of many models.
  constexpr Selection if_any() const { return {selector, exceptions, true}; }

  /// All of it but for what `those` select (P61): where(contraction).except(layer("head")). A part
  /// that `those` do not name fits all: except(layer("head")) is about every role and pass.
  constexpr Selection except(const Selector& those) const {
    Selection result{selector, those, optional};
    if (exceptions.size > 0) result.exceptions.fail(RuleDefect::exceptions_twice);
    return result;
  }
  template <class T>
    requires(!std::is_base_of_v<Selector, T>)
  constexpr Selection except(const T&) const {
    Selection result{selector, {}, optional};
    result.exceptions.fail(RuleDefect::not_a_name);
    return result;
  }
};
inline constexpr Selection everywhere{};

constexpr Selection where(const Selector& selector) { return {selector}; }
template <class T>
  requires(!std::is_base_of_v<Selector, T>)
constexpr Selection where(const T&) {
  Selector nothing;
  nothing.fail(RuleDefect::not_a_selector);
  return {nothing};
}

/// A list of kinds for paint: ops("linear", "matmul").
struct KindList {
  description::KindSet set{};
  const char* unknown = nullptr;  ///< a word that is no layer or loss
};
template <class... Words>
constexpr KindList ops(const Words*... words) {
  KindList list;
  const auto add = [&](const char* word) {
    const Selector one = op(word);
    if (one.defect != RuleDefect::none)
      list.unknown = word;
    else
      list.set |= one.clauses[0].ops;
  };
  (add(words), ...);
  return list;
}

/// Rules for every layer and loss from four lists of kinds, by painting the graph as TensorFlow's
/// auto_mixed_precision does (P64): what is painted allow computes and stores in `half`, all else
/// in f32. Explain says why each layer has its colour.
constexpr Rule paint(Element half, const KindList& allow, const KindList& infer,
                     const KindList& deny, const KindList& clear) {
  Rule rule;
  rule.lists = {allow.set, infer.set, deny.set, clear.set};
  rule.painted_in = half;
  for (const KindList* const list : {&allow, &infer, &deny, &clear}) {
    if (list->unknown != nullptr) stating::fail(rule, RuleDefect::unknown_op, list->unknown);
  }
  const auto meet = [](const description::KindSet& a, const description::KindSet& b) {
    return (a & b).any();
  };
  if (!allow.set.any() || meet(allow.set, infer.set | deny.set | clear.set) ||
      meet(infer.set, deny.set | clear.set) || meet(deny.set, clear.set)) {
    stating::fail(rule, RuleDefect::paint_lists);
  }
  return rule;
}

template <class... Others>
  requires(!requires(void (*fits)(const KindList&, const KindList&, const KindList&, const KindList&),
                     const Others&... others) { fits(others...); })
constexpr Rule paint(Element, const Others&...) {
  Rule rule;
  rule.lists.allow = description::KindSet::where([](auto) { return true; });  // for the sentence
  stating::fail(rule, RuleDefect::paint_operands);
  return rule;
}

template <int N>
struct Precision {
  Rule rules[N > 0 ? N : 1]{};
};

namespace stating {
constexpr Rule rule_of(const Rule& rule) { return rule; }
constexpr Rule rule_of(const auto&) {
  Rule stranger;
  stranger.defect = RuleDefect::not_a_rule;
  return stranger;
}

template <class T>
inline constexpr int kRulesIn = 1;
template <int N>
inline constexpr int kRulesIn<Precision<N>> = N;

constexpr int put(Rule* rules, int at, const auto& rule) {
  rules[at] = rule_of(rule);
  return at + 1;
}
template <int N>
constexpr int put(Rule* rules, int at, const Precision<N>& others) {
  for (int i = 0; i < N; ++i) rules[at + i] = others.rules[i];
  return at + N;
}
}  // namespace stating

/// everywhere(...) and where(...)(...), later rules before earlier ones; among them rules that a
/// precision() or a preset joined: precision(presets::allow_deny(f16), where(...)(...)).
template <class... Rules>
constexpr auto precision(const Rules&... rules) {
  Precision<(stating::kRulesIn<Rules> + ... + 0)> joined;
  [[maybe_unused]] int at = 0;
  ((at = stating::put(joined.rules, at, rules)), ...);
  return joined;
}

}  // namespace halftone::dsl
