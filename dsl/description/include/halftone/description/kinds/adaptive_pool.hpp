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

  /// How many elements windows of a length that is bound later have at most, of `symbols` such
  /// dimensions beside others whose windows have `elements`; 0 where none are left.
  static constexpr std::int64_t most_of_symbol(std::int64_t elements, int symbols) {
    std::int64_t most = kMostElements;
    const auto product = [&] {
      std::int64_t all = elements;
      for (int i = 0; i < symbols; ++i) all *= most;
      return all;
    };
    while (most > 0 && product() > kMostElements) --most;
    return most;
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
    int symbols = 0;
    for (int i = 0; i < dimensions; ++i) {
      const int at = node.rank(x) - 1 - dimensions + i;
      const auto length = node.at(x, at);
      if (!windows::is_step(static_cast<double>(sizes[i]))) continue;  // what judges it refuses it
      const std::int64_t size = sizes[i];
      node.at(result, at) = node.fixed(size);
      if (!node.is_fixed(length)) {
        ++symbols;
        readers *= 2;
        continue;
      }
      if (node.extent(length) > kMostPlaces / size) {
        return node.refuse("makes ", node.fixed(size), " windows of ", length, " places", kRemedy,
                           "let their product be ", node.fixed(kMostPlaces), " or less");
      }
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
    if (symbols > 0 && !limit(node, most_of_symbol(elements, symbols))) return;
    node.result(result);
  }

 private:
  /// Windows along dimensions whose length is bound later have `most` elements at most, and hold
  /// one or more; false where no length is left.
  template <class Node>
  static constexpr bool limit(Node& node, std::int64_t most) {
    const auto sizes = node.integers(kSize);
    const int dimensions = static_cast<int>(sizes.size());
    const auto& x = node.shape(0);
    for (int i = 0; i < dimensions; ++i) {
      const auto length = node.at(x, node.rank(x) - 1 - dimensions + i);
      if (node.is_fixed(length) || !windows::is_step(static_cast<double>(sizes[i]))) continue;
      const std::int64_t size = sizes[i];
      const bool divides = node.factor(length) % size == 0 && node.extent(length) % size == 0;
      const std::int64_t fits = divides ? most * size : (most - 1) * size + 1;
      const std::int64_t places = fits < kMostPlaces / size ? fits : kMostPlaces / size;
      const std::int64_t first = node.factor(length) + node.extent(length);
      if (most < 1 || places < size || first > places) {
        node.refuse("makes ", node.fixed(size), " windows of '", length, "' places", kRemedy,
                    "give it a number, or a symbol taken fewer times, so that its windows have ",
                    node.fixed(most), " elements or fewer");
        return false;
      }
      node.limit(length, size, places, "makes ", node.fixed(size), " windows of ", length,
                 " places, each of 1 to ", node.fixed(most), " elements along it");
    }
    return true;
  }
};

}  // namespace halftone::description::kinds
