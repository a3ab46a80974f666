// SPDX-License-Identifier: Apache-2.0
// For every time of a sequence the row of x that its segment has.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct SegmentBroadcast {
  static constexpr OperandForm operands[] = {{.role = "x"}, {.role = "segment", .integers = true}};
  static constexpr KindForm form{
      .word = "segment_broadcast",
      .label = "D95",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto &x = node.shape(0), &segment = node.shape(1);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, " but works on segments", kRemedy,
                         "give its input a dimension of segments before the last one");
    }
    const auto batch = node.rows(node.rows(x));
    if (node.rank(segment) != node.rank(x) - 1 || node.rows(segment) != batch) {
      return node.refuse("reads segments of ", x, " for the times ", segment, " of ",
                         OperandName{1}, kRemedy, "make them ", batch,
                         " with a dimension of times behind");
    }
    const auto count = node.last(node.rows(x)), columns = node.last(x);
    if (!node.is_fixed(count) || !node.is_fixed(columns)) {
      return node.refuse("reads ", x, " of ", OperandName{0}, kRemedy,
                         "give its segments and its columns a number");
    }
    node.result(node.extended(segment, columns));
  }
};

}  // namespace halftone::description::kinds
