// SPDX-License-Identifier: Apache-2.0
// The largest element or the mean of windows of x, [..., spatial..., channels], channel by channel,
// as many as `size` says: each begins and ends where its share of x does, rounded outwards.
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct AdaptivePool {
  /// A kernel reads the elements of a window, and the windows of an element, one by one.
  static constexpr std::int64_t kMostElements = 64;
  static constexpr std::int64_t kMostPlaces = 2147483647;
  static constexpr int kSize = 0, kFunction = 1;
  static constexpr int kMax = 0, kAverage = 1;

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr const char* functions[] = {"max", "average"};
  static constexpr SettingForm settings[] = {
      {.name = "size",
       .type = SettingType::integers,
       .accepts = windows::is_step,
       .title = "a size",
       .trouble = "is not from 1 to 65536",
       .example = "7",
       .plain = true,
       .rule = "D99"},
      {.name = "function", .type = SettingType::choice, .words = functions, .title = "a function"}};
  static constexpr KindForm form{
      .word = "adaptive_pool",
      .label = "D99",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  /// How many elements the largest of `windows` windows over `places` has.
  static constexpr std::int64_t largest(std::int64_t places, std::int64_t windows) {
    std::int64_t a = places, b = windows;  // to their greatest common divisor
    while (b != 0) {
      const std::int64_t rest = a % b;
      a = b;
      b = rest;
    }
    return (2 * windows - a + places - 1) / windows;
  }

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto sizes = node.integers(kSize);
    const int dimensions = static_cast<int>(sizes.size());
    if (!windows::states_dimensions(node, dimensions, "size") ||
        !windows::has_spatial(node, dimensions, "pools "))
      return;
    const auto& x = node.shape(0);
    auto result = x;
    std::int64_t elements = 1, readers = 1;
    for (int i = 0; i < dimensions; ++i) {
      const int at = node.rank(x) - 1 - dimensions + i;
      if (!windows::has_length(node, at)) return;
      const auto length = node.at(x, at);
      if (!windows::is_step(static_cast<double>(sizes[i]))) continue;  // what judges it refuses it
      const std::int64_t size = sizes[i];
      if (node.extent(length) > kMostPlaces / size) {
        return node.refuse("makes ", node.fixed(size), " windows of ", length, " places", kRemedy,
                           "let their product be ", node.fixed(kMostPlaces), " or less");
      }
      node.at(result, at) = node.fixed(size);
      elements *= largest(node.extent(length), size);
      readers *= largest(size, node.extent(length));
      if (elements > kMostElements || readers > kMostElements) break;
    }
    const std::int64_t most = elements > readers ? elements : readers;
    if (most > kMostElements) {
      return node.refuse("has ", elements > readers ? "windows" : "elements", " of ",
                         node.fixed(most), elements > readers ? " elements" : " windows", kRemedy,
                         "give them ", node.fixed(kMostElements), " or fewer");
    }
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
