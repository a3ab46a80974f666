// SPDX-License-Identifier: Apache-2.0
// segment_broadcast: D95 and D96.
#pragma once

#include "../segments.hpp"

namespace halftone::reference {

struct SegmentBroadcast : LayerKind {
  static constexpr std::string_view word = "segment_broadcast";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D95
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return segments_of(layer).read(layer["x"]);
  }

  // D96
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = segments_of(layer).sum(g);
    return gradients;
  }

 private:
  template <class Scalar>
  static Segments segments_of(const Layer<Scalar>& layer) {
    return {layer.operand("segment"), layer.operand("x").extents};
  }
};

}  // namespace halftone::reference
