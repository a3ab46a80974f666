// SPDX-License-Identifier: Apache-2.0
// standardize: D109 and D110.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Standardize : LayerKind {
  static constexpr std::string_view word = "standardize";
  static constexpr std::array classes{description::LayerClass::normalization};
  static constexpr std::array fixed_states{std::string_view("mean"), std::string_view("deviation")};

  static constexpr bool reads(std::string_view /*read*/, std::string_view /*wanted*/) {
    return false;
  }

  // D109
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"], mean = layer["mean"], deviation = layer["deviation"];
    Values<Scalar> y;
    for (std::size_t e = 0; e < x.size(); ++e) {
      const std::size_t j = e % mean.size();
      y.push_back((x[e] - mean[j]) / deviation[j]);
    }
    return y;
  }

  // D110
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const View<Scalar> deviation = layer["deviation"];
    Values<Scalar> of_x;
    for (std::size_t e = 0; e < g.size(); ++e)
      of_x.push_back(g[e] / deviation[e % deviation.size()]);
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = std::move(of_x);
    return gradients;
  }
};

}  // namespace halftone::reference
