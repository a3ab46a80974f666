// SPDX-License-Identifier: Apache-2.0
// A kind of layer with a list of dimensions, for model.cpp.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Grid {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "extents", .type = SettingType::dimensions, .title = "extents"}};
  static constexpr KindForm form{.word = "grid",
                                 .label = "D98",
                                 .classes = in(LayerClass::elementwise),
                                 .operands = operands,
                                 .settings = settings};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto extents = node.dimensions();
    if (node.rank(extents) == 0) return node.refuse("has no extents", kRemedy, "state some");
    node.result(node.with_last(extents, node.at(node.shape(0), 1)));
  }
};

}  // namespace halftone::description::kinds
