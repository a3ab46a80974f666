// SPDX-License-Identifier: Apache-2.0
// What the cosine of two rows lacks to 1, or by how much it exceeds a margin; mean over the rows,
// weighted mean or sum.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct CosineEmbedding {
  static constexpr OperandForm operands[] = {
      {.role = "x"}, {.role = "y"}, {.role = "target"}, kSampleWeight};
  static constexpr SettingForm settings[] = {
      {.name = "margin",
       .accepts = [](double margin) { return margin >= -1 && margin <= 1; },
       .title = "a margin",
       .trouble = "is not in [-1, 1]",
       .example = "0.5",
       .plain = true,
       .rule = "D107"},
      kSummed};
  static constexpr KindForm form{.word = "cosine_embedding",
                                 .label = "D107",
                                 .category = Category::loss,
                                 .classes = in(LayerClass::loss),
                                 .operands = operands,
                                 .settings = settings,
                                 .gradient = {.weights_for_weights = true}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_rows(node, 0)) return;
    if (!(node.shape(1) == node.shape(0))) {
      return node.refuse("compares ", node.shape(0), " with ", node.shape(1), " of ",
                         OperandName{1}, kRemedy, "make the shapes equal");
    }
    const auto rows = node.rows(node.shape(0));
    if (!(node.shape(2) == rows)) {
      return node.refuse("compares rows of ", node.shape(0), " for ", node.shape(2), " of ",
                         OperandName{2}, kRemedy, "make the target ", rows);
    }
    if (weight_fits(node, false)) node.result({});
  }
};

}  // namespace halftone::description::kinds
