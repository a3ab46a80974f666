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

// x = 2^n * (1 + f) with 1 + f in [0.7071, 1.4142), for x above zero.
struct Mantissa {
  float n, f;
};

inline Mantissa mantissa(float x) {
  const float xs = x * 0x1p+23f;
  const float a = x < 0x1p-126f ? xs : x;
  const float o = x < 0x1p-126f ? 0x1.80002ep+23f : 0x1.8p+23f;
  const std::uint32_t j = bits(a);
  const std::uint32_t k = j - 0x3f3504f3u;
  const std::uint32_t e = shrs(k, 23);
  const std::uint32_t es = e << 23;
  const std::uint32_t mb = j - es;
  const std::uint32_t eb = e + 0x4b400000u;
  const float ef = value(eb);
  const float n = ef - o;
  const float m = value(mb);
  const float f = m - 0x1p+0f;
  return {n, f};
}

// n * ln 2 + log(1 + f)
inline float log_of(float n, float f) {
  const float q0 =
      horner(f, -0x1.38472ep-4f, 0x1.0860d4p-3f, -0x1.0f3fa8p-3f, 0x1.226dfcp-3f, -0x1.5425c4p-3f,
             0x1.99a41ap-3f, -0x1.000432p-2f, 0x1.55555p-2f, -0x1.fffff8p-2f);
  const float f2 = f * f;
  const float l = fma(f2, q0, f);
  return fma(n, 0x1.62e43p-1f, l);
}

struct SignAndMagnitude {
  std::uint32_t sb;
  float a;
};

inline SignAndMagnitude taken_apart(float x) {
  const std::uint32_t xb = bits(x);
  const std::uint32_t ab = xb & 0x7fffffffu;
  const std::uint32_t sb = xb - ab;
  return {sb, value(ab)};
}

// What is left of an exponent: exp of the argument is that of r times the power of two in t.
struct Split {
  float t, r;
};

}  // namespace halftone::reference::recipe
