// SPDX-License-Identifier: Apache-2.0
// A kind of layer with a parameter and a setting of each type, one of them optional, for model.cpp.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct RowScale {
  static constexpr OperandForm operands[] = {
      {.role = "x"}, {.role = "gain", .group = ParameterGroup::weight, .first = 1}};
  static constexpr const char* sides[] = {"left", "right"};
  static constexpr SettingForm settings[] = {
      {.name = "power",
       .standard = 2,
       .accepts = is_positive_in_f32,
       .title = "a power",
       .trouble = "is not positive and finite in f32",
       .example = "2",
       .rule = "D11"},
      {.name = "centred", .type = SettingType::flag},
      {.name = "first",
       .type = SettingType::integer,
       .optional = true,
       .accepts = [](double column) { return column >= 0; },
       .title = "a first",
       .trouble = "is negative",
       .example = "0",
       .rule = "D99"},
      {.name = "side", .type = SettingType::choice, .words = sides, .title = "a side"},
      {.name = "shifts", .type = SettingType::integers, .title = "shifts"}};
  static constexpr KindForm form{.word = "row_scale",
                                 .label = "D99",
                                 .classes = in(LayerClass::normalization),
                                 .operands = operands,
                                 .settings = settings};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto shifts = node.integers(4);
    for (int i = 0; i < static_cast<int>(shifts.size()); ++i) {
      if (shifts[i] < 0)
        return node.refuse("shifts by ", node.fixed(shifts[i]), kRemedy, "shift by 0 or more");
    }
    if (node.parameter(1, node.last(node.shape(0)))) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
