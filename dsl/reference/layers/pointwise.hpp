// SPDX-License-Identifier: Apache-2.0
// pointwise: D28 and D47.
#pragma once

#include "../expression.hpp"

namespace halftone::reference {

struct Pointwise : LayerKind {
  static constexpr std::string_view word = "pointwise";
  static constexpr std::array classes{description::LayerClass::elementwise};

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return expression_values(layer);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return expression_gradients(layer, [g](std::size_t e) { return g[e]; });
  }
};

}  // namespace halftone::reference
