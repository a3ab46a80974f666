// SPDX-License-Identifier: Apache-2.0
// For every token its row of weight.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct Embedding {
  static constexpr OperandForm operands[] = {{.role = "token", .integers = true},
                                             {.role = "weight",
                                              .group = ParameterGroup::weight,
                                              .may_be_tied = true,
                                              .start = Start::normal}};
  static constexpr SettingForm settings[] = {{.name = "padding_index",
                                              .type = SettingType::integer,
                                              .optional = true,
                                              .accepts = [](double row) { return row >= 0; },
                                              .title = "a padding_index",
                                              .trouble = "is negative",
                                              .example = "0",
                                              .rule = "D34"}};
  static constexpr KindForm form{
      .word = "embedding",
      .label = "D34",
      .operands = operands,
      .settings = settings,
      .gradient = {.saved_for_inputs = false, .saved_for_weights = false}};

  static constexpr long long kMostRows = 2147483647;

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto rows = node.chosen(1, 0, "rows"), columns = node.chosen(1, 1, "columns");
    const auto is_none = [&](const auto& size) {
      return node.is_fixed(size) && node.extent(size) <= 0;
    };
    if (is_none(rows) || is_none(columns)) {
      return node.refuse("has a weight of ", rows, " rows and ", columns, " columns", kRemedy,
                         "write embedding(name, rows, columns) with 1 or more of both");
    }
    if (node.is_fixed(rows) && node.extent(rows) > kMostRows) {
      return node.refuse("has a weight of ", rows, " rows", kRemedy, "write at most ",
                         node.fixed(kMostRows), ", since a token is an i32");
    }
    if (node.is_fixed(rows) && node.states(0) && node.integer(0) >= node.extent(rows)) {
      return node.refuse("has the padding_index ", node.fixed(node.integer(0)), " and ", rows,
                         " rows", kRemedy, "write the number of one of them, from 0 on");
    }
    const auto& token = node.shape(0);
    if (node.rank(token) == Node::kMostDimensions) {
      return node.refuse("adds a dimension to ", token, ", which has the most that there can be",
                         kRemedy, "join some of its dimensions");
    }
    if (!node.parameter(1, rows, columns)) return;
    if (!node.is_fixed(rows) || !node.is_fixed(columns)) {
      return node.refuse("reads rows of ", node.shape(1), " of ", OperandName{1}, kRemedy,
                         "give both of its dimensions a number");
    }
    node.result(node.extended(token, columns));
  }
};

}  // namespace halftone::description::kinds
