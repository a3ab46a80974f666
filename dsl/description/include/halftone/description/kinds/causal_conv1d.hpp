// SPDX-License-Identifier: Apache-2.0
// Weighs the present and the past of every channel by taps of its own.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct CausalConv1d {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight",
       .group = ParameterGroup::weight,
       .may_be_tied = true,
       .start = Start::by_inputs},
      {.role = "bias", .optional = true, .group = ParameterGroup::bias, .start = Start::by_inputs}};
  static constexpr KindForm form{.word = "causal_conv1d",
                                 .label = "D39",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .gradient = {.saved_for_inputs = false}};

  /// A GPU's thread holds four elements of every tap and of what it weighs.
  static constexpr long long kMostTaps = 16;

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto taps = node.chosen(1, 1, "taps");
    if (node.is_fixed(taps) && (node.extent(taps) <= 0 || node.extent(taps) > kMostTaps)) {
      return node.refuse("has ", taps, " taps", kRemedy,
                         "write causal_conv1d(name, taps) with 1 to ", node.fixed(kMostTaps));
    }
    const auto& x = node.shape(0);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, " but works on sequences", kRemedy,
                         "give its input a dimension of times before the last one");
    }
    if (!node.parameter(1, node.last(x), taps)) return;
    if (!node.is_fixed(taps)) {
      return node.refuse("has as many taps as the symbol '", taps, "' says", kRemedy,
                         "give its weight a number of them");
    }
    if (node.operands() > 2 && !node.parameter(2, node.last(x))) return;
    node.result(x);
  }
};

}  // namespace halftone::description::kinds
