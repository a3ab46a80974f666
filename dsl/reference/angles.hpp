// SPDX-License-Identifier: Apache-2.0
// What layers that speak of positions share (D64, D66): the frequencies of pairs, and the angle of
// a pair at a position.
#pragma once

#include <cmath>
#include <numbers>

#include "layer.hpp"

namespace halftone::reference {

// base^(-2i / width) of pair i: by how much its angle grows with a position.
template <class Scalar>
Scalar frequency(std::int64_t i, std::int64_t width, double base) {
  const double c = 2 * std::log(base) / static_cast<double>(width);
  const Scalar high = static_cast<Scalar>(c);
  const Scalar low = static_cast<Scalar>(c - plain(high));
  const Scalar pair = static_cast<Scalar>(static_cast<double>(i));
  const Scalar p = pair * high;
  const Scalar rest = fma(pair, low, fma(pair, high, -p));
  const Scalar f = exp(-p);
  return fma(-rest, f, f);
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
