// SPDX-License-Identifier: Apache-2.0
// Mean of the squared differences of two values, weighted mean or sum.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Mse {
  static constexpr OperandForm operands[] = {{.role = "x"}, {.role = "target"}, kSampleWeight};
  static constexpr SettingForm settings[] = {kSummed};
  static constexpr KindForm form{.word = "mse",
                                 .label = "D30",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::loss),
                                 .operands = operands,
                                 .settings = settings,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (are_alike(node, "compares ", " with ") && weight_fits(node, true)) node.result({});
  }
};

}  // namespace halftone::description::kinds
