// SPDX-License-Identifier: Apache-2.0
// a b, for each matrix of their leading dimensions; either may be given transposed.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Matmul {
  static constexpr OperandForm operands[] = {{.role = "a"}, {.role = "b"}};
  static constexpr SettingForm settings[] = {{.name = "transpose_a", .type = SettingType::flag},
                                             {.name = "transpose_b", .type = SettingType::flag}};
  static constexpr KindForm form{.word = "matmul",
                                 .label = "D38",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .settings = settings,
                                 .sum_factors = SumFactors::of_tensors};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto &a = node.shape(0), &b = node.shape(1);
    for (int i = 0; i < 2; ++i) {
      if (node.rank(node.shape(i)) >= 2) continue;
      return node.refuse("multiplies matrices, but ", OperandName{i}, " is ", node.shape(i),
                         kRemedy, "give it two dimensions or more");
    }
    const auto batch = node.rows(node.rows(a));
    if (!(node.rows(node.rows(b)) == batch)) {
      return node.refuse("multiplies ", a, " by ", b, " of ", OperandName{1}, kRemedy,
                         "make all dimensions but the last two equal");
    }
    const auto rows_a = node.last(node.rows(a)), rows_b = node.last(node.rows(b));
    const auto columns_a = node.last(a), columns_b = node.last(b);
    const bool turns_a = node.flag(0), turns_b = node.flag(1);
    const auto inner_a = turns_a ? rows_a : columns_a, inner_b = turns_b ? columns_b : rows_b;
    if (!(inner_a == inner_b)) {
      return node.refuse("sums over ", inner_a, " of ", OperandName{0}, " but ", inner_b, " of ",
                         OperandName{1}, kRemedy, "make them equal, or transpose one of the two");
    }
    node.result(node.extended(node.extended(batch, turns_a ? columns_a : rows_a),
                              turns_b ? rows_b : columns_b));
  }
};

}  // namespace halftone::description::kinds
