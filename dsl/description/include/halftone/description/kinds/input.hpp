// SPDX-License-Identifier: Apache-2.0
// A named tensor that every step receives.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Input : DeclaredShape {
  static constexpr KindForm form{.word = "input", .label = "D20", .category = Category::delivered};
};

}  // namespace halftone::description::kinds
