// SPDX-License-Identifier: Apache-2.0
// batch_norm: D59 and D60.
#pragma once

#include <utility>

#include "../layer.hpp"

namespace halftone::reference {

struct BatchNorm : LayerKind {
  static constexpr std::string_view word = "batch_norm";
  static constexpr std::array classes{description::LayerClass::normalization};
  static constexpr std::array internals{std::string_view("normalized")};
  static constexpr std::array kept_states{std::string_view("mean"), std::string_view("variance")};

  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    for (const std::string_view state : kept_states)
      if (read == state || wanted == state) return false;
    return true;
  }

  // D59
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
    const Columns<Scalar> columns = used(layer, x);
    const std::size_t n = weight.size();
    Values<Scalar> y(x.size());
    for (std::size_t e = 0; e < x.size(); ++e) {
      const std::size_t j = e % n;
      const Scalar h = layer.internal("normalized", (x[e] - columns.mean[j]) * columns.rstd[j]);
      y[e] = fma(h, weight[j], bias[j]);
    }
    return y;
  }

  template <class Scalar>
  static std::vector<Values<Scalar>> moved(const Layer<Scalar>& layer) {
    const View<Scalar> mean = layer["mean"], variance = layer["variance"];
    const Moments<Scalar> batch(layer["x"], mean.size());
    const Scalar momentum = static_cast<Scalar>(layer.settings.numbers.at("momentum"));
    Values<Scalar> next_mean(mean.begin(), mean.end());
    Values<Scalar> next_variance(variance.begin(), variance.end());
    if (layer["x"].size() == mean.size()) return {std::move(next_mean), std::move(next_variance)};
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const Scalar m = fma(momentum, batch.mean[j] - mean[j], mean[j]);
      const Scalar unbiased = batch.variance[j] * (batch.rows / (batch.rows - 1));
      const Scalar v = fma(momentum, unbiased - variance[j], variance[j]);
      if (!is_finite(m) || !is_finite(v)) continue;
      next_mean[j] = m;
      next_variance[j] = v;
    }
    return {std::move(next_mean), std::move(next_variance)};
  }

  // D60. Mean and rstd are forward's, which stay f32 (P31, P36); x is as this pass reads it.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const std::size_t n = weight.size();
    const Columns<Scalar> columns = used(layer, View<Scalar>(layer.operand("x").forward_values));
    const Scalar rows = static_cast<Scalar>(x.size() / n);
    Values<Scalar> h(x.size()), products(x.size()), of_x(x.size());
    for (std::size_t e = 0; e < x.size(); ++e) {
      h[e] = layer.internal("normalized", (x[e] - columns.mean[e % n]) * columns.rstd[e % n]);
      products[e] = g[e] * h[e];
    }
    const Values<Scalar> of_bias = column_sums(g, n);
    const Values<Scalar> of_weight = column_sums(View<Scalar>(products), n);
    for (std::size_t e = 0; e < x.size(); ++e) {
      const std::size_t j = e % n;
      const Scalar a = of_bias[j] / rows, b = of_weight[j] / rows;
      of_x[e] = (weight[j] * columns.rstd[j]) * ((g[e] - a) - h[e] * b);
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("weight")] = of_weight;
    gradients[layer.position("bias")] = of_bias;
    return gradients;
  }

 private:
  template <class Scalar>
  static bool is_finite(Scalar x) {
    return x - x == Scalar(0);
  }

  // Of the columns of a batch.
  template <class Scalar>
  struct Moments {
    Scalar rows;
    Values<Scalar> mean, variance;

    Moments(View<Scalar> x, std::size_t n)
        : rows(static_cast<Scalar>(x.size() / n)), mean(column_sums(x, n)) {
      for (Scalar& sum : mean) sum = sum / rows;
      Values<Scalar> squares(x.size());
      for (std::size_t e = 0; e < x.size(); ++e) {
        const Scalar d = x[e] - mean[e % n];
        squares[e] = d * d;
      }
      variance = column_sums(View<Scalar>(squares), n);
      for (Scalar& sum : variance) sum = sum / rows;
    }
  };

  // What normalizes.
  template <class Scalar>
  struct Columns {
    Values<Scalar> mean, rstd;
  };

  template <class Scalar>
  static Columns<Scalar> used(const Layer<Scalar>& layer, View<Scalar> x) {
    const std::size_t n = layer["weight"].size();
    const Scalar epsilon = static_cast<Scalar>(layer.settings.numbers.at("epsilon"));
    Columns<Scalar> columns;
    Values<Scalar> variance;
    if (layer.draws->training) {
      Moments<Scalar> batch(x, n);
      columns.mean = std::move(batch.mean);
      variance = std::move(batch.variance);
    } else {
      columns.mean.assign(layer["mean"].begin(), layer["mean"].end());
      variance.assign(layer["variance"].begin(), layer["variance"].end());
    }
    for (const Scalar& of : variance) columns.rstd.push_back(1 / sqrt(of + epsilon));
    return columns;
  }
};

}  // namespace halftone::reference
