// SPDX-License-Identifier: Apache-2.0
// x and for every time its row of weight.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct PositionEmbedding {
  static constexpr OperandForm operands[] = {{.role = "x"},
                                             {.role = "weight",
                                              .group = ParameterGroup::weight,
                                              .may_be_tied = true,
                                              .start = Start::normal}};
  static constexpr KindForm form{
      .word = "position_embedding",
      .label = "D65",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false},
      .rows_of_times = 1};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto most = node.chosen(1, 0, "times");
    if (node.is_fixed(most) && (node.extent(most) <= 0 || node.extent(most) > kMostTimes)) {
      return node.refuse("has a weight of ", most, " times", kRemedy,
                         "write position_embedding(name, times) with 1 to ",
                         node.fixed(kMostTimes));
    }
    if (!has_positions(node, 2)) return;
    const auto& x = node.shape(0);
    const auto times = node.last(node.rows(x));
    if (node.is_fixed(times) && node.is_fixed(most) && node.extent(times) > node.extent(most)) {
      return node.refuse("has a weight of ", most, " times and reads ", x, kRemedy,
                         "give it as many as there are");
    }
    if (!node.is_fixed(times) && (node.factor(times) != 1 || node.extent(times) != 0)) {
      return node.refuse("counts the times of ", x, ", which are '", times, "'", kRemedy,
                         "let them be a number, or the symbol once");
    }
    if (!node.parameter(1, most, node.last(x))) return;
    if (!node.is_fixed(most)) {
      return node.refuse("has as many times as the symbol '", most, "' says", kRemedy,
                         "give its weight a number of them");
    }
    node.result(x);
  }

 private:
  static constexpr long long kMostTimes = 2147483647;
};

}  // namespace halftone::description::kinds
