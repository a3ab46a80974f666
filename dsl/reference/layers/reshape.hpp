// SPDX-License-Identifier: Apache-2.0
// reshape: D36 and D55.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct Reshape : LayerKind {
  static constexpr std::string_view word = "reshape";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D36: values stay in row-major order.
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return layer.operand("x").values;
  }

  // D55
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>&, View<Scalar> g) {
    return {{g.begin(), g.end()}};
  }
};

}  // namespace halftone::reference
