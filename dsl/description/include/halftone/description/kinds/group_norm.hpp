// SPDX-License-Identifier: Apache-2.0
// Normalizes groups of neighbouring channels of every image over all of its places, then weight and
// bias.
#pragma once

#include "halftone/description/epsilon.hpp"
#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct GroupNorm {
  static constexpr bool is_count(double value) { return value >= 1 && value <= 65536; }

  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight", .group = ParameterGroup::weight, .first = 1},
      {.role = "bias", .group = ParameterGroup::bias}};
  static constexpr SettingForm settings[] = {kEpsilon,
                                             {.name = "groups",
                                              .type = SettingType::integer,
                                              .optional = true,
                                              .accepts = is_count,
                                              .title = "a number of groups",
                                              .trouble = "is not in [1, 65536]",
                                              .example = "8",
                                              .rule = "D83"}};
  static constexpr const char* internals[] = {"normalized"};
  static constexpr KindForm form{.word = "group_norm",
                                 .label = "D83",
                                 .classes = in(LayerClass::normalization),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals};

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto& x = node.shape(0);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, ", which has no images to normalize", kRemedy,
                         "give it a dimension in front of its channels");
    }
    const auto channels = node.last(x);
    if (!node.is_fixed(channels)) {
      return node.refuse("reads ", x, ", whose channels are the symbol '", channels, "'", kRemedy,
                         "give them a number");
    }
    // What was not judged yet may be no number of groups.
    const std::int64_t groups = node.states(1) ? node.integer(1) : 1;
    if (groups > 0 && node.extent(channels) % groups != 0) {
      return node.refuse("cuts ", channels, " channels into ", node.fixed(groups), " groups",
                         kRemedy, "make them a multiple of the groups");
    }
    if (node.parameter(1, channels) && node.parameter(2, channels)) node.result(x);
  }
};

}  // namespace halftone::description::kinds
