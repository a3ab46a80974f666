// SPDX-License-Identifier: Apache-2.0
// pixel_shuffle: D97 and D98.
#pragma once

#include "../layer.hpp"

namespace halftone::reference {

struct PixelShuffle : LayerKind {
  static constexpr std::string_view word = "pixel_shuffle";
  static constexpr std::array classes{description::LayerClass::elementwise};
  static constexpr bool reads(std::string_view, std::string_view) { return false; }

  // D97
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const bool inverse = layer.settings.flags.contains("inverse");
    return moved(layer, layer["x"], inverse, inverse);
  }

  // D98
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const bool inverse = layer.settings.flags.contains("inverse");
    return {moved(layer, g, inverse, !inverse)};
  }

 private:
  // Walks the elements of the side with more channels, and either gathers them or spreads them.
  template <class Scalar>
  static Values<Scalar> moved(const Layer<Scalar>& layer, View<Scalar> from, bool inverse,
                              bool gathers) {
    const std::vector<std::int64_t>& factors = layer.settings.lists.at("factor");
    const Extents &x = layer.operand("x").extents, &y = layer.extents;
    const Extents &deep = inverse ? y : x, &wide = inverse ? x : y;
    Values<Scalar> to(from.size());
    for (std::int64_t e = 0; e < std::ssize(from); ++e) {
      const std::int64_t other = wide_place(e, deep, wide, factors);
      if (gathers)
        to[e] = from[other];
      else
        to[other] = from[e];
    }
    return to;
  }

  // Channel c * f + p, p counting the places of a block in row-major order, is channel c of place
  // p.
  static std::int64_t wide_place(std::int64_t e, const Extents& deep, const Extents& wide,
                                 const std::vector<std::int64_t>& factors) {
    std::int64_t channel = e % deep.back(), rest = e / deep.back();
    std::vector<std::int64_t> in_block(factors.size());
    for (std::size_t d = factors.size(); d-- > 0;) {
      in_block[d] = channel % factors[d];
      channel /= factors[d];
    }
    const std::size_t first = deep.size() - 1 - factors.size();
    std::int64_t place = channel, step = wide.back();
    for (std::size_t at = deep.size() - 1; at-- > 0;) {
      std::int64_t coordinate = rest % deep[at];
      rest /= deep[at];
      if (at >= first) coordinate = coordinate * factors[at - first] + in_block[at - first];
      place += coordinate * step;
      step *= wide[at];
    }
    return place;
  }
};

}  // namespace halftone::reference
