// SPDX-License-Identifier: Apache-2.0
// The rows of x, each repeated over the dimensions that come between its own and the columns.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Expand {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "shape", .type = SettingType::dimensions, .title = "a shape"}};
  static constexpr KindForm form{
      .word = "expand",
      .label = "D81",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto& x = node.shape(0);
    const auto shape = node.dimensions();
    if (!begins_and_ends_as(node, shape, x)) {
      return node.refuse("makes ", shape, " of ", x, " of ", OperandName{0},
                         ", which has other rows or columns", kRemedy,
                         "write its dimensions, and those to repeat it over before the last one");
    }
    node.result(shape);
  }

 private:
  template <class Node, class Shape>
  static constexpr bool begins_and_ends_as(Node& node, const Shape& shape, const Shape& x) {
    const int rows = node.rank(x) - 1;
    if (node.rank(shape) <= rows || node.last(shape) != node.last(x)) return false;
    for (int i = 0; i < rows; ++i) {
      if (node.at(shape, i) != node.at(x, i)) return false;
    }
    return true;
  }
};

}  // namespace halftone::description::kinds
