// SPDX-License-Identifier: Apache-2.0
// a + b, of one shape.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Add {
  static constexpr OperandForm operands[] = {{.role = "a"}, {.role = "b"}};
  static constexpr KindForm form{
      .word = "add",
      .label = "D26",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (are_alike(node, "adds ", " and ")) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
