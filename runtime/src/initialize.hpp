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
/// (Box-Muller), in double and rounded once at the end.
void initialize(std::span<float> values, const manifest::Initializer& initializer,
                std::uint64_t seed, std::string_view name);

}  // namespace halftone
