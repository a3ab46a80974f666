// SPDX-License-Identifier: Apache-2.0
// x, [..., spatial..., channels], with more elements along its spatial dimensions: each repeated,
// or lines between them.
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct Upsample {
  static constexpr double kMostFactor = 8;
  /// A kernel adds the gradients of all elements that one becomes.
  static constexpr std::int64_t kMostElements = 64;
  static constexpr int kFactor = 0, kMode = 1;
  static constexpr int kNearest = 0, kLinear = 1;

  static constexpr bool is_factor(double value) { return value >= 1 && value <= kMostFactor; }

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr const char* modes[] = {"nearest", "linear"};
  static constexpr SettingForm settings[] = {
      {.name = "factor",
       .type = SettingType::integers,
       .accepts = is_factor,
       .title = "a factor",
       .trouble = "is not from 1 to 8",
       .example = "2",
       .plain = true,
       .rule = "D87"},
      {.name = "mode", .type = SettingType::choice, .words = modes, .title = "a mode"}};
  static constexpr KindForm form{
      .word = "upsample",
      .label = "D87",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto factors = node.integers(kFactor);
    const int dimensions = static_cast<int>(factors.size());
    if (!windows::states_dimensions(node, dimensions, "factor") ||
        !windows::has_spatial(node, dimensions, "stretches "))
      return;
    const auto& x = node.shape(0);
    auto result = x;
    std::int64_t elements = 1;
    for (int i = 0; i < dimensions; ++i) {
      const int at = node.rank(x) - 1 - dimensions + i;
      // One that was not judged yet may be none.
      const std::int64_t factor = is_factor(static_cast<double>(factors[i])) ? factors[i] : 1;
      if (!windows::lengthen(node, at, factor, result)) return;
      elements *= factor;
    }
    if (elements > kMostElements) {
      return node.refuse("makes ", node.fixed(elements), " elements of one", kRemedy, "make them ",
                         node.fixed(kMostElements), " or fewer");
    }
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
