// SPDX-License-Identifier: Apache-2.0
// Products of windows of x, [..., spatial..., in], with the weight, [out, kernel..., in / groups].
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct Convolution {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight",
       .group = ParameterGroup::weight,
       .may_be_tied = true,
       .start = Start::by_inputs},
      {.role = "bias", .optional = true, .group = ParameterGroup::bias, .start = Start::by_inputs}};
  static constexpr SettingForm settings[] = {windows::kernel, windows::stride, windows::dilation,
                                             windows::padding, windows::groups};
  static constexpr const char* internals[] = {"product"};
  static constexpr KindForm form{.word = "convolution",
                                 .label = "D77",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals,
                                 .gradient = {.saved_for_inputs = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!windows::fit(node)) return;
    const auto outputs = node.chosen(1, 0, "outputs");
    if (!windows::has_groups(node, outputs)) return;
    auto result = node.with_last(node.shape(0), outputs);
    for (int i = 0; i < windows::count_dimensions(node); ++i) {
      if (!windows::count_windows(node, i, result)) return;
    }
    if (!node.shaped_parameter(1, windows::weight_of(node, outputs))) return;
    if (node.operands() > 2 && !node.parameter(2, outputs)) return;
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
