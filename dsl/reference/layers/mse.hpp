// SPDX-License-Identifier: Apache-2.0
// mse: D30 and D49, weighted D71 and D72.
#pragma once

#include "../mean.hpp"

namespace halftone::reference {

struct Mse : LayerKind {
  static constexpr std::string_view word = "mse";
  static constexpr std::array classes{description::LayerClass::loss};

  // D30
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], target = layer["target"];
    Values<Scalar> squares(x.size());
    for (std::size_t e = 0; e < x.size(); ++e) {
      const Scalar d = x[e] - target[e];
      squares[e] = d * d;
    }
    return mean(layer, squares);
  }

  // D49
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> x = layer["x"], target = layer["target"];
    const Arriving<Scalar> s(layer, x.size(), g[0]);
    Values<Scalar> of_x(x.size(), Scalar(0)), of_target(x.size(), Scalar(0));
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (s.passes_over(e)) continue;
      const Scalar v = s.at(e) * (x[e] - target[e]);
      of_x[e] = v + v;
      of_target[e] = -of_x[e];
    }
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    gradients[layer.position("target")] = std::move(of_target);
    return gradients;
  }
};

}  // namespace halftone::reference
