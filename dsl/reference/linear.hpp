// SPDX-License-Identifier: Apache-2.0
// linear: D21 and D40.
#pragma once

#include "layer.hpp"

namespace halftone::reference {

// D21
template <class Scalar>
Values<Scalar> linear(const Layer<Scalar>& layer) {
  const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
  const std::int64_t k = layer.columns_of("weight");
  const std::int64_t rows = x.size() / k, m = weight.size() / k;
  Values<Scalar> y(rows * m);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      const Scalar product = contraction<Scalar>(
          k, [&](std::int64_t c) { return x[i * k + c]; },
          [&](std::int64_t c) { return weight[j * k + c]; });
      y[i * m + j] = bias.empty() ? product : product + bias[j];
    }
  }
  return y;
}

// D40
template <class Scalar>
OperandGradients<Scalar> linear_gradient(const Layer<Scalar>& layer, View<Scalar> g) {
  const View<Scalar> x = layer["x"], weight = layer["weight"];
  const std::int64_t k = layer.columns_of("weight");
  const std::int64_t rows = x.size() / k, m = weight.size() / k;
  Values<Scalar> of_x(rows * k), of_weight(m * k);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < k; ++c) {
      of_x[i * k + c] = contraction<Scalar>(
          m, [&](std::int64_t j) { return g[i * m + j]; },
          [&](std::int64_t j) { return weight[j * k + c]; });
    }
  }
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t c = 0; c < k; ++c) {
      of_weight[j * k + c] = contraction<Scalar>(
          rows, [&](std::int64_t i) { return g[i * m + j]; },
          [&](std::int64_t i) { return x[i * k + c]; });
    }
  }
  OperandGradients<Scalar> gradients(layer.operands.size());
  gradients[layer.position("x")] = std::move(of_x);
  gradients[layer.position("weight")] = std::move(of_weight);
  if (layer.position("bias") >= 0) gradients[layer.position("bias")] = column_sums(g, m);
  return gradients;
}

}  // namespace halftone::reference
