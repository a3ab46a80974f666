// SPDX-License-Identifier: Apache-2.0
// Normalizes every column by what it has in the batch, or by averages of that, then weight and
// bias.
#pragma once

#include "halftone/description/epsilon.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct BatchNorm {
  static constexpr bool is_share(double value) { return value >= 0 && value <= 1; }

  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight", .group = ParameterGroup::weight, .first = 1},
      {.role = "bias", .group = ParameterGroup::bias},
      {.role = "mean", .kept = true},
      {.role = "variance", .first = 1, .kept = true}};
  static constexpr SettingForm settings[] = {kEpsilon,
                                             {.name = "momentum",
                                              .standard = 0.1,
                                              .accepts = is_share,
                                              .title = "a momentum",
                                              .trouble = "is not in [0, 1]",
                                              .example = "0.1",
                                              .rule = "D59"}};
  static constexpr const char* internals[] = {"normalized"};
  static constexpr KindForm form{.word = "batch_norm",
                                 .label = "D59",
                                 .classes = in(LayerClass::normalization),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (node.rank(node.shape(0)) < 2) {
      return node.refuse("reads ", node.shape(0), ", which has no rows to normalize over", kRemedy,
                         "give it a dimension in front of its columns");
    }
    const auto columns = node.last(node.shape(0));
    for (int i = 1; i < 5; ++i) {
      if (!node.parameter(i, columns)) return;
    }
    node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
