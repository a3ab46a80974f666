// SPDX-License-Identifier: Apache-2.0
// expand: D81 and D82.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Expand : LayerKind {
  static constexpr std::string_view word = "expand";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D81
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"];
    const std::int64_t n = columns(layer.extents), repeats = repeats_of(layer);
    Values<Scalar> y(count(layer.extents));
    for (std::int64_t e = 0; e < std::ssize(y); ++e) y[e] = x[e / (repeats * n) * n + e % n];
    return y;
  }

  // D82
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const std::int64_t n = columns(layer.extents), step = repeats_of(layer) * n;
    Values<Scalar> of_x;
    for (std::int64_t row = 0; row < std::ssize(g); row += step) {
      const Values<Scalar> sums = column_sums(g.subspan(row, step), n);
      of_x.insert(of_x.end(), sums.begin(), sums.end());
    }
    return {of_x};
  }

 private:
  template <class Scalar>
  static std::int64_t repeats_of(const Layer<Scalar>& layer) {
    return count(layer.extents) / count(layer.operand("x").extents);
  }
};

}  // namespace halftone::reference
