// SPDX-License-Identifier: Apache-2.0
// Layers that are a function of single elements of x.
#pragma once

#include "layer.hpp"

namespace halftone::reference {

template <class Scalar, class Function>
Values<Scalar> elementwise(const Layer<Scalar>& layer, Function function) {
  const View<Scalar> x = layer["x"];
  Values<Scalar> y(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) y[e] = function(x[e]);
  return y;
}

/// With function(x, g), g being the gradient that arrives at the element.
template <class Scalar, class Function>
OperandGradients<Scalar> elementwise_gradients(const Layer<Scalar>& layer, View<Scalar> g,
                                               Function function) {
  const View<Scalar> x = layer["x"];
  Values<Scalar> of_x(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) of_x[e] = function(x[e], g[e]);
  return {std::move(of_x)};
}

}  // namespace halftone::reference
