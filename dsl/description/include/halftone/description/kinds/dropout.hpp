// SPDX-License-Identifier: Apache-2.0
// Drops some of the elements while it trains, other ones in every pass.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Dropout : ElementwiseShape {
  static constexpr bool is_rate(double value) { return value >= 0 && value < 1; }

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {{.name = "rate",
                                              .accepts = is_rate,
                                              .title = "a rate",
                                              .trouble = "is negative or not below 1",
                                              .example = "0.1",
                                              .plain = true,
                                              .rule = "D35"}};
  static constexpr KindForm form{
      .word = "dropout",
      .label = "D35",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};
};

}  // namespace halftone::description::kinds
