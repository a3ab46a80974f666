// SPDX-License-Identifier: Apache-2.0
// x and sines and cosines of angles that grow with the position.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct SinusoidalEmbedding {
  static constexpr OperandForm operands[] = {
      {.role = "x"}, {.role = "position", .optional = true, .integers = true}};
  static constexpr SettingForm settings[] = {{.name = "base",
                                              .standard = 10000,
                                              .accepts = is_positive_in_f32,
                                              .title = "a base",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "10000",
                                              .rule = "D66"}};
  static constexpr KindForm form{
      .word = "sinusoidal_embedding",
      .label = "D66",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!has_positions(node, 1)) return;
    const auto columns = node.last(node.shape(0));
    if (!node.is_fixed(columns) || node.extent(columns) % 2 != 0) {
      return node.refuse("adds pairs to rows of ", columns, kRemedy, "make the last dimension of ",
                         OperandName{0}, " an even number");
    }
    node.result(node.shape(0));
  }
};

}  // namespace halftone::description::kinds
