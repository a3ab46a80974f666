// SPDX-License-Identifier: Apache-2.0
// soft_cross_entropy: D105 and D106, weighted D71 and D72.
#pragma once

#include "../mean.hpp"

namespace halftone::reference {

struct SoftCrossEntropy : LayerKind {
  static constexpr std::string_view word = "soft_cross_entropy";
  static constexpr std::array classes{description::LayerClass::softmax,
                                      description::LayerClass::loss};

  // D105
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> logits = layer["logits"], targets = layer["target"];
    const auto n = static_cast<std::size_t>(columns(layer.operand("logits").extents));
    Values<Scalar> terms;
    for (std::size_t begin = 0; begin < logits.size(); begin += n) {
      const Row<Scalar> row(logits.subspan(begin, n));
      Values<Scalar> products;
      for (std::size_t j = 0; j < n; ++j)
        products.push_back(targets[begin + j] * (row.total - logits[begin + j]));
      terms.push_back(sum(View<Scalar>(products)));
    }
    return mean(layer, terms);
  }

  // D106
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> logits = layer["logits"], targets = layer["target"];
    const auto n = static_cast<std::size_t>(columns(layer.operand("logits").extents));
    const Arriving<Scalar> s(layer, logits.size() / n, g[0]);
    Values<Scalar> of_logits(logits.size(), Scalar(0)), of_targets(logits.size(), Scalar(0));
    for (std::size_t i = 0; i < logits.size() / n; ++i) {
      if (s.passes_over(i)) continue;
      const Row<Scalar> row(logits.subspan(i * n, n));
      const Scalar all = sum(targets.subspan(i * n, n));
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t e = i * n + j;
        const Scalar drawn = (row.exponentials[j] * row.reciprocal) * all;
        of_logits[e] = s.at(i) * (drawn - targets[e]);
        of_targets[e] = s.at(i) * (row.total - logits[e]);
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("logits")] = std::move(of_logits);
    gradients[layer.position("target")] = std::move(of_targets);
    return gradients;
  }

 private:
  template <class Scalar>
  struct Row {
    Values<Scalar> exponentials;
    Scalar total, reciprocal;  // the logarithm of the exponentials' sum; 1 / their sum less maximum

    explicit Row(View<Scalar> x) {
      const Scalar maximum = row_maximum(x);
      for (const Scalar value : x) exponentials.push_back(exp(value - maximum));
      const Scalar below = sum(View<Scalar>(exponentials));
      total = maximum + log(below);
      reciprocal = 1 / below;
    }
  };
};

}  // namespace halftone::reference
