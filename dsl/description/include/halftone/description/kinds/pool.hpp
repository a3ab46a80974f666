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
      if (!is_padded_within(node, i) || !windows::count_windows(node, i, result) ||
          !has_elements(node, i, result))
        return;
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

  /// Whether every window along dimension `i` ends behind the beginning of x, and begins before its
  /// end.
  template <class Node>
  static constexpr bool is_padded_within(Node& node, int i) {
    const windows::Along is = windows::along(node, i);
    const std::int64_t most = is.before > is.after ? is.before : is.after;
    if (most < is.reach()) return true;
    node.refuse("has a padding of ", node.fixed(most), " for a window of ", node.fixed(is.reach()),
                kRemedy, "make it smaller than the window");
    return false;
  }

  /// Whether every window along dimension `i`, a number, has an element of x: where the elements of
  /// one are farther apart than x is long, all of x may lie between two of them.
  template <class Node, class Shape>
  static constexpr bool has_elements(Node& node, int i, const Shape& result) {
    const windows::Along is = windows::along(node, i);
    const int at = node.rank(result) - 1 - windows::count_dimensions(node) + i;
    const auto length = node.at(node.shape(0), at);
    if (!node.is_fixed(length)) {
      limit(node, is, length);
      return true;
    }
    if (is.dilation <= node.extent(length)) return true;
    const std::int64_t windows = node.extent(node.at(result, at));
    // From is.dilation windows on the first place inside of x repeats.
    for (std::int64_t k = 0; k < windows && k < is.dilation; ++k) {
      const std::int64_t begin = k * is.stride - is.before;
      const std::int64_t first = (begin % is.dilation + is.dilation) % is.dilation;
      if (first < node.extent(length)) continue;
      node.refuse("has a window that begins at place ", node.fixed(begin), " and steps over all ",
                  length, " of ", node.shape(0), " by its dilation of ", node.fixed(is.dilation),
                  kRemedy, "make that ", length, " or less");
      return false;
    }
    return true;
  }

  /// Likewise of a length that is bound later, where a window begins before it.
  template <class Node, class Dimension>
  static constexpr void limit(Node& node, const windows::Along& is, const Dimension& length) {
    std::int64_t last = 0;  // of the places that first elements behind the beginning have
    for (std::int64_t begin = -is.before; begin < 0 && is.dilation > 1; begin += is.stride) {
      const std::int64_t first = (begin % is.dilation + is.dilation) % is.dilation;
      if (first > last) last = first;
    }
    if (last > 0)
      node.limit(length, last + 1, kNoMost, "has a window that steps over all of ", length,
                 " by its dilation of ", node.fixed(is.dilation));
  }
};

}  // namespace halftone::description::kinds
