// SPDX-License-Identifier: Apache-2.0
// transpose: D37 and D56.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Transpose : LayerKind {
  static constexpr std::string_view word = "transpose";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D37
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const View<Scalar> x = layer["x"];
    Values<Scalar> y;
    for (const std::int64_t from : sources(layer)) y.push_back(x[from]);
    return y;
  }

  // D56
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    Values<Scalar> of_x(g.size());
    std::size_t e = 0;
    for (const std::int64_t from : sources(layer)) of_x[from] = g[e++];
    return {std::move(of_x)};
  }

 private:
  // The element of x that each element of the result is: dimension d of the result is dimension
  // axes[d] of x.
  template <class Scalar>
  static std::vector<std::int64_t> sources(const Layer<Scalar>& layer) {
    const Extents& extents = layer.operand("x").extents;
    std::vector<std::int64_t> strides(extents.size(), 1);
    for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
    std::vector<std::int64_t> elements{0};
    for (const std::int64_t axis : layer.settings.lists.at("axes")) {
      std::vector<std::int64_t> longer;
      for (const std::int64_t element : elements) {
        for (std::int64_t i = 0; i < extents[axis]; ++i)
          longer.push_back(element + i * strides[axis]);
      }
      elements = std::move(longer);
    }
    return elements;
  }
};

}  // namespace halftone::reference
