// SPDX-License-Identifier: Apache-2.0
// Of every row the shares of the exponentials of its elements in their sum, or the logarithms of
// these.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Softmax {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "log", .type = SettingType::flag, .optional = true}};
  static constexpr KindForm form{.word = "softmax",
                                 .label = "D103",
                                 .classes = in(LayerClass::softmax),
                                 .operands = operands,
                                 .settings = settings};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (has_rows(node, 0)) node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
