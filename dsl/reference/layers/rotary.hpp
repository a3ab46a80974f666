// SPDX-License-Identifier: Apache-2.0
// rotary: D64 and D67.
#pragma once

#include "../angles.hpp"

namespace halftone::reference {

struct Rotary : LayerKind {
  static constexpr std::string_view word = "rotary";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D64
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    return turned(layer, layer["x"], false);
  }

  // D67
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    OperandGradients<Scalar> gradients(layer.operands.size());
    gradients[layer.position("x")] = turned(layer, g, true);
    return gradients;
  }

 private:
  // Every pair of every head, forward or back.
  template <class Scalar>
  static Values<Scalar> turned(const Layer<Scalar>& layer, View<Scalar> x, bool back) {
    const auto& numbers = layer.settings.numbers;
    const std::int64_t n = columns(layer.extents),
                       width = n / static_cast<std::int64_t>(numbers.at("heads"));
    const auto rotated = numbers.find("rotated");
    const std::int64_t r =
        rotated == numbers.end() ? width : static_cast<std::int64_t>(rotated->second);
    const bool interleaved = layer.settings.flags.contains("interleaved");
    Values<Scalar> y(x.begin(), x.end());
    for (std::int64_t head = 0; head < std::ssize(x); head += width) {
      const Scalar t = time_of(layer, head / n);
      for (std::int64_t i = 0; i < r / 2; ++i) {
        const Scalar f = frequency<Scalar>(i, r, numbers.at("base"));
        const Scalar angle = t * stretched(f, layer.settings);
        const std::int64_t first = head + (interleaved ? 2 * i : i),
                           second = interleaved ? first + 1 : first + r / 2;
        const Scalar c = cos(angle), s = back ? -sin(angle) : sin(angle);
        y[first] = x[first] * c - x[second] * s;
        y[second] = x[second] * c + x[first] * s;
      }
    }
    return y;
  }
};

}  // namespace halftone::reference
