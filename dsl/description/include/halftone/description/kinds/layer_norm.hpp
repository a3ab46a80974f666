// SPDX-License-Identifier: Apache-2.0
// Normalizes every row, then weight and bias.
#pragma once

#include "halftone/description/epsilon.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct LayerNorm {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight", .group = ParameterGroup::weight, .first = 1},
      {.role = "bias", .group = ParameterGroup::bias}};
  static constexpr SettingForm settings[] = {kEpsilon};
  static constexpr const char* internals[] = {"normalized"};
  static constexpr KindForm form{.word = "layer_norm",
                                 .label = "D22",
                                 .classes = in(LayerClass::normalization),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto columns = node.last(node.shape(0));
    if (node.parameter(1, columns) && node.parameter(2, columns)) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
