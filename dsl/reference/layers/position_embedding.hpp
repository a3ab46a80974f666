// SPDX-License-Identifier: Apache-2.0
// position_embedding: D65 and D68.
#pragma once

#include <limits>

#include "../layer.hpp"

namespace halftone::reference {

struct PositionEmbedding : LayerKind {
  static constexpr std::string_view word = "position_embedding";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D65
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], weight = layer["weight"];
    const Scalar none = static_cast<Scalar>(std::numeric_limits<double>::quiet_NaN());
    Values<Scalar> y(x.size());
    for (std::int64_t e = 0; e < std::ssize(y); ++e) {
      const std::int64_t at = place(layer, e);
      y[e] = x[e] + (at < std::ssize(weight) ? weight[at] : none);
    }
    return y;
  }

  // D68
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")].assign(g.begin(), g.end());
    Values<Scalar>& of_weight = gradients[layer.position("weight")];
    of_weight.assign(layer["weight"].size(), Scalar(0));
    for (std::int64_t e = 0; e < std::ssize(g); ++e) {
      const std::int64_t at = place(layer, e);
      if (at < std::ssize(of_weight)) of_weight[at] = of_weight[at] + g[e];
    }
    return gradients;
  }

 private:
  // Of the weight: the row of the element's time.
  template <class Scalar>
  static std::int64_t place(const Layer<Scalar>& layer, std::int64_t e) {
    const std::int64_t n = columns(layer.extents),
                       time = e / n % layer.extents[layer.extents.size() - 2];
    return time * n + e % n;
  }
};

}  // namespace halftone::reference
