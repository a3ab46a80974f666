// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy in one, mean over the rows.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct CrossEntropy {
  static constexpr OperandForm operands[] = {{.role = "logits"},
                                             {.role = "label", .integers = true}};
  static constexpr const char* internals[] = {"probabilities"};
  static constexpr KindForm form{.word = "cross_entropy",
                                 .label = "D29",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::softmax, LayerClass::loss),
                                 .operands = operands,
                                 .internals = internals,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    const auto rows = node.rows(node.shape(0));
    if (!(node.shape(1) == rows)) {
      return node.refuse("reads logits ", node.shape(0), " and ", node.shape(1), " of ",
                         OperandName{1}, kRemedy, "make the label ", rows);
    }
    node.result({});
  }
};

}  // namespace halftone::description::kinds
