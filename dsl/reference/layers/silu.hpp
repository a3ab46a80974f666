// SPDX-License-Identifier: Apache-2.0
// silu: D32 and D51.
#pragma once

#include "../elementwise.hpp"

namespace halftone::reference {

struct Silu : LayerKind {
  static constexpr std::string_view word = "silu";
  static constexpr std::array classes{description::LayerClass::activation_function};

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return activation<Scalar>(layer, silu);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return activation_gradients<Scalar>(layer, g, silu_derivative);
  }
};

}  // namespace halftone::reference
