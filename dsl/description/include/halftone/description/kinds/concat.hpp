// SPDX-License-Identifier: Apache-2.0
// Its parts side by side along the last dimension.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Concat {
  static constexpr OperandForm operands[] = {{.role = "part", .repeated = true}};
  static constexpr KindForm form{
      .word = "concat",
      .label = "D27",
      .classes = in(LayerClass::elementwise),
      .operands = operands,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    std::int64_t columns = 0;
    for (int i = 0; i < node.operands(); ++i) {
      if (!has_rows(node, i)) return;
      const auto& part = node.shape(i);
      if (!(node.rows(part) == node.rows(node.shape(0)))) {
        return node.refuse("puts ", node.shape(0), " beside ", part, " of ", OperandName{i},
                           kRemedy, "make all dimensions but the last equal");
      }
      const auto last = node.last(part);
      if (!node.is_fixed(last)) {
        return node.refuse("adds up last dimensions, but that of ", OperandName{i},
                           " is the symbol '", last, "'", kRemedy, "give it a number");
      }
      columns = sum_of_extents(columns, node.extent(last));
    }
    node.result(node.with_last(node.shape(0), node.fixed(columns)));
  }
};

}  // namespace halftone::description::kinds
