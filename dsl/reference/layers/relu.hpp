// SPDX-License-Identifier: Apache-2.0
// relu: D23 and D42.
#pragma once

#include "../elementwise.hpp"

namespace halftone::reference {

struct Relu : LayerKind {
  static constexpr std::string_view word = "relu";
  static constexpr std::array classes{description::LayerClass::activation_function};
  static constexpr bool reads_result = true;
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D23
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return elementwise(layer,
                       [](Scalar x) { return x > 0 ? x : (std::isnan(plain(x)) ? x : Scalar(0)); });
  }

  // D42, on the result that forward left: what rounded to zero passes no gradient, a NaN does.
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    Values<Scalar> of_x(g.size());
    for (std::size_t e = 0; e < g.size(); ++e) {
      of_x[e] = layer.result[e] <= 0 ? Scalar(0) : g[e];
    }
    return {std::move(of_x)};
  }
};

}  // namespace halftone::reference
