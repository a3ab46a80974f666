// SPDX-License-Identifier: Apache-2.0
// gelu: D24, D25, D43 and D44.
#pragma once

#include "../elementwise.hpp"

namespace halftone::reference {

struct Gelu : LayerKind {
  static constexpr std::string_view word = "gelu";
  static constexpr std::array classes{description::LayerClass::activation_function};

  template <class Scalar>
  static bool is_tanh(const Layer<Scalar>& layer) {
    return layer.settings.words.at("approximation") == "tanh";
  }

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return is_tanh(layer) ? activation<Scalar>(layer, gelu_tanh)
                          : activation<Scalar>(layer, gelu_erf);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return is_tanh(layer) ? activation_gradients<Scalar>(layer, g, gelu_tanh_derivative)
                          : activation_gradients<Scalar>(layer, g, gelu_erf_derivative);
  }
};

}  // namespace halftone::reference
