// SPDX-License-Identifier: Apache-2.0
// The user's function, then the mean over all elements, a weighted mean or the sum.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct PointwiseLoss {
  static constexpr OperandForm operands[] = {{.role = "x", .repeated = true}, kSampleWeight};
  static constexpr SettingForm settings[] = {kSummed};
  static constexpr KindForm form{.word = "pointwise_loss",
                                 .label = "D31",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::loss),
                                 .operands = operands,
                                 .settings = settings,
                                 .function = true,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!are_alike(node, "works on equal shapes but reads ", " and ")) return;
    if (weight_fits(node, true)) node.result({});
  }
};

}  // namespace halftone::description::kinds
