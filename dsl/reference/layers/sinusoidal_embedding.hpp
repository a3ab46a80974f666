// SPDX-License-Identifier: Apache-2.0
// sinusoidal_embedding: D66 and D69.
#pragma once

#include "../angles.hpp"

namespace halftone::reference {

struct SinusoidalEmbedding : LayerKind {
  static constexpr std::string_view word = "sinusoidal_embedding";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D66
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"];
    const std::int64_t n = columns(layer.extents);
    Values<Scalar> y(x.size());
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t j = e % n;
      const Scalar f = frequency<Scalar>(j / 2, n, layer.settings.numbers.at("base"));
      const Scalar angle = time_of(layer, e / n) * f;
      y[e] = x[e] + (j % 2 == 0 ? sin(angle) : cos(angle));
    }
    return y;
  }

  // D69
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")].assign(g.begin(), g.end());
    return gradients;
  }
};

}  // namespace halftone::reference
