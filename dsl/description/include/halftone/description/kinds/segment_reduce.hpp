// SPDX-License-Identifier: Apache-2.0
// The sum, the mean or the largest of the times of a sequence that belong to a segment, for every
// segment.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct SegmentReduce {
  static constexpr bool is_count(double value) { return value >= 1 && value <= 2147483647.0; }
  static constexpr int kSegments = 0, kFunction = 1;
  static constexpr int kSum = 0, kMean = 1, kMax = 2;

  static constexpr OperandForm operands[] = {{.role = "x"}, {.role = "segment", .integers = true}};
  static constexpr const char* functions[] = {"sum", "mean", "max"};
  static constexpr SettingForm settings[] = {
      {.name = "segments",
       .type = SettingType::integer,
       .standard = 1,
       .accepts = is_count,
       .title = "a number of segments",
       .trouble = "is below 1 or no i32",
       .example = "16",
       .plain = true,
       .rule = "D93"},
      {.name = "function", .type = SettingType::choice, .words = functions, .title = "a function"}};
  static constexpr KindForm form{
      .word = "segment_reduce",
      .label = "D93",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto& x = node.shape(0);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, " but works on sequences", kRemedy,
                         "give its input a dimension of times before the last one");
    }
    if (node.shape(1) != node.rows(x)) {
      return node.refuse("reads ", x, " by the segments ", node.shape(1), " of ", OperandName{1},
                         kRemedy, "make them ", node.rows(x));
    }
    if (!node.is_fixed(node.last(x))) {
      return node.refuse("reads ", x, ", whose columns are the symbol '", node.last(x), "'",
                         kRemedy, "give it a number");
    }
    auto result = x;
    node.at(result, node.rank(x) - 2) = node.fixed(node.integer(kSegments));
    node.result(result);
  }
};

}  // namespace halftone::description::kinds
