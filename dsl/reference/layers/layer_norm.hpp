// SPDX-License-Identifier: Apache-2.0
// layer_norm: D22 and D41.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

// One row's mean and rstd of D22.
template <class Scalar>
struct RowStatistics {
  Scalar mean, rstd;

  RowStatistics(View<Scalar> x, double epsilon) {
    const Scalar n = static_cast<Scalar>(x.size());
    mean = sum(x) / n;
    Values<Scalar> squares(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const Scalar d = x[j] - mean;
      squares[j] = d * d;
    }
    const Scalar variance = sum(View<Scalar>(squares)) / n;
    rstd = 1 / sqrt(variance + static_cast<Scalar>(epsilon));
  }
};

struct LayerNorm : LayerKind {
  static constexpr std::string_view word = "layer_norm";
  static constexpr std::array classes{description::LayerClass::normalization};
  static constexpr std::array internals{std::string_view("normalized")};

  // D22
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
    const double epsilon = layer.settings.numbers.at("epsilon");
    const std::size_t n = weight.size();
    Values<Scalar> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += n) {
      const RowStatistics<Scalar> r(x.subspan(row, n), epsilon);
      for (std::size_t j = 0; j < n; ++j) {
        const Scalar h = layer.internal("normalized", (x[row + j] - r.mean) * r.rstd);
        y[row + j] = fma(h, weight[j], bias[j]);
      }
    }
    return y;
  }

  // D41. The statistics are forward's, which stay f32 (P31, P36); x is as this pass reads it.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const View<Scalar> forward_x = layer.operand("x").forward_values;
    const double epsilon = layer.settings.numbers.at("epsilon");
    const std::size_t n = weight.size();
    const Scalar count = static_cast<Scalar>(n);
    Values<Scalar> of_x(x.size()), weight_terms(x.size()), h(n), q(n), qh(n);
    for (std::size_t row = 0; row < x.size(); row += n) {
      const RowStatistics<Scalar> r(forward_x.subspan(row, n), epsilon);
      for (std::size_t j = 0; j < n; ++j) {
        h[j] = layer.internal("normalized", (x[row + j] - r.mean) * r.rstd);
        q[j] = g[row + j] * weight[j];
        qh[j] = q[j] * h[j];
        weight_terms[row + j] = g[row + j] * h[j];
      }
      const Scalar a = sum(View<Scalar>(q)) / count;
      const Scalar b = sum(View<Scalar>(qh)) / count;
      for (std::size_t j = 0; j < n; ++j) of_x[row + j] = r.rstd * ((q[j] - a) - h[j] * b);
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("weight")] = column_sums(View<Scalar>(weight_terms), n);
    gradients[layer.position("bias")] = column_sums(g, n);
    return gradients;
  }
};

}  // namespace halftone::reference
