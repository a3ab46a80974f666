// SPDX-License-Identifier: Apache-2.0
// The first values of parameters: a pure function of seed, parameter name and element index.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "halftone/manifest/manifest.hpp"

namespace halftone {

/// Element e is made of w = philox4x32(counter {e low, e high, h low, h high}, key {seed low, seed
/// high}), where h is the XXH3-64 hash of `name`:
///   uniform: u = (w0 >> 8) * 2^-24; f32(lower + (upper - lower) * u)
///   normal:  u = (w0 * 2^-32 + (w1 + 0.5) * 2^-64), v = w2 * 2^-32; f32(mean + deviation * sqrt(-2
///   ln u) * cos(2 pi v))
///   truncated_normal: mean + deviation * sqrt(2) * erfinv(2c - 1), c = a + (b - a) * u of the
///   uniform's u + 2^-25, a and b the normal distribution's shares below the ends; then no further
///   than these
/// (Box-Muller), in double and rounded once at the end. orthogonal: `rows` rows of unit normals as
/// above, or where columns are fewer these, made orthogonal one after another and of length
/// `first`: Q of a QR decomposition whose R has no negative diagonal, as torch's orthogonal_.
void initialize(std::span<float> values, const manifest::Initializer& initializer,
                std::uint64_t seed, std::string_view name, std::int64_t rows = 1);

}  // namespace halftone
