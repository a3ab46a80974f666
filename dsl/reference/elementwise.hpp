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

/// A function of numerics.hpp that has two grades.
template <class Scalar>
using Graded = Scalar (*)(Scalar, Grade);

template <class Scalar>
Values<Scalar> activation(const Layer<Scalar>& layer, Graded<Scalar> function) {
  return elementwise(layer, [&](Scalar x) { return function(x, layer.grade); });
}

template <class Scalar>
OperandGradients<Scalar> activation_gradients(const Layer<Scalar>& layer, View<Scalar> g,
                                              Graded<Scalar> derivative) {
  const View<Scalar> x = layer["x"];
  Values<Scalar> of_x(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) of_x[e] = g[e] * derivative(x[e], layer.grade);
  return {std::move(of_x)};
}

}  // namespace halftone::reference
