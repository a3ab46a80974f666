// SPDX-License-Identifier: Apache-2.0
// silu: D32 and D51.
#pragma once

#include "../elementwise.hpp"

namespace halftone::reference {

// D32
template <class Scalar>
Scalar silu(Scalar x) {
  return x * sigmoid(x);
}

// D51
template <class Scalar>
Scalar silu_gradient(Scalar x, Scalar g) {
  const Scalar r = sigmoid(x);
  return g * (r * fma(x, 1 - r, Scalar(1)));
}

struct Silu : LayerKind {
  static constexpr std::string_view word = "silu";
  static constexpr std::array classes{description::LayerClass::activation_function};

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return elementwise(layer, silu<Scalar>);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return elementwise_gradients(layer, g, silu_gradient<Scalar>);
  }
};

}  // namespace halftone::reference
