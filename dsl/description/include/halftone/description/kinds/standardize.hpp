// SPDX-License-Identifier: Apache-2.0
// Every column less its mean, divided by its deviation: constants that the user fits to data.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Standardize {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "mean", .kept = true, .fixed = true},
      {.role = "deviation", .first = 1, .kept = true, .fixed = true}};
  static constexpr KindForm form{
      .word = "standardize",
      .label = "D109",
      .classes = in(LayerClass::normalization),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto columns = node.last(node.shape(0));
    if (node.parameter(1, columns) && node.parameter(2, columns)) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
