// SPDX-License-Identifier: Apache-2.0
// The values of x, in row-major order, under another shape.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Reshape {
  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "shape", .type = SettingType::dimensions, .title = "a shape"}};
  static constexpr KindForm form{
      .word = "reshape",
      .label = "D36",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto shape = node.dimensions();
    const auto& x = node.shape(0);
    if (!is_countable(node, x)) return;
    if (count_elements(node, x) != count_elements(node, shape) ||
        !have_same_symbols(node, shape, x)) {
      return node.refuse("makes ", shape, " of ", x, " of ", OperandName{0},
                         ", which has another number of elements", kRemedy,
                         "keep every symbol and the product of the numbers");
    }
    node.result(shape);
  }

 private:
  /// Each as often, whatever its factors.
  template <class Node, class Shape>
  static constexpr bool have_same_symbols(Node& node, const Shape& a, const Shape& b) {
    int symbols = 0;  // more in a than in b
    for (int i = 0; i < node.rank(b); ++i) symbols -= node.is_fixed(node.at(b, i)) ? 0 : 1;
    for (int i = 0; i < node.rank(a); ++i) {
      const auto& dimension = node.at(a, i);
      if (node.is_fixed(dimension)) continue;
      ++symbols;
      if (count(node, a, dimension) != count(node, b, dimension)) return false;
    }
    return symbols == 0;
  }

  template <class Node, class Shape, class Dimension>
  static constexpr int count(Node& node, const Shape& shape, const Dimension& wanted) {
    int result = 0;
    for (int i = 0; i < node.rank(shape); ++i) {
      const auto& dimension = node.at(shape, i);
      const bool is_sum = node.extent(wanted) != 0;  // no product of others
      const bool is_wanted =
          !node.is_fixed(dimension) &&
          (is_sum ? dimension == wanted
                  : node.with_factor(dimension, 1) == node.with_factor(wanted, 1));
      result += is_wanted ? 1 : 0;
    }
    return result;
  }
};

}  // namespace halftone::description::kinds
