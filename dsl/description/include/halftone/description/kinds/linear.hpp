// SPDX-License-Identifier: Apache-2.0
// y = x weight^T + bias, row by row; transposed, weight is kept as (columns, outputs).
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Linear {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight",
       .group = ParameterGroup::weight,
       .may_be_tied = true,
       .start = Start::by_inputs},
      {.role = "bias", .optional = true, .group = ParameterGroup::bias, .start = Start::by_inputs}};
  static constexpr SettingForm settings[] = {
      {.name = "transposed", .type = SettingType::flag, .optional = true}};
  static constexpr const char* internals[] = {"product"};
  static constexpr KindForm form{.word = "linear",
                                 .label = "D21",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals,
                                 .gradient = {.saved_for_inputs = false},
                                 .sum_factors = SumFactors::of_vectors};

  template <class Node>
  static constexpr void infer(Node& node) {
    const bool transposed = node.flag(0);
    const auto outputs = node.chosen(1, transposed ? 1 : 0, "outputs");
    if (node.is_fixed(outputs) && node.extent(outputs) <= 0) {
      return node.refuse("has ", outputs, " outputs", kRemedy,
                         "write linear(name, outputs) with 1 or more");
    }
    if (!has_rows(node, 0)) return;
    const auto& x = node.shape(0);
    if (transposed ? !node.transposed_parameter(1, outputs, node.last(x))
                   : !node.parameter(1, outputs, node.last(x)))
      return;
    if (node.operands() > 2 && !node.parameter(2, outputs)) return;
    node.result(node.with_last(x, outputs));
  }
};

}  // namespace halftone::description::kinds
