// SPDX-License-Identifier: Apache-2.0
// The operations that the recipes of docs/spec/math.md are lists of, and the runs of them that
// stand in recipes of more than one file.
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

inline float at_most(float a, float bound) { return a > bound ? bound : a; }
inline float at_least(float a, float bound) { return a < bound ? bound : a; }

// A polynomial, the highest coefficient first: an fma for each of the others.
template <typename... Coefficients>
float horner(float x, float highest, Coefficients... others) {
  float sum = highest;
  ((sum = fma(sum, x, others)), ...);
  return sum;
}

// The power of two whose biased exponent stands in the low bits of t.
inline float power_of_two(float t) {
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  return value(ts);
}

// p times the power of two in t, in two steps: the second alone overflows or rounds.
inline float scaled_by_halves(float p, float t) {
  const std::uint32_t j = bits(t);
  const std::uint32_t u = shrs(j, 1);
  const std::uint32_t v = j - u;
  const std::uint32_t us = u << 23;
  const std::uint32_t vs = v << 23;
  const float c = value(us);
  const float d = value(vs);
  const float w = p * c;
  return w * d;
}

inline float with_sign(float y, std::uint32_t sb) {
  const std::uint32_t yb = bits(y);
  const std::uint32_t zb = yb + sb;
  return value(zb);
}

// What is left of an exponent: exp of the argument is that of r times the power of two in t.
struct Split {
  float t, r;
};

}  // namespace halftone::reference::recipe
