// SPDX-License-Identifier: Apache-2.0
// Every channel of a sequence, convolved with a filter that is as long as the sequence.
#pragma once

#include "halftone/description/shape_rule.hpp"

namespace halftone::description::kinds {

struct LongConvolution {
  static constexpr OperandForm operands[] = {{.role = "x"}, {.role = "filter"}};
  /// What products of matrices multiply; a format other than f32 asks for them (Z7).
  static constexpr const char* internals[] = {"transforms"};
  static constexpr KindForm form{.word = "long_convolution",
                                 .label = "D101",
                                 .operands = operands,
                                 .internals = internals,
                                 .may_contract = true};

  static constexpr long long kMostPlaces = 1 << 20;
  /// Of a sequence, both numbers rounded up as its spectrum has them: a kernel counts the columns
  /// of such a spectrum in 32 bits.
  static constexpr long long kMostElements = 1 << 29, kBlock = 16;

  static constexpr long long rounded(long long places, long long channels) {
    long long of_spectrum = 2;
    while (of_spectrum < places) of_spectrum *= 2;
    return of_spectrum * ((channels + kBlock - 1) / kBlock * kBlock);
  }

  template <class Node>
  static constexpr void infer(Node& node) {
    const auto &x = node.shape(0), &filter = node.shape(1);
    if (node.rank(x) < 2) {
      return node.refuse("reads ", x, " but works on sequences", kRemedy,
                         "give its input a dimension of places before the last one");
    }
    const auto places = node.at(x, node.rank(x) - 2), channels = node.last(x);
    if (!node.is_fixed(places) || !node.is_fixed(channels)) {
      return node.refuse("transforms ", x, ", whose length or channels are a symbol", kRemedy,
                         "give its last two dimensions numbers");
    }
    if (node.rank(filter) != 2 || !(node.at(filter, 0) == places) ||
        !(node.last(filter) == channels)) {
      return node.refuse("convolves ", x, " with ", filter, " of ", OperandName{1}, kRemedy,
                         "make the filter [", places, ", ", channels,
                         "], a value for every place and channel");
    }
    if (node.extent(places) > kMostPlaces || node.extent(channels) > kMostElements ||
        rounded(node.extent(places), node.extent(channels)) > kMostElements) {
      return node.refuse("transforms sequences of ", places, " places and ", channels, " channels",
                         kRemedy, "make them ", node.fixed(kMostPlaces), " places at most, and ",
                         node.fixed(kMostElements), " elements");
    }
    node.result(x);
  }
};

}  // namespace halftone::description::kinds
