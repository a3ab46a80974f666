// SPDX-License-Identifier: Apache-2.0
// Softmax and cross-entropy in one with a share of every class as the target; mean over the rows,
// weighted mean or sum.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct SoftCrossEntropy {
  static constexpr OperandForm operands[] = {{.role = "logits"}, {.role = "target"}, kSampleWeight};
  static constexpr SettingForm settings[] = {kSummed};
  static constexpr KindForm form{.word = "soft_cross_entropy",
                                 .label = "D105",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::softmax, LayerClass::loss),
                                 .operands = operands,
                                 .settings = settings,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0) || !are_alike(node, "compares ", " with ")) return;
    if (weight_fits(node, false)) node.result({});
  }
};

}  // namespace halftone::description::kinds
