// SPDX-License-Identifier: Apache-2.0
// dropout: D35 and D54.
#pragma once

#include "../layer.hpp"
#include "../philox.hpp"

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
    if (!layer.draws) {
      throw std::invalid_argument(
          "a layer that draws has no seed; give it the draws of its micro-batch");
    }
    Values<Scalar> y(values.begin(), values.end());
    if (!layer.draws->training) return y;
    const double rate = layer.settings.numbers.at("rate");
    const auto threshold = static_cast<std::uint32_t>(rate * 0x1p32);  // towards zero
    const Scalar scale = static_cast<Scalar>(1 / (1 - rate));
    for (std::size_t e = 0; e < y.size(); ++e) {
      y[e] = draw(*layer.draws, e) < threshold ? Scalar(0) : y[e] * scale;
    }
    return y;
  }

  static std::uint32_t draw(const Draws& draws, std::uint64_t e) {
    const std::uint64_t block = e / 4, key = draws.seed ^ draws.layer;
    const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
    return philox({low(block), low(block >> 32), draws.step, draws.micro_batch},
                  {low(key), low(key >> 32)})[e % 4];
  }
};

}  // namespace halftone::reference
