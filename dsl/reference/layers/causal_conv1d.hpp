// SPDX-License-Identifier: Apache-2.0
// causal_conv1d: D39 and D58. Each channel has taps of its own.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct CausalConv1d : LayerKind {
  static constexpr std::string_view word = "causal_conv1d";
  static constexpr std::array classes{description::LayerClass::contraction};
  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    return (read == "x" && wanted == "weight") || (read == "weight" && wanted == "x");
  }

  // D39
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Sizes sizes(layer);
    const View<Scalar> x = layer["x"], weight = layer["weight"], bias = layer["bias"];
    Values<Scalar> y(x.size());
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t c = e % sizes.channels;
      const Scalar product = contraction<Scalar>(
          sizes.width, [&](std::int64_t k) { return weight[c * sizes.width + k]; },
          [&](std::int64_t k) { return sizes.shifted(x, e, k - (sizes.width - 1)); });
      y[e] = bias.empty() ? product : product + bias[c];
    }
    return y;
  }

  // D58
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Sizes sizes(layer);
    OperandGradients<Scalar> gradients(layer.operands.size());
    if (layer.wants("x")) gradients[layer.position("x")] = of_x(sizes, layer["weight"], g);
    if (layer.wants("weight"))
      gradients[layer.position("weight")] = of_weight(sizes, layer["x"], g);
    if (layer.wants("bias")) gradients[layer.position("bias")] = column_sums(g, sizes.channels);
    return gradients;
  }

 private:
  struct Sizes {
    std::int64_t times, channels, width;

    template <class Scalar>
    explicit Sizes(const Layer<Scalar>& layer)
        : times(layer.extents[layer.extents.size() - 2]),
          channels(layer.extents.back()),
          width(layer.operand("weight").extents[1]) {}

    // The element of the same sequence and channel that lies `by` times later than element e; +0
    // outside of the sequence.
    template <class Scalar>
    Scalar shifted(View<Scalar> values, std::int64_t e, std::int64_t by) const {
      const std::int64_t time = e / channels % times + by;
      return time >= 0 && time < times ? values[e + by * channels] : Scalar(0);
    }
  };

  template <class Scalar>
  static Values<Scalar> of_x(const Sizes& sizes, View<Scalar> weight, View<Scalar> g) {
    Values<Scalar> result(g.size());
    for (std::int64_t e = 0; e < std::ssize(result); ++e) {
      const std::int64_t c = e % sizes.channels;
      result[e] = contraction<Scalar>(
          sizes.width, [&](std::int64_t k) { return weight[c * sizes.width + k]; },
          [&](std::int64_t k) { return sizes.shifted(g, e, sizes.width - 1 - k); });
    }
    return result;
  }

  template <class Scalar>
  static Values<Scalar> of_weight(const Sizes& sizes, View<Scalar> x, View<Scalar> g) {
    Values<Scalar> result(sizes.channels * sizes.width), terms(g.size());
    for (std::int64_t k = 0; k < sizes.width; ++k) {
      for (std::int64_t e = 0; e < std::ssize(g); ++e) {
        terms[e] = g[e] * sizes.shifted(x, e, k - (sizes.width - 1));
      }
      const Values<Scalar> sums = column_sums(View<Scalar>(terms), sizes.channels);
      for (std::int64_t c = 0; c < sizes.channels; ++c) result[c * sizes.width + k] = sums[c];
    }
    return result;
  }
};

}  // namespace halftone::reference
