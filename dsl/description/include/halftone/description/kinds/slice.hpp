// SPDX-License-Identifier: Apache-2.0
// Some neighbouring columns of every row.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Slice {
  static constexpr bool is_begin(double value) { return value >= 0 && value < 2147483647.0; }
  static constexpr bool is_end(double value) { return value >= 1 && value <= 2147483647.0; }

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {{.name = "begin",
                                              .type = SettingType::integer,
                                              .accepts = is_begin,
                                              .title = "a begin",
                                              .trouble = "is negative or no i32",
                                              .example = "0",
                                              .plain = true,
                                              .rule = "D75"},
                                             {.name = "end",
                                              .type = SettingType::integer,
                                              .standard = 1,
                                              .accepts = is_end,
                                              .title = "an end",
                                              .trouble = "is below 1 or no i32",
                                              .example = "64",
                                              .plain = true,
                                              .rule = "D75"}};
  static constexpr KindForm form{
      .word = "slice",
      .label = "D75",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto& x = node.shape(0);
    const auto last = node.last(x);
    if (!node.is_fixed(last)) {
      return node.refuse("takes columns of ", x, " of ", OperandName{0},
                         ", whose last dimension is the symbol '", last, "'", kRemedy,
                         "give it a number");
    }
    const long long begin = node.integer(0), end = node.integer(1);
    if (begin >= end || end > node.extent(last)) {
      return node.refuse("takes columns ", node.fixed(begin), " to ", node.fixed(end), " of ", x,
                         " of ", OperandName{0}, kRemedy,
                         "let begin be less than end, and end at most the last dimension");
    }
    node.result(node.with_last(x, node.fixed(end - begin)));
  }
};

}  // namespace halftone::description::kinds
