// SPDX-License-Identifier: Apache-2.0
// The dimensions of x in another order.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Transpose {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "axes", .type = SettingType::integers, .title = "axes"}};
  static constexpr KindForm form{
      .word = "transpose",
      .label = "D37",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto axes = node.integers(0);
    const auto& x = node.shape(0);
    const int rank = node.rank(x), stated = static_cast<int>(axes.size());
    if (stated != rank) {
      return node.refuse("states ", node.fixed(stated), " axes for ", x, " of ", OperandName{0},
                         kRemedy, "state the number of every dimension once, counted from 0");
    }
    auto result = x;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t axis = axes[i];
      if (axis < 0 || axis >= rank) {
        return node.refuse("states the axis ", node.fixed(axis), ", which ", x, " of ",
                           OperandName{0}, " has not", kRemedy, "count dimensions from 0");
      }
      for (int before = 0; before < i; ++before) {
        if (axes[before] == axis) {
          return node.refuse("states the axis ", node.fixed(axis), " twice", kRemedy,
                             "state every dimension once");
        }
      }
      node.at(result, i) = node.at(x, static_cast<int>(axis));
    }
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
