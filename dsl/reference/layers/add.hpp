// SPDX-License-Identifier: Apache-2.0
// add: D26 and D45.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Add : LayerKind {
  static constexpr std::string_view word = "add";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D26
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> a = layer["a"], b = layer["b"];
    Values<Scalar> y(a.size());
    for (std::size_t e = 0; e < a.size(); ++e) y[e] = a[e] + b[e];
    return y;
  }

  // D45
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>&, View<Scalar> g) {
    const Values<Scalar> both(g.begin(), g.end());
    return {both, both};
  }
};

}  // namespace halftone::reference
