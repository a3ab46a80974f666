// SPDX-License-Identifier: Apache-2.0
// relu, gelu and silu: D23 to D25, D32, D42 to D44, D51. Constants are rounded once from double.
#pragma once

#include <numbers>

#include "layer.hpp"

namespace halftone::reference {

// D23
template <class Scalar>
Scalar relu(Scalar x) {
  return x > 0 ? x : (std::isnan(plain(x)) ? x : Scalar(0));
}

// D42, on the result that forward left: what rounded to zero passes no gradient, a NaN does.
template <class Scalar>
OperandGradients<Scalar> relu_gradient(const Layer<Scalar>& layer, View<Scalar> g) {
  Values<Scalar> of_x(g.size());
  for (std::size_t e = 0; e < g.size(); ++e) {
    of_x[e] = layer.result[e] <= 0 ? Scalar(0) : g[e];
  }
  return {std::move(of_x)};
}

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

template <class Scalar, class Function>
Values<Scalar> elementwise(const Layer<Scalar>& layer, Function function) {
  const View<Scalar> x = layer["x"];
  Values<Scalar> y(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) y[e] = function(x[e]);
  return y;
}

template <class Scalar, class Function>
OperandGradients<Scalar> elementwise_gradient(const Layer<Scalar>& layer, View<Scalar> g,
                                              Function function) {
  const View<Scalar> x = layer["x"];
  Values<Scalar> of_x(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) of_x[e] = function(x[e], g[e]);
  return {std::move(of_x)};
}

template <class Scalar>
bool is_tanh_gelu(const Layer<Scalar>& layer) {
  return std::get<description::GeluAttributes>(layer.node.attributes).approximation ==
         description::GeluApproximation::tanh;
}

}  // namespace halftone::reference
