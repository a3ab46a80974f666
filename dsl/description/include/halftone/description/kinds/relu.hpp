// SPDX-License-Identifier: Apache-2.0
// max(x, 0).
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Relu : ElementwiseShape {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr KindForm form{.word = "relu",
                                 .label = "D23",
                                 .classes = in(LayerClass::activation_function),
                                 .operands = operands};
};

}  // namespace halftone::description::kinds
