// SPDX-License-Identifier: Apache-2.0
// slice: D75 and D76.
#pragma once

#include <algorithm>

#include "../layer.hpp"

namespace halftone::reference {

struct Slice : LayerKind {
  static constexpr std::string_view word = "slice";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D75
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    Values<Scalar> y(count(layer.extents));
    const Values<Scalar>& x = layer.operand("x").values;
    for_each_row(layer, [&](std::int64_t in_x, std::int64_t in_y, std::int64_t taken) {
      std::copy_n(x.begin() + in_x, taken, y.begin() + in_y);
    });
    return y;
  }

  // D76
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    Values<Scalar> of_x(count(layer.operand("x").extents), Scalar(0));
    for_each_row(layer, [&](std::int64_t in_x, std::int64_t in_y, std::int64_t taken) {
      std::copy_n(g.begin() + in_y, taken, of_x.begin() + in_x);
    });
    return {of_x};
  }

 private:
  // Calls visit(where the columns begin in x, where in the result, how many) for every row.
  template <class Scalar, class Visit>
  static void for_each_row(const Layer<Scalar>& layer, Visit visit) {
    const std::int64_t width = columns(layer.operand("x").extents);
    const std::int64_t taken = columns(layer.extents);
    const auto begin = static_cast<std::int64_t>(layer.settings.numbers.at("begin"));
    for (std::int64_t i = 0; i < count(layer.extents) / taken; ++i)
      visit(i * width + begin, i * taken, taken);
  }
};

}  // namespace halftone::reference
