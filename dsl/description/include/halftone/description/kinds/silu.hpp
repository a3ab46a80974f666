// SPDX-License-Identifier: Apache-2.0
// x * sigmoid(x).
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Silu : ElementwiseShape {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr KindForm form{.word = "silu",
                                 .label = "D32",
                                 .classes = in(LayerClass::activation_function),
                                 .operands = operands};
};

}  // namespace halftone::description::kinds
