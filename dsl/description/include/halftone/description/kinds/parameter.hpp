// SPDX-License-Identifier: Apache-2.0
// Trained or frozen weights; a tied weight is one node with several users.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Parameter : DeclaredShape {
  static constexpr KindForm form{
      .word = "parameter", .label = "D20", .category = Category::trained};
};

}  // namespace halftone::description::kinds
