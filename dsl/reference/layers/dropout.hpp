// SPDX-License-Identifier: Apache-2.0
// dropout: D35 and D54.
#pragma once

#include "../drawing.hpp"

namespace halftone::reference {

struct Dropout : LayerKind {
  static constexpr std::string_view word = "dropout";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return kept(layer, layer["x"]);
  }

  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    return {kept(layer, g)};
  }

 private:
  // D35, D54: one function of x and of g.
  template <class Scalar>
  static Values<Scalar> kept(const Layer<Scalar>& layer, View<Scalar> values) {
    const Dropping<Scalar> drop(layer, layer.settings.numbers.at("rate"));
    Values<Scalar> y(values.begin(), values.end());
    for (std::size_t e = 0; e < y.size(); ++e) y[e] = drop(e, y[e]);
    return y;
  }
};

}  // namespace halftone::reference
