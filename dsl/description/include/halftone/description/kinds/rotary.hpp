// SPDX-License-Identifier: Apache-2.0
// Turns pairs of every head's elements by angles that grow with the position.
#pragma once

#include "halftone/description/in_f32.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Rotary {
  static constexpr bool is_count(double value) { return value >= 1 && value <= 2147483647.0; }

  static constexpr OperandForm operands[] = {
      {.role = "x"}, {.role = "position", .optional = true, .integers = true}};
  /// The last three are those of Llama 3, together or not at all.
  static constexpr SettingForm settings[] = {{.name = "heads",
                                              .type = SettingType::integer,
                                              .standard = 1,
                                              .accepts = is_count,
                                              .title = "a number of heads",
                                              .trouble = "is below 1 or no i32",
                                              .example = "8",
                                              .plain = true,
                                              .rule = "D64"},
                                             {.name = "base",
                                              .standard = 10000,
                                              .accepts = is_positive_in_f32,
                                              .title = "a base",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "10000",
                                              .rule = "D64"},
                                             {.name = "interleaved", .type = SettingType::flag},
                                             {.name = "factor",
                                              .standard = 1,
                                              .accepts = is_positive_in_f32,
                                              .title = "a factor",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "4",
                                              .rule = "D64"},
                                             {.name = "rotated",
                                              .type = SettingType::integer,
                                              .optional = true,
                                              .accepts = is_count,
                                              .title = "a number of rotated elements",
                                              .trouble = "is below 1 or no i32",
                                              .example = "64",
                                              .rule = "D64"},
                                             {.name = "low_factor",
                                              .optional = true,
                                              .accepts = is_positive_in_f32,
                                              .title = "a low_factor",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "1",
                                              .rule = "D64"},
                                             {.name = "high_factor",
                                              .optional = true,
                                              .accepts = is_positive_in_f32,
                                              .title = "a high_factor",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "4",
                                              .rule = "D64"},
                                             {.name = "original_length",
                                              .optional = true,
                                              .accepts = is_positive_in_f32,
                                              .title = "an original_length",
                                              .trouble = "is not positive and finite in f32",
                                              .example = "8192",
                                              .rule = "D64"}};
  static constexpr KindForm form{
      .word = "rotary",
      .label = "D64",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  static constexpr int kRotated = 4, kLow = 5, kHigh = 6, kLength = 7;

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto& x = node.shape(0);
    if (!has_positions(node, 1)) return;
    const auto columns = node.last(x);
    const long long heads = node.integer(0);
    if (!node.is_fixed(columns) || heads < 1 || node.extent(columns) % heads != 0) {
      return node.refuse("has ", node.fixed(heads), " heads in rows of ", columns, kRemedy,
                         "make the last dimension of ", OperandName{0}, " a multiple of them");
    }
    const long long width = node.extent(columns) / heads;
    const long long rotated = node.states(kRotated) ? node.integer(kRotated) : width;
    if (rotated % 2 != 0 || rotated > width) {
      return node.refuse("rotates ", node.fixed(rotated), " of the ", node.fixed(width),
                         " elements of a head", kRemedy, "rotate an even number of them");
    }
    if (scales_by_length(node)) node.result(x);
  }

 private:
  /// The three settings of Llama 3 belong together.
  template <class Node>
  static constexpr bool scales_by_length(Node& node) {
    const int stated = node.states(kLow) + node.states(kHigh) + node.states(kLength);
    if (stated == 0) return true;
    if (stated < 3) {
      node.refuse("states some of low_factor, high_factor and original_length", kRemedy,
                  "state all three of them, or none");
      return false;
    }
    if (node.number(kLow) < node.number(kHigh)) return true;
    node.refuse("has a low_factor that is not below its high_factor", kRemedy,
                "make it less, such as 1 and 4");
    return false;
  }
};

}  // namespace halftone::description::kinds
