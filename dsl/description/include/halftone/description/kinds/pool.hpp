// SPDX-License-Identifier: Apache-2.0
// The largest element or the mean of windows of x, [..., spatial..., channels], channel by channel.
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct Pool {
  /// Kernels read the elements of a window one by one, each so many of them as compilers take.
  static constexpr std::int64_t kMostElements = 256;
  static constexpr int kFunction = 4, kCountIncludePad = 5;
  static constexpr int kMax = 0, kAverage = 1;

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr const char* functions[] = {"max", "average"};
  static constexpr SettingForm settings[] = {
      windows::kernel,
      windows::stride,
      windows::dilation,
      windows::padding,
      {.name = "function", .type = SettingType::choice, .words = functions, .title = "a function"},
      {.name = "count_include_pad",
       .type = SettingType::flag,
       .optional = true,
       .title = "count_include_pad"}};
  static constexpr KindForm form{
      .word = "pool",
      .label = "D85",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    if (!windows::fit(node) || !has_few_elements(node)) return;
    auto result = node.shape(0);
    for (int i = 0; i < windows::count_dimensions(node); ++i) {
      if (!is_padded_within(node, i) || !windows::count_windows(node, i, result)) return;
    }
    if (node.states(kCountIncludePad) && node.choice(kFunction) == kMax) {
      return node.refuse("states count_include_pad of a maximum", kRemedy, "leave it out");
    }
    node.result(result);
  }

 private:
  template <class Node>
  static constexpr bool has_few_elements(Node& node) {
    std::int64_t elements = 1;
    for (int i = 0; i < windows::count_dimensions(node); ++i)
      elements *= windows::along(node, i).kernel;
    if (elements <= kMostElements) return true;
    node.refuse("has windows of ", node.fixed(elements), " elements", kRemedy, "give them ",
                node.fixed(kMostElements), " or fewer");
    return false;
  }

  /// Whether every window along dimension `i` reaches elements of x.
  template <class Node>
  static constexpr bool is_padded_within(Node& node, int i) {
    const windows::Along is = windows::along(node, i);
    const std::int64_t most = is.before > is.after ? is.before : is.after;
    if (most < is.reach()) return true;
    node.refuse("has a padding of ", node.fixed(most), " for a window of ", node.fixed(is.reach()),
                kRemedy, "make it smaller than the window");
    return false;
  }
};

}  // namespace halftone::description::kinds
