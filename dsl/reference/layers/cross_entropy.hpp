// SPDX-License-Identifier: Apache-2.0
// cross_entropy: D29 and D48, weighted D71 and D72.
#pragma once

#include <limits>

#include "../mean.hpp"

namespace halftone::reference {

// m, s and the exponentials of D29 for one row.
template <class Scalar>
struct SoftmaxRow {
  Values<Scalar> exponentials;
  Scalar maximum, sum;

  explicit SoftmaxRow(View<Scalar> x) : maximum(row_maximum(x)) {
    for (const Scalar value : x) exponentials.push_back(exp(value - maximum));
    sum = reference::sum(View<Scalar>(exponentials));
  }
};

struct CrossEntropy : LayerKind {
  static constexpr std::string_view word = "cross_entropy";
  static constexpr std::array classes{description::LayerClass::softmax,
                                      description::LayerClass::loss};
  static constexpr std::array internals{std::string_view("probabilities")};

  // D29
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> logits = layer["logits"];
    const Integers& labels = layer.operand("label").integers;
    const std::int64_t n = columns(layer.operand("logits").extents);
    Values<Scalar> terms;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const View<Scalar> x = logits.subspan(i * n, n);
      const SoftmaxRow<Scalar> row(x);
      terms.push_back(labels[i] >= 0 && labels[i] < n
                          ? (row.maximum + log(row.sum)) - x[labels[i]]
                          : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN()));
    }
    return mean(layer, terms);
  }

  // D48; a row whose label is outside [0, n) has NaN gradients.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> logits = layer["logits"];
    const Integers& labels = layer.operand("label").integers;
    const std::int64_t n = columns(layer.operand("logits").extents);
    const Arriving<Scalar> s(layer, labels.size(), g[0]);
    Values<Scalar> of_logits(logits.size(), Scalar(0));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (s.passes_over(i)) continue;
      const SoftmaxRow<Scalar> row(logits.subspan(i * n, n));
      const Scalar reciprocal = 1 / row.sum;
      for (std::int64_t j = 0; j < n; ++j) {
        const Scalar target = j == labels[i] ? 1 : 0;
        const Scalar p = layer.internal("probabilities", row.exponentials[j] * reciprocal);
        of_logits[i * n + j] = labels[i] >= 0 && labels[i] < n
                                   ? s.at(i) * (p - target)
                                   : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN());
      }
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("logits")] = std::move(of_logits);
    return gradients;
  }
};

}  // namespace halftone::reference
