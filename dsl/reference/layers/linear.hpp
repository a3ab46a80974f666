// SPDX-License-Identifier: Apache-2.0
// linear: D21 and D40.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

// Where the weight of output j and column c stands.
struct WeightPlace {
  std::int64_t k = 0, m = 0;
  bool transposed = false;

  std::int64_t operator()(std::int64_t j, std::int64_t c) const {
    return transposed ? c * m + j : j * k + c;
  }
};

// D40, the gradient of x
template <class Scalar>
Values<Scalar> linear_x_gradient(const Factor<Scalar>& weight, const Factor<Scalar>& g,
                                 const WeightPlace& at) {
  const std::int64_t k = at.k, m = at.m, rows = g.numbers.size() / m;
  Values<Scalar> of_x(rows * k);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < k; ++c) {
      of_x[i * k + c] = product_sum(
          m, g, [&](std::int64_t j) { return i * m + j; }, weight,
          [&](std::int64_t j) { return at(j, c); });
    }
  }
  return of_x;
}

// D40, the gradient of weight
template <class Scalar>
Values<Scalar> linear_weight_gradient(const Factor<Scalar>& x, const Factor<Scalar>& g,
                                      const WeightPlace& at) {
  const std::int64_t k = at.k, m = at.m, rows = g.numbers.size() / m;
  Values<Scalar> of_weight(m * k);
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t c = 0; c < k; ++c) {
      of_weight[at(j, c)] = product_sum(
          rows, g, [&](std::int64_t i) { return i * m + j; }, x,
          [&](std::int64_t i) { return i * k + c; });
    }
  }
  return of_weight;
}

struct Linear : LayerKind {
  static constexpr std::string_view word = "linear";
  static constexpr std::array classes{description::LayerClass::contraction};
  static constexpr std::array internals{std::string_view("product")};
  static constexpr bool multiplies_sums = true, multiplies_sums_of_vectors = true;
  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    return (read == "x" && wanted == "weight") || (read == "weight" && wanted == "x");
  }

  static int columns_of_products(std::string_view operand, const Settings& settings, std::size_t) {
    return operand != "weight" ? -1 : settings.flags.contains("transposed") ? 1 : 0;
  }

  // D21
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Factor<Scalar> x = layer.factor("x"), weight = layer.factor("weight");
    const View<Scalar> bias = layer["bias"];
    const WeightPlace at = place(layer);
    const std::int64_t k = at.k, m = at.m;
    Values<Scalar> y(count(layer.extents));
    for (std::size_t e = 0; e < y.size(); ++e) {
      const std::int64_t i = e / m, j = e % m;
      const Scalar sum = product_sum(
          k, x, [&](std::int64_t c) { return i * k + c; }, weight,
          [&](std::int64_t c) { return at(j, c); });
      const Scalar product = layer.internal("product", layer.scaled(j, sum));
      y[e] = bias.empty() ? product : product + bias[j];
    }
    return y;
  }

  // D40
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Factor<Scalar> x = layer.factor("x"), weight = layer.factor("weight");
    const Factor<Scalar> arriving = layer.arriving(g);
    const WeightPlace at = place(layer);
    OperandGradients<Scalar> gradients(layer.operands.size());
    if (layer.wants("x")) gradients[layer.position("x")] = linear_x_gradient(weight, arriving, at);
    if (layer.wants("weight"))
      gradients[layer.position("weight")] = linear_weight_gradient(x, arriving, at);
    if (layer.wants("bias")) gradients[layer.position("bias")] = column_sums(layer.summed(g), at.m);
    return gradients;
  }

 private:
  template <class Scalar>
  static WeightPlace place(const Layer<Scalar>& layer) {
    return {columns(layer.operand("x").extents), columns(layer.extents),
            layer.settings.flags.contains("transposed")};
  }
};

}  // namespace halftone::reference
