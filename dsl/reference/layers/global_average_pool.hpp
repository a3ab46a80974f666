// SPDX-License-Identifier: Apache-2.0
// global_average_pool: D89 and D90.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct GlobalAveragePool : LayerKind {
  static constexpr std::string_view word = "global_average_pool";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D89
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"];
    const std::int64_t n = columns(layer.extents), places = places_of(layer);
    Values<Scalar> y;
    for (std::int64_t image = 0; image < std::ssize(x); image += places * n) {
      for (const Scalar& total : column_sums(x.subspan(image, places * n), n))
        y.push_back(total / static_cast<Scalar>(places));
    }
    return y;
  }

  // D90
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const std::int64_t n = columns(layer.extents), places = places_of(layer);
    Values<Scalar> of_x(count(layer.operand("x").extents));
    for (std::int64_t e = 0; e < std::ssize(of_x); ++e)
      of_x[e] = g[e / (places * n) * n + e % n] / static_cast<Scalar>(places);
    return {of_x};
  }

 private:
  template <class Scalar>
  static std::int64_t places_of(const Layer<Scalar>& layer) {
    return count(layer.operand("x").extents) / count(layer.extents);
  }
};

}  // namespace halftone::reference
