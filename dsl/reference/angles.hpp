// SPDX-License-Identifier: Apache-2.0
// What layers that speak of positions share (D64, D66): the frequencies of pairs, and the angle of
// a pair at a position.
#pragma once

#include <numbers>

#include "layer.hpp"

namespace halftone::reference {

// Pair i of `width` elements, in turns per position times 2 pi.
template <class Scalar>
Scalar frequency(std::int64_t i, std::int64_t width, double base) {
  const Scalar share = static_cast<Scalar>(2.0 * static_cast<double>(i)) /
                       static_cast<Scalar>(static_cast<double>(width));
  return static_cast<Scalar>(1.0) / pow(static_cast<Scalar>(base), share);
}

// D64: Llama 3 leaves short waves as they are and stretches long ones.
template <class Scalar>
Scalar stretched(Scalar f, const Settings& settings) {
  const Scalar factor = static_cast<Scalar>(settings.numbers.at("factor"));
  if (!settings.numbers.contains("original_length")) return f / factor;
  const double low = settings.numbers.at("low_factor"), high = settings.numbers.at("high_factor"),
               length = settings.numbers.at("original_length");
  const Scalar wave = static_cast<Scalar>(2 * std::numbers::pi) / f;
  if (wave < static_cast<Scalar>(length / high)) return f;
  if (wave > static_cast<Scalar>(length / low)) return f / factor;
  const Scalar u = (static_cast<Scalar>(length) / wave - static_cast<Scalar>(low)) /
                   static_cast<Scalar>(high - low);
  return (static_cast<Scalar>(1.0) - u) * f / factor + u * f;
}

// Of a row of x: what `position` says, or where it stands along the times.
template <class Scalar>
Scalar time_of(const Layer<Scalar>& layer, std::int64_t row) {
  const std::int64_t t = layer.has("position") ? layer.operand("position").integers[row]
                                               : row % layer.extents[layer.extents.size() - 2];
  return static_cast<Scalar>(static_cast<double>(t));
}

}  // namespace halftone::reference
