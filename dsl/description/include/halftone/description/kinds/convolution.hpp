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
    if (node.is_fixed(outputs) && node.extent(outputs) <= 0) {
      return node.refuse("has ", outputs, " outputs", kRemedy, "write a number of 1 or more");
    }
    const auto x = node.shape(0);
    const std::int64_t channels = node.extent(node.last(x));
    if (!windows::divides(node, channels, " channels into ") ||
        (node.is_fixed(outputs) && !windows::divides(node, node.extent(outputs), " outputs into ")))
      return;
    auto weight = node.extended({}, outputs);
    auto result = node.with_last(x, outputs);
    for (int i = 0; i < windows::count_dimensions(node); ++i) {
      weight = node.extended(weight, node.fixed(windows::along(node, i).kernel));
      if (!windows::count_windows(node, i, result)) return;
    }
    weight = node.extended(weight, node.fixed(channels / windows::count_groups(node)));
    if (!node.shaped_parameter(1, weight)) return;
    if (node.operands() > 2 && !node.parameter(2, outputs)) return;
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
