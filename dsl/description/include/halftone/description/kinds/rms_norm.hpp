// SPDX-License-Identifier: Apache-2.0
// Divides every row by its root mean square, then weight.
#pragma once

#include "halftone/description/epsilon.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct RmsNorm {
  static constexpr OperandForm operands[] = {
      {.role = "x"}, {.role = "weight", .group = ParameterGroup::weight, .first = 1}};
  static constexpr SettingForm settings[] = {kEpsilon};
  static constexpr const char* internals[] = {"normalized"};
  static constexpr KindForm form{.word = "rms_norm",
                                 .label = "D33",
                                 .classes = in(LayerClass::normalization),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (has_rows(node, 0) && node.parameter(1, node.last(node.shape(0))))
      node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
