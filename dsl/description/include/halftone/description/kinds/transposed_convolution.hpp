// SPDX-License-Identifier: Apache-2.0
// The way back of a convolution's windows: every output is the sum of products of the weight, [out,
// kernel..., in / groups], with the elements of x, [..., spatial..., in], whose windows hold it.
#pragma once

#include "halftone/description/windows.hpp"

namespace halftone::description::kinds {

struct TransposedConvolution {
  static constexpr OperandForm operands[] = {
      {.role = "x"},
      {.role = "weight",
       .group = ParameterGroup::weight,
       .may_be_tied = true,
       .start = Start::by_inputs},
      {.role = "bias", .optional = true, .group = ParameterGroup::bias, .start = Start::by_inputs}};
  static constexpr SettingForm settings[] = {windows::kernel,   windows::stride,
                                             windows::dilation, windows::padding,
                                             windows::groups,   windows::output_padding};
  static constexpr const char* internals[] = {"product"};
  static constexpr KindForm form{.word = "transposed_convolution",
                                 .label = "D79",
                                 .classes = in(LayerClass::contraction),
                                 .operands = operands,
                                 .settings = settings,
                                 .internals = internals,
                                 .gradient = {.saved_for_inputs = false}};

  template <class Node>
  static constexpr void infer(Node& node) {
    const int dimensions = windows::count_dimensions(node);
    if (!windows::fit(node) ||
        !windows::has_numbers(node, windows::kOutputPadding, "output_padding", dimensions))
      return;
    const auto outputs = node.chosen(1, 0, "outputs");
    if (!windows::has_groups(node, outputs)) return;
    auto result = node.with_last(node.shape(0), outputs);
    for (int i = 0; i < dimensions; ++i) {
      if (!count_places(node, i, result)) return;
    }
    if (!node.shaped_parameter(1, windows::weight_of(node, outputs))) return;
    if (node.operands() > 2 && !node.parameter(2, outputs)) return;
    node.result(result);
  }

 private:
  /// How many places windows that stand as x does reach along dimension `i`, without the padding;
  /// of a symbol exactly the stride times as many (D114). False where it is refused.
  template <class Node, class Shape>
  static constexpr bool count_places(Node& node, int i, Shape& result) {
    const auto& x = node.shape(0);
    const int at = node.rank(x) - 1 - windows::count_dimensions(node) + i;
    const windows::Along is = windows::along(node, i);
    const std::int64_t more = windows::number_of(node, windows::kOutputPadding, i, 0);
    if (more >= is.stride) {
      node.refuse("has an output_padding of ", node.fixed(more), " for a stride of ",
                  node.fixed(is.stride), kRemedy, "make it smaller than the stride");
      return false;
    }
    const auto length = node.at(x, at);
    if (!node.is_fixed(length)) {
      const std::int64_t both = is.reach() + more;
      if (is.before + is.after + is.stride == both)
        return windows::lengthen(node, at, is.stride, result);
      node.refuse("reads ", x, ", and would not make ", node.fixed(is.stride),
                  " places of each along its spatial dimension '", length, "'", kRemedy,
                  "give it a number, or let the stride and both sides' padding add up to ",
                  node.fixed(both), ", the window's reach with the output_padding");
      return false;
    }
    const std::int64_t steps = bounded_extent(node.extent(length)) - 1;
    const std::int64_t places = steps * is.stride + is.reach() + more - is.before - is.after;
    if (places < 1) {
      node.refuse("leaves ", node.fixed(places), " places of ", x, kRemedy,
                  "make the padding smaller");
      return false;
    }
    node.at(result, at) = node.fixed(places);
    return true;
  }
};

}  // namespace halftone::description::kinds
