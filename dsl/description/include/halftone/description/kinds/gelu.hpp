// SPDX-License-Identifier: Apache-2.0
// x * Phi(x), by erf or by an approximation of tanh.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Gelu : ElementwiseShape {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr const char* approximations[] = {"erf", "tanh"};
  static constexpr const char* labels[] = {"D24", "D25"};
  static constexpr SettingForm settings[] = {{.name = "approximation",
                                              .type = SettingType::choice,
                                              .words = approximations,
                                              .labels = labels,
                                              .title = "an approximation"}};
  static constexpr KindForm form{.word = "gelu",
                                 .label = "D24",
                                 .classes = in(LayerClass::activation_function),
                                 .operands = operands,
                                 .settings = settings};
};

}  // namespace halftone::description::kinds
