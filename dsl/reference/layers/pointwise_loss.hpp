// SPDX-License-Identifier: Apache-2.0
// pointwise_loss: D31 and D50.
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
    return mean(expression_values(layer));
  }

  // D50
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Scalar s = g[0] / static_cast<Scalar>(layer.operands[0].values.size());
    return expression_gradients(layer, [s](std::size_t) { return s; });
  }
};

}  // namespace halftone::reference
