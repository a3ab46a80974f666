// SPDX-License-Identifier: Apache-2.0
// x, [..., spatial..., channels], with groups of channels as places, or places as channels.
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct PixelShuffle {
  static constexpr int kFactor = 0, kInverse = 1;

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr SettingForm settings[] = {
      {.name = "factor",
       .type = SettingType::integers,
       .accepts = windows::is_step,
       .title = "a factor",
       .trouble = "is not from 1 to 65536",
       .example = "2",
       .plain = true,
       .rule = "D97"},
      {.name = "inverse", .type = SettingType::flag, .optional = true, .title = "inverse"}};
  static constexpr KindForm form{
      .word = "pixel_shuffle",
      .label = "D97",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto factors = node.integers(kFactor);
    const int dimensions = static_cast<int>(factors.size());
    if (!windows::states_dimensions(node, dimensions, "factor") ||
        !windows::has_spatial(node, dimensions, "shuffles "))
      return;
    const auto& x = node.shape(0);
    const bool inverse = node.states(kInverse);
    auto result = x;
    std::int64_t places = 1;
    for (int i = 0; i < dimensions; ++i) {
      // One that was not judged yet may be none.
      const std::int64_t factor =
          windows::is_step(static_cast<double>(factors[i])) ? factors[i] : 1;
      const int at = node.rank(x) - 1 - dimensions + i;
      if (inverse && !windows::divides_length(node, at, factor)) {
        return node.refuse("makes channels of ", node.fixed(factor), " places each of a dimension ",
                           "of ", node.at(x, at), kRemedy, "make that a multiple");
      }
      if (inverse) {
        node.at(result, at) = windows::part_of_length(node, at, factor);
      } else if (!windows::lengthen(node, at, factor, result)) {
        return;
      }
      places *= factor;
    }
    const std::int64_t channels = node.extent(node.last(x));
    if (!inverse && channels % places != 0) {
      return node.refuse("makes ", node.fixed(places), " places of every so many of ", node.last(x),
                         " channels", kRemedy, "make them a multiple");
    }
    node.result(node.with_last(
        result, node.fixed(inverse ? product_of_extents(channels, places) : channels / places)));
  }
};

}  // namespace halftone::description::kinds
