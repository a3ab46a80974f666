// SPDX-License-Identifier: Apache-2.0
// A precision rule in words: its text as in the Description, and what is wrong with one that the
// dsl alone can hold.
#pragma once

#include "halftone/rules.hpp"

namespace halftone::dsl::checking {

/// "class normalization|loss"
template <int N>
constexpr void write_choices(Sentence& out, const char* part, meaning::Mask choices,
                             const char* const (&words)[N]) {
  bool first = true;
  for (int i = 0; i < N; ++i) {
    if ((choices >> i & 1) == 0) continue;
    out.put(first ? part : "|");
    out.put(words[i]);
    first = false;
  }
}

constexpr void write_clause(Sentence& out, const SelectedParts& clause) {
  using namespace description;
  if (clause.layer != nullptr) {
    out.put(" layer \"");
    out.put(clause.layer);
    out.put('"');
  }
  write_choices(out, " class ", clause.classes, kLayerClassWords);
  bool first = true;
  for (int i = 0; i < kKinds; ++i) {
    if (!clause.ops.has(static_cast<Kind>(i))) continue;
    out.put(first ? " op " : "|");
    out.put(form_of(static_cast<Kind>(i)).word);
    first = false;
  }
  write_choices(out, " role ", clause.roles, kRoleWords);
  write_choices(out, " pass ", clause.passes, kPassWords);
  for (int i = 0; i < clause.target_count; ++i) {
    const meaning::Chip& chip = clause.targets[i];
    const bool range = chip.relation != Relation::is;
    out.put(i == 0 ? " target " : "|");
    if (range) out.put(kRelationWords[static_cast<int>(chip.relation)]);
    if (range) out.put('(');
    out.put(chip.name);
    if (range) out.put(')');
  }
  for (int i = 0; i < clause.stage_count; ++i) {
    out.put(i == 0 ? " during \"" : "|\"");
    if (clause.stages[i] != nullptr) out.put(clause.stages[i]);
    out.put('"');
  }
  const description::Bounds& bounds = clause.bounds;
  const auto put = [&](const char* word, std::int64_t number) {
    if (number == 0) return;
    out.put(word);
    if (number < 0) out.put('-');
    out.put(static_cast<long long>(number < 0 ? -number : number));
  };
  put(" first ", bounds.first);
  put(" last ", bounds.last);
  if (bounds.depth_end != 0) {
    out.put(" depth");
    if (bounds.depth_from == 0) out.put(" 0");
    put(" ", bounds.depth_from);
    put(" ", bounds.depth_end);
  }
  put(" at_least ", bounds.at_least);
  put(" smaller_than ", bounds.smaller_than);
}

constexpr void write_clauses(Sentence& out, const Selector& selector) {
  if (selector.defect == RuleDefect::logical && selector.size == 1) out.put(selector.between);
  for (int i = 0; i < selector.size; ++i) {
    if (i > 0) out.put(selector.between);
    write_clause(out, selector.clauses[i]);
  }
  if (selector.defect == RuleDefect::unknown_op) {
    out.put(" op ");
    out.put(selector.word);
  }
  if (selector.defect == RuleDefect::not_a_name) out.put(" ?");
  if (selector.defect == RuleDefect::too_many_clauses) out.put(" or ...");
  if (selector.defect == RuleDefect::too_many_targets ||
      selector.defect == RuleDefect::too_many_stages) {
    out.put("|...");
  }
}

constexpr void write_selector(Sentence& out, const Rule& rule) {
  const auto is_empty = [](const Selector& is) {
    return is.size == 0 && is.defect == RuleDefect::none;
  };
  if (rule.lists.allow.any()) return out.put("paint");
  out.put(is_empty(rule.selector) ? "everywhere" : "where");
  write_clauses(out, rule.selector);
  if (!is_empty(rule.exceptions)) {
    out.put(" except");
    write_clauses(out, rule.exceptions);
  }
  if (rule.if_any) out.put(" if_any");
}

/// What follows a format's element: " scaled block 32 f8e8m0 saturate".
constexpr void write_encoding(Sentence& out, const description::Encoding& encoding) {
  if (encoding::is_scaled(encoding)) {
    const bool is_block = encoding.scaling.kind == encoding::Scaling::Kind::block;
    const bool is_delayed = encoding::is_delayed(encoding);
    const auto kind = encoding.scaling.kind;
    out.put(is_block                                     ? " scaled block "
            : is_delayed                                 ? " scaled delayed "
            : kind == encoding::Scaling::Kind::row       ? " scaled row "
            : kind == encoding::Scaling::Kind::column    ? " scaled column "
                                                         : " scaled tensor ");
    if (is_delayed) {
      out.put(encoding.scaling.history);
      out.put(' ');
    }
    if (encoding.scaling.margin != 0) {
      out.put("margin ");
      out.put(encoding.scaling.margin);
      out.put(' ');
    }
    if (is_block && encoding.scaling.rows != 1) {
      out.put(encoding.scaling.rows);
      out.put(" by ");
    }
    if (is_block) out.put(encoding.scaling.size);
    if (is_block) out.put(' ');
    out.put(encoding::word(encoding.scaling.scale));
    if (encoding.scaling.of_all != encoding::Element::f8e8m0) {
      out.put(" under ");
      out.put(encoding::word(encoding.scaling.of_all));
    }
    if (encoding.scaling.rotated) out.put(" rotated");
  }
  if (encoding.saturate) out.put(" saturate");
}

constexpr void write_fields(Sentence& out, const Rule& rule) {
  out.put(" :");
  for (int i = 0; i < meaning::kFields; ++i) {
    const auto field = static_cast<meaning::Field>(i);
    if (!rule.fields.has(field)) continue;
    const bool odd = rule.written != nullptr && field == rule.odd;
    const auto write = [&](const char* value) {
      out.put(' ');
      out.put(meaning::kFieldWords[i]);
      out.put(' ');
      out.put(value);
    };
    if (!odd || rule.twice) {
      write(stating::value_of(rule.fields, field));
      write_encoding(out, stating::beside_element(rule.fields, field));
      if (field == meaning::Field::master && rule.fields.remainder) out.put(" remainder");
      if (field == meaning::Field::quantize &&
          rule.fields.quantize.scale == description::Quantization::Scale::least_error) {
        out.put(" least_error");
      }
    }
    if (odd) write(rule.written);
  }
}

/// As in the Description's text, but for the numbers of a loss scale and for what no Description
/// holds, and cut when it is long.
constexpr void write_rule(Sentence& out, const Rule& rule) {
  constexpr int kLongest = 200;
  Sentence text;
  write_selector(text, rule);
  write_fields(text, rule);
  for (int i = 0; i < text.size && i < kLongest; ++i) out.put(text.text[i]);
  if (text.size > kLongest) out.put("...");
}

/// "linear, layer_norm, relu or mse", cut when there are many.
constexpr void write_computed(Sentence& out) {
  constexpr int kMost = 16;
  int left = 0;
  for (int i = 0; i < description::kKinds; ++i)
    left += is_computed(static_cast<description::Kind>(i));
  int written = 0;
  for (int i = 0; i < description::kKinds && written < kMost; ++i) {
    const auto kind = static_cast<description::Kind>(i);
    if (!is_computed(kind)) continue;
    if (written > 0) out.put(left == 1 ? " or " : ", ");
    out.put(form_of(kind).word);
    ++written;
    --left;
  }
  if (left > 0) out.put(" or another");
}

/// What follows "the rule ...".
constexpr void write_defect(Sentence& out, RuleDefect defect, const char* word) {
  switch (defect) {
    case RuleDefect::not_a_field:
      return out.put(
          " is given what is no field; write store, compute, result, accumulate, master, "
          "rounding, recompute, quantize, place, a loss scale or a memory budget (P41)");
    case RuleDefect::not_a_value:
      out.put(" states ");
      out.put(word);
      return out.put(
          " with what is no value of it; write a format such as bf16, and for accumulate, rounding "
          "and recompute ordered, toward_zero and always or their like (P41)");
    case RuleDefect::not_a_name:
      return out.put(
          " selects by what is no selector; write layer(\"fc*\"), op(\"gelu\"), a class, a role, a "
          "pass, or on(sm_80) (P40)");
    case RuleDefect::logical:
      return out.put(
          " joins with &&, || or !; write & for both, | for either, and name what is meant in "
          "place of ! (P41)");
    case RuleDefect::not_a_setting:
      return out.put(
          " gives its loss scale what is no setting of one; write initial, growth, backoff, "
          "interval, floor_at, ceiling_at, hysteresis or patience (P43)");
    case RuleDefect::setting_twice:
      out.put(" gives its loss scale two settings ");
      out.put(word);
      return out.put("; keep one of them (P43)");
    case RuleDefect::field_twice:
      out.put(" states ");
      out.put(word);
      return out.put(" twice; keep one of them (P41)");
    case RuleDefect::accumulate_format:
      return out.put(
          " accumulates in another format than f32; write accumulate(f32), accumulate(ordered), "
          "accumulate(hardware) or accumulate(promoted) (P42)");
    case RuleDefect::cannot_follow:
      out.put(" lets ");
      out.put(word);
      return out.put(" follow, which store and compute alone can; write a format (P42)");
    case RuleDefect::unknown_op:
      out.put(" names the op \"");
      out.put(word);
      out.put("\", which no layer or loss is; write ");
      write_computed(out);
      return out.put(" (P40)");
    case RuleDefect::too_many_clauses:
      return out.put(" joins more than 8 alternatives; write several rules (P45)");
    case RuleDefect::too_many_targets:
      return out.put(" joins more than 6 targets; write several rules (P45)");
    case RuleDefect::too_many_stages:
      return out.put(" joins more than 4 stages; write several rules (P45)");
    case RuleDefect::two_globs:
      return out.put(
          " wants one layer to have two names; join them with | or write one glob (P41)");
    case RuleDefect::exceptions_twice:
      return out.put(" has two lists of exceptions; join them with | in one except (P61)");
    case RuleDefect::reason_twice:
      return out.put(" gives two reasons; keep one because (P63)");
    case RuleDefect::paint_lists:
      return out.put(
          " is given lists that share a kind, or allow nothing; keep each kind in one list (P64)");
    case RuleDefect::paint_operands:
      return out.put(
          " is given something else than four lists; write paint(half, allow, infer, deny, clear), "
          "each list as ops(\"linear\", \"matmul\"), one that is empty as ops() (P64)");
    case RuleDefect::two_targets:
      return out.put(" joins two targets with &; join them with | or write several rules (P41)");
    case RuleDefect::two_stages:
      return out.put(" joins two stages with &; join them with | or write several rules (P41)");
    default:
      return out.put(
          " joins with & what excludes each other; join it with | or keep one of the two (P41)");
  }
}

}  // namespace halftone::dsl::checking
