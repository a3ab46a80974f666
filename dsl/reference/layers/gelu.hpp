// SPDX-License-Identifier: Apache-2.0
// gelu: D24, D25, D43 and D44. Constants are rounded once from double.
#pragma once

#include <numbers>

#include "../elementwise.hpp"

namespace halftone::reference {

template <class Scalar>
struct GeluConstants {
  static constexpr Scalar sqrt_half = static_cast<Scalar>(0.5 * std::numbers::sqrt2);
  static constexpr Scalar inverse_sqrt_two_pi =
      static_cast<Scalar>(0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  static constexpr Scalar sqrt_two_over_pi =
      static_cast<Scalar>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  static constexpr Scalar cubic = static_cast<Scalar>(0.044715);
  static constexpr Scalar three_cubic = static_cast<Scalar>(3 * 0.044715);
  static constexpr Scalar half = static_cast<Scalar>(0.5);
};

// D24
template <class Scalar>
Scalar gelu_erf(Scalar x) {
  using C = GeluConstants<Scalar>;
  return (C::half * x) * (1 + erf(x * C::sqrt_half));
}

// D43
template <class Scalar>
Scalar gelu_erf_gradient(Scalar x, Scalar g) {
  using C = GeluConstants<Scalar>;
  const Scalar f = C::half * (1 + erf(x * C::sqrt_half));
  const Scalar p = exp(-C::half * (x * x)) * C::inverse_sqrt_two_pi;
  return g * fma(x, p, f);
}

// u of D25
template <class Scalar>
Scalar gelu_tanh_argument(Scalar x) {
  using C = GeluConstants<Scalar>;
  return C::sqrt_two_over_pi * fma((x * x) * x, C::cubic, x);
}

// D25
template <class Scalar>
Scalar gelu_tanh(Scalar x) {
  return (GeluConstants<Scalar>::half * x) * (1 + tanh(gelu_tanh_argument(x)));
}

// D44
template <class Scalar>
Scalar gelu_tanh_gradient(Scalar x, Scalar g) {
  using C = GeluConstants<Scalar>;
  const Scalar t = tanh(gelu_tanh_argument(x));
  const Scalar du = C::sqrt_two_over_pi * fma(C::three_cubic, x * x, Scalar(1));
  return g * fma((C::half * x) * (1 - t * t), du, C::half * (1 + t));
}

struct Gelu : LayerKind {
  static constexpr std::string_view word = "gelu";
  static constexpr std::array classes{description::LayerClass::activation_function};

  template <class Scalar>
  static bool is_tanh(const Layer<Scalar>& layer) {
    return layer.settings.words.at("approximation") == "tanh";
  }

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return elementwise(layer, is_tanh(layer) ? gelu_tanh<Scalar> : gelu_erf<Scalar>);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return elementwise_gradients(
        layer, g, is_tanh(layer) ? gelu_tanh_gradient<Scalar> : gelu_erf_gradient<Scalar>);
  }
};

}  // namespace halftone::reference
