// SPDX-License-Identifier: Apache-2.0
// Softmax-weighted means of values, head by head, of keys that may be masked.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/kinds/dropout.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Attention {
  static constexpr std::int64_t kMostHeads = 1024;  // each has a slope of its own under alibi

  static constexpr bool is_count(double value) { return value >= 1 && value <= kMostHeads; }
  static constexpr bool is_window(double value) { return value >= 0 && value <= 0x1p30; }

  static constexpr OperandForm operands[] = {
      {.role = "query"},
      {.role = "key"},
      {.role = "value"},
      {.role = "length", .optional = true, .integers = true},
      {.role = "key_mask", .optional = true, .integers = true},
      {.role = "segment", .optional = true, .integers = true}};
  static constexpr SettingForm settings[] = {
      {.name = "heads",
       .type = SettingType::integer,
       .standard = 1,
       .accepts = is_count,
       .title = "a number of heads",
       .trouble = "is not from 1 to 1024",
       .example = "8",
       .rule = "D61"},
      {.name = "key_heads",
       .type = SettingType::integer,
       .optional = true,
       .accepts = is_count,
       .title = "a number of key heads",
       .trouble = "is not from 1 to 1024",
       .example = "2",
       .rule = "D61"},
      {.name = "causal", .type = SettingType::flag, .optional = true, .title = "causal"},
      {.name = "window",
       .type = SettingType::integer,
       .optional = true,
       .accepts = is_window,
       .title = "a window",
       .trouble = "is not from 0 to 2^30",
       .example = "128",
       .rule = "D61"},
      {.name = "score_scale",
       .optional = true,
       .accepts = is_finite_in_f32,
       .title = "a score_scale",
       .trouble = "is not finite in f32",
       .example = "0.125",
       .rule = "D61"},
      {.name = "soft_cap",
       .optional = true,
       .accepts = is_divisor_in_f32,
       .title = "a soft_cap",
       .trouble = "is, in f32, not positive and finite or "
                  "has a reciprocal that is not",
       .example = "50",
       .rule = "D61"},
      {.name = "alibi", .type = SettingType::flag, .optional = true, .title = "alibi"},
      {.name = "dropout_rate",
       .optional = true,
       .accepts = Dropout::is_rate,
       .title = "a dropout_rate",
       .trouble = "is negative or not below 1",
       .example = "0.1",
       .rule = "D61"}};
  static constexpr const char* internals[] = {"scores", "weights", "score_gradients"};
  static constexpr KindForm form{.word = "attention",
                                 .label = "D61",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!are_sequences(node) || !heads_fit(node) || !masks_fit(node)) return;
    const auto heads = node.integer(0);
    const auto of_value = node.extent(node.last(node.shape(2))) / key_heads(node);
    node.result(node.with_last(node.shape(0), node.fixed(product_of_extents(heads, of_value))));
  }

 private:
  /// A node that was not judged yet may lack the number of its heads.
  static constexpr auto heads_of(const auto& node) { return node.states(0) ? node.integer(0) : 0; }
  static constexpr auto key_heads(const auto& node) {
    return node.states(1) ? node.integer(1) : heads_of(node);
  }

  template <class Node>
  static constexpr bool are_sequences(Node& node) {
    for (int i = 0; i < 3; ++i) {
      const auto& shape = node.shape(i);
      if (node.rank(shape) < 2) {
        node.refuse("works on sequences, but ", OperandName{i}, " is ", shape, kRemedy,
                    "give it a dimension of times before the last one");
        return false;
      }
      if (!node.is_fixed(node.last(shape))) {
        node.refuse("cuts columns into heads, but those of ", OperandName{i}, " are the symbol '",
                    node.last(shape), "'", kRemedy, "give it a number");
        return false;
      }
      if (node.rows(node.rows(shape)) == node.rows(node.rows(node.shape(0)))) continue;
      node.refuse("reads the query ", node.shape(0), " and ", shape, " of ", OperandName{i},
                  kRemedy, "make all dimensions but the last two equal");
      return false;
    }
    if (node.rows(node.shape(1)) == node.rows(node.shape(2))) return true;
    node.refuse("reads keys ", node.shape(1), " and values ", node.shape(2), " of ", OperandName{2},
                kRemedy, "give every key one value: make all dimensions but the last equal");
    return false;
  }

  /// Whether `count` heads are whole columns of operand `i`; `of` says whose.
  template <class Node>
  static constexpr bool divides(Node& node, int i, std::int64_t count, const char* of) {
    if (node.extent(node.last(node.shape(i))) % count == 0) return true;
    node.refuse("cuts ", node.last(node.shape(i)), " columns of ", OperandName{i}, " into ",
                node.fixed(count), of, kRemedy, "make the columns a multiple of the heads");
    return false;
  }

  template <class Node>
  static constexpr bool heads_fit(Node& node) {
    const std::int64_t heads = heads_of(node), of_keys = key_heads(node);
    if (!is_count(static_cast<double>(heads)) || !is_count(static_cast<double>(of_keys))) {
      node.refuse("has ", node.fixed(heads), " heads and ", node.fixed(of_keys), " key heads",
                  kRemedy, "write numbers from 1 to ", node.fixed(kMostHeads));
      return false;
    }
    if (heads % of_keys != 0) {
      node.refuse("has ", node.fixed(heads), " heads for ", node.fixed(of_keys), " key heads",
                  kRemedy, "make the heads a multiple of the key heads");
      return false;
    }
    if (!divides(node, 0, heads, " heads") || !divides(node, 1, of_keys, " key heads") ||
        !divides(node, 2, of_keys, " key heads"))
      return false;
    const auto of_query = node.extent(node.last(node.shape(0))) / heads;
    const auto of_key = node.extent(node.last(node.shape(1))) / of_keys;
    if (of_query == of_key) return true;
    node.refuse("has ", node.fixed(of_query), " columns of the query in a head but ",
                node.fixed(of_key), " of ", OperandName{1}, kRemedy, "make them equal");
    return false;
  }

  template <class Node, class Shape>
  static constexpr bool has_shape(Node& node, const char* role, const Shape& needed) {
    const int i = node.position(role);
    if (i < 0 || node.shape(i) == needed) return true;
    node.refuse("reads the ", role, " ", node.shape(i), " of ", OperandName{i}, kRemedy, "make it ",
                needed);
    return false;
  }

  template <class Node>
  static constexpr bool masks_fit(Node& node) {
    const auto &query = node.shape(0), &key = node.shape(1);
    if (!has_shape(node, "length", node.rows(node.rows(query))) ||
        !has_shape(node, "key_mask", node.rows(key)))
      return false;
    if (node.position("segment") >= 0 && !(node.rows(query) == node.rows(key))) {
      node.refuse("has segments of one sequence, but queries ", query, " and keys ", key, " of ",
                  OperandName{1}, kRemedy, "make all dimensions but the last equal");
      return false;
    }
    return has_shape(node, "segment", node.rows(query));
  }
};

}  // namespace halftone::description::kinds
