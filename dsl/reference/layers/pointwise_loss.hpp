// SPDX-License-Identifier: Apache-2.0
// pointwise_loss: D31 and D50, weighted D71 and D72.
#pragma once

#include "../expression.hpp"
#include "../mean.hpp"

namespace halftone::reference {

struct PointwiseLoss : LayerKind {
  static constexpr std::string_view word = "pointwise_loss";
  static constexpr std::array classes{description::LayerClass::loss};

  // D31
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return mean(layer, expression_values(layer));
  }

  // D50
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const std::size_t count = layer.operands[0].values.size();
    const Arriving<Scalar> s(layer, count, g[0]);
    auto gradients = expression_gradients(layer, [&s](std::size_t e) { return s.at(e); });
    for (Values<Scalar>& gradient : gradients) {
      for (std::size_t e = 0; e < gradient.size(); ++e) {
        if (s.passes_over(e)) gradient[e] = 0;
      }
    }
    return gradients;
  }
};

}  // namespace halftone::reference
