// SPDX-License-Identifier: Apache-2.0
// x, [..., spatial..., channels], with more elements at the ends of its spatial dimensions, or with
// fewer.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct Pad {
  /// A kernel adds the gradients of all elements that the one at an end is repeated in.
  static constexpr std::int64_t kMostRepeated = 32;
  static constexpr int kPadding = 0, kMode = 1, kValue = 2;
  static constexpr int kConstant = 0, kReflect = 1, kReplicate = 2, kCircular = 3;

  static constexpr bool is_side(double value) {
    return value >= -windows::kMost && value <= windows::kMost;
  }

  static constexpr OperandForm operands[] = {{.role = "x"}};
  static constexpr const char* modes[] = {"constant", "reflect", "replicate", "circular"};
  static constexpr SettingForm settings[] = {
      {.name = "padding",
       .type = SettingType::integers,
       .accepts = is_side,
       .title = "a padding",
       .trouble = "is not from -65536 to 65536",
       .example = "1",
       .rule = "D91"},
      {.name = "mode", .type = SettingType::choice, .words = modes, .title = "a mode"},
      {.name = "pad_value",
       .optional = true,
       .accepts = is_finite_in_f32,
       .title = "a pad_value",
       .trouble = "is not finite in f32",
       .example = "1",
       .rule = "D91"}};
  static constexpr KindForm form{
      .word = "pad",
      .label = "D91",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const int sides = static_cast<int>(node.integers(kPadding).size()), dimensions = sides / 2;
    if (sides % 2 != 0 || dimensions < 1 || dimensions > 3) {
      return node.refuse("states ", node.fixed(sides), " numbers of its padding", kRemedy,
                         "state those before and then those behind each spatial dimension, 1 to 3");
    }
    if (node.states(kValue) && node.choice(kMode) != kConstant) {
      return node.refuse("states a pad_value, but repeats elements of its input", kRemedy,
                         "leave it out");
    }
    if (!windows::has_spatial(node, dimensions, "pads ")) return;
    auto result = node.shape(0);
    for (int i = 0; i < dimensions; ++i) {
      if (!lengthen(node, i, dimensions, result)) return;
    }
    node.result(result);
  }

 private:
  /// 0 where it was not judged yet and is none.
  template <class Node>
  static constexpr std::int64_t side(Node& node, int i) {
    const std::int64_t stated = node.integers(kPadding)[i];
    return is_side(static_cast<double>(stated)) ? stated : 0;
  }

  /// Dimension `i` of the result; false where it is refused.
  template <class Node, class Shape>
  static constexpr bool lengthen(Node& node, int i, int dimensions, Shape& result) {
    const std::int64_t before = side(node, i), after = side(node, dimensions + i);
    if (before == 0 && after == 0) return true;
    const auto& x = node.shape(0);
    const int at = node.rank(x) - 1 - dimensions + i;
    const auto length = node.at(x, at);
    const std::int64_t larger = before > after ? before : after;
    if (!node.is_fixed(length)) {
      if (node.choice(kMode) == kReplicate && !repeats_few(node, larger, length)) return false;
      limit(node, before, after, length);
      node.at(result, at) = node.with_extent(length, node.extent(length) + before + after);
      return true;
    }
    const std::int64_t padded = sum_of_extents(node.extent(length), before + after);
    if (padded < 1) {
      node.refuse("cuts ", node.fixed(-before - after), " elements of ", length, " of ", x, kRemedy,
                  "leave one or more");
      return false;
    }
    if (!repeats_few(node, larger, length)) return false;
    node.at(result, at) = node.fixed(padded);
    return true;
  }

  /// What a length that is bound later has at least: an element that stays, and as many as are
  /// repeated.
  template <class Node, class Dimension>
  static constexpr void limit(Node& node, std::int64_t before, std::int64_t after,
                              const Dimension& length) {
    const std::int64_t larger = before > after ? before : after;
    const int mode = node.choice(kMode);
    const std::int64_t repeated = mode == kReflect ? larger + 1 : mode == kCircular ? larger : 1;
    if (repeated > 1)
      node.limit(length, repeated, kNoMost, "has a padding of ", node.fixed(larger),
                 " at a dimension of ", length, ", ", modes[mode]);
    if (before + after < 0)
      node.limit(length, 1 - before - after, kNoMost, "cuts ", node.fixed(-before - after),
                 " elements of ", length);
  }

  template <class Node, class Dimension>
  static constexpr bool repeats_few(Node& node, std::int64_t side, const Dimension& length) {
    const int mode = node.choice(kMode);
    const std::int64_t n = node.extent(length);
    const std::int64_t most = mode == kReflect     ? n - 1
                              : mode == kReplicate ? kMostRepeated
                              : mode == kCircular  ? n
                                                   : side;
    if (side <= most) return true;
    node.refuse("has a padding of ", node.fixed(side), " at a dimension of ", length, ", ",
                modes[mode], kRemedy, "make it ", node.fixed(most), " or less");
    return false;
  }
};

}  // namespace halftone::description::kinds
