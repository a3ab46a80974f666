// SPDX-License-Identifier: Apache-2.0
// The mean of every channel of an image over all of its places.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct GlobalAveragePool {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr KindForm form{
      .word = "global_average_pool",
      .label = "D89",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto& x = node.shape(0);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, ", which has no images", kRemedy,
                         "give it a dimension in front of its channels");
    }
    auto result = node.extended({}, node.at(x, 0));
    node.result(node.extended(result, node.last(x)));
  }
};

}  // namespace halftone::description::kinds
