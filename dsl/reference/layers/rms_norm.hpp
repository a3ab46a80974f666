// SPDX-License-Identifier: Apache-2.0
// rms_norm: D33 and D52.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct RmsNorm : LayerKind {
  static constexpr std::string_view word = "rms_norm";
  static constexpr std::array classes{description::LayerClass::normalization};
  static constexpr std::array internals{std::string_view("normalized")};

  // D33, of one row
  template <class Scalar>
  static Scalar rstd(View<Scalar> x, double epsilon) {
    Values<Scalar> squares(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) squares[j] = x[j] * x[j];
    const Scalar mean = sum(View<Scalar>(squares)) / static_cast<Scalar>(x.size());
    return 1 / sqrt(mean + static_cast<Scalar>(epsilon));
  }

  // D33
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const std::size_t n = weight.size();
    Values<Scalar> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += n) {
      const Scalar r = rstd(x.subspan(row, n), layer.settings.numbers.at("epsilon"));
      for (std::size_t j = 0; j < n; ++j) {
        y[row + j] = layer.internal("normalized", x[row + j] * r) * weight[j];
      }
    }
    return y;
  }

  // D52. rstd is forward's, which stays f32 (P31); x is as this pass reads it.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const View<Scalar> forward_x = layer.operand("x").forward_values;
    const std::size_t n = weight.size();
    Values<Scalar> of_x(x.size()), weight_terms(x.size()), h(n), q(n), qh(n);
    for (std::size_t row = 0; row < x.size(); row += n) {
      const Scalar r = rstd(forward_x.subspan(row, n), layer.settings.numbers.at("epsilon"));
      for (std::size_t j = 0; j < n; ++j) {
        h[j] = layer.internal("normalized", x[row + j] * r);
        q[j] = g[row + j] * weight[j];
        qh[j] = q[j] * h[j];
        weight_terms[row + j] = g[row + j] * h[j];
      }
      const Scalar b = sum(View<Scalar>(qh)) / static_cast<Scalar>(n);
      for (std::size_t j = 0; j < n; ++j) of_x[row + j] = r * (q[j] - h[j] * b);
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("weight")] = column_sums(View<Scalar>(weight_terms), n);
    return gradients;
  }
};

}  // namespace halftone::reference
