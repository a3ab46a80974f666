// SPDX-License-Identifier: Apache-2.0
// The operations that the recipes of docs/spec/math.md are lists of.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#ifdef __FAST_MATH__
#error "the recipes define bits: build them without -ffast-math"
#endif

namespace halftone::reference::recipe {

inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float value(std::uint32_t b) { return std::bit_cast<float>(b); }
// The arithmetic shift: copies of the sign bit come in from the left.
inline std::uint32_t shrs(std::uint32_t a, int n) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> n);
}

}  // namespace halftone::reference::recipe
