// SPDX-License-Identifier: Apache-2.0
// What persists from step to step and is not trained: caches, running averages.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct State : DeclaredShape {
  static constexpr SettingForm settings[] = {{.name = "initial",
                                              .accepts = is_finite_in_f32,
                                              .title = "an initial value",
                                              .trouble = "is not finite in f32",
                                              .example = "0",
                                              .rule = "D20"}};
  static constexpr KindForm form{
      .word = "state", .label = "D20", .category = Category::kept, .settings = settings};
};

}  // namespace halftone::description::kinds
