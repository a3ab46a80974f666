// SPDX-License-Identifier: Apache-2.0
// The user's function of equally shaped operands, elementwise.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Pointwise {
  static constexpr OperandForm operands[] = {{.role = "x", .repeated = true}};
  static constexpr KindForm form{.word = "pointwise",
                                 .label = "D28",
                                 .classes = in(LayerClass::elementwise),
                                 .operands = operands,
                                 .function = true,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (are_alike(node, "works on equal shapes but reads ", " and ")) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
