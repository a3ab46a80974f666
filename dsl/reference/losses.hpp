// SPDX-License-Identifier: Apache-2.0
// cross_entropy, mse and pointwise_loss: D29 to D31 and D48 to D50. Each is a mean; the gradient
// that arrives at a loss, its weight, is divided by the count of that mean first.
#pragma once

#include <limits>

#include "layer.hpp"
#include "pointwise.hpp"

namespace halftone::reference {

// N4(terms) / count
template <class Scalar>
Values<Scalar> mean(const Values<Scalar>& terms) {
  return {sum(View<Scalar>(terms)) / static_cast<Scalar>(terms.size())};
}

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

// D29
template <class Scalar>
Values<Scalar> cross_entropy(const Layer<Scalar>& layer) {
  const View<Scalar> logits = layer["logits"];
  const std::int64_t n = layer.columns_of("logits");
  Values<Scalar> terms;
  for (std::size_t i = 0; i < layer.labels.size(); ++i) {
    const View<Scalar> x = logits.subspan(i * n, n);
    const SoftmaxRow<Scalar> row(x);
    const std::int32_t label = layer.labels[i];
    terms.push_back(label >= 0 && label < n
                        ? (row.maximum + log(row.sum)) - x[label]
                        : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN()));
  }
  return mean(terms);
}

// D48; a row whose label is outside [0, n) has NaN gradients.
template <class Scalar>
OperandGradients<Scalar> cross_entropy_gradient(const Layer<Scalar>& layer, Scalar g) {
  const View<Scalar> logits = layer["logits"];
  const std::int64_t n = layer.columns_of("logits");
  const Scalar s = g / static_cast<Scalar>(layer.labels.size());
  Values<Scalar> of_logits(logits.size());
  for (std::size_t i = 0; i < layer.labels.size(); ++i) {
    const SoftmaxRow<Scalar> row(logits.subspan(i * n, n));
    const std::int32_t label = layer.labels[i];
    for (std::int64_t j = 0; j < n; ++j) {
      const Scalar target = j == label ? 1 : 0;
      of_logits[i * n + j] = label >= 0 && label < n
                                 ? s * (row.exponentials[j] / row.sum - target)
                                 : static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN());
    }
  }
  OperandGradients<Scalar> gradients(layer.operands.size());
  gradients[layer.position("logits")] = std::move(of_logits);
  return gradients;
}

// D30
template <class Scalar>
Values<Scalar> mse(const Layer<Scalar>& layer) {
  const View<Scalar> x = layer["x"], target = layer["target"];
  Values<Scalar> squares(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) {
    const Scalar d = x[e] - target[e];
    squares[e] = d * d;
  }
  return mean(squares);
}

// D49
template <class Scalar>
OperandGradients<Scalar> mse_gradient(const Layer<Scalar>& layer, Scalar g) {
  const View<Scalar> x = layer["x"], target = layer["target"];
  const Scalar s = g / static_cast<Scalar>(x.size());
  Values<Scalar> of_x(x.size()), of_target(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) {
    const Scalar v = s * (x[e] - target[e]);
    of_x[e] = v + v;
    of_target[e] = -of_x[e];
  }
  OperandGradients<Scalar> gradients(layer.operands.size());
  gradients[layer.position("x")] = std::move(of_x);
  gradients[layer.position("target")] = std::move(of_target);
  return gradients;
}

// D31
template <class Scalar>
Values<Scalar> pointwise_loss(const Layer<Scalar>& layer) {
  return mean(pointwise(layer));
}

// D50
template <class Scalar>
OperandGradients<Scalar> pointwise_loss_gradient(const Layer<Scalar>& layer, Scalar g) {
  const Scalar s = g / static_cast<Scalar>(layer.operands[0].size());
  return pointwise_gradient(layer, [s](std::size_t) { return s; });
}

}  // namespace halftone::reference
