// SPDX-License-Identifier: Apache-2.0
// Attention and its options. Formula: docs/spec/description.md, D61.
#pragma once

#include "halftone/layers.hpp"

namespace halftone::dsl {

/// An option of attention: a setting of its form, by number, or an input of integers in a role.
template <int Which>
struct AttentionSetting {
  double value;
};
template <int Which>
struct AttentionInput {
  const char* name;
};

namespace building {
constexpr int attention_setting(const char* name) { return setting_of<Attention>(name); }
constexpr int attention_role(const char* role) { return number_of_role<Attention>(role); }
}  // namespace building

using Heads = AttentionSetting<0>;
using KeyHeads = AttentionSetting<building::attention_setting("key_heads")>;
using Causal = AttentionSetting<building::attention_setting("causal")>;
using Window = AttentionSetting<building::attention_setting("window")>;
using ScoreScale = AttentionSetting<building::attention_setting("score_scale")>;
using Alibi = AttentionSetting<building::attention_setting("alibi")>;
using DropoutRate = AttentionSetting<building::attention_setting("dropout_rate")>;
using Length = AttentionInput<building::attention_role("length")>;
using KeyMask = AttentionInput<building::attention_role("key_mask")>;
using Segment = AttentionInput<building::attention_role("segment")>;

/// Into how many heads attention cuts the columns of its query, and with key_heads() fewer, of
/// which each serves several, those of keys and values.
template <Whole Number>
constexpr Heads heads(Number number) {
  return {static_cast<double>(whole_number(number))};
}
template <Whole Number>
constexpr KeyHeads key_heads(Number number) {
  return {static_cast<double>(whole_number(number))};
}
/// No query sees keys behind its own time; the last query sees the last key.
inline constexpr Causal causal{1};
/// How many keys back from its own time a query sees.
template <Whole Number>
constexpr Window window(Number keys) {
  return {static_cast<double>(whole_number(keys))};
}
/// What products of queries and keys are multiplied by, instead of 1 / sqrt(columns of a head).
constexpr ScoreScale score_scale(double factor) { return {factor}; }
/// Lowers scores by the distance of the times, in every head by a slope of its own.
inline constexpr Alibi alibi{1};
/// In training drops a share of the weights, as dropout() does elements.
constexpr DropoutRate dropout_rate(double rate) { return {rate}; }
/// Inputs of integers that mask keys: how many of each sequence count, (batch...), declared with
/// lengths(); which of them do, not 0, (batch..., keys), with key_masks(); and of self-attention
/// which times belong together, (batch..., times), with segments().
constexpr Length length(const char* input) { return {input}; }
constexpr KeyMask key_mask(const char* input) { return {input}; }
constexpr Segment segment(const char* input) { return {input}; }

namespace building {
template <class... Options>
concept AttentionOptions = kFits<void(Heads, KeyHeads, Causal, Window, ScoreScale, SoftCap, Alibi,
                                      DropoutRate, Length, KeyMask, Segment),
                                 Options...> &&
                           kTimes<Heads, Options...> == 1;

/// What goes with the node, a setting of its own, or an operand in role `role`.
constexpr void put_setting(auto& layer, int&, const Heads& number) { layer[0].x = number.value; }
template <int Which>
constexpr void put_setting(auto& layer, int& at, const AttentionSetting<Which>& option) {
  layer[at++] = {.part = Part::setting, .detail = Which, .x = option.value};
}
constexpr void put_setting(auto& layer, int& at, const SoftCap& bound) {
  if (bound.misuse != nullptr) layer[0] = misused(bound.misuse)[0];
  layer[at++] = {.part = Part::setting, .detail = attention_setting("soft_cap"), .x = bound.cap};
}
template <int Which>
constexpr void put_setting(auto&, int&, const AttentionInput<Which>&) {}
template <int Role, int Which>
constexpr void put_operand(auto& layer, int& at, const AttentionInput<Which>& option) {
  if (Which == Role) layer[at++] = {.part = Part::operand, .detail = Which, .name = option.name};
}
template <int Role>
constexpr void put_operand(auto&, int&, const auto&) {}
}  // namespace building

/// Every query, a row of the current value (batch..., queries, heads * d), becomes the mean of the
/// values (batch..., keys, key_heads * e) by softmax of its products with the keys (batch..., keys,
/// key_heads * d), head by head: (batch..., queries, heads * e). D61
///   from("q") | attention("mix", "k", "v", heads(8), causal)
/// Options, in any order: heads(), which is always given, key_heads(), causal, window(),
/// score_scale(), soft_cap(), alibi, dropout_rate(); length(), key_mask() and segment().
template <class... Options>
  requires(building::AttentionOptions<Options...>)
constexpr auto attention(const char* name, const char* keys, const char* values,
                         const Options&... options) {
  Spec<2 + sizeof...(Options)> layer;
  layer[0] = building::node_with<building::Attention>(name, 0);
  int at = 1;
  (building::put_setting(layer, at, options), ...);
  for (const char* operand : {keys, values}) layer[at++] = {.part = Part::operand, .name = operand};
  (building::put_operand<building::attention_role("length")>(layer, at, options), ...);
  (building::put_operand<building::attention_role("key_mask")>(layer, at, options), ...);
  (building::put_operand<building::attention_role("segment")>(layer, at, options), ...);
  return layer;
}

}  // namespace halftone::dsl
