// SPDX-License-Identifier: Apache-2.0
// R24 and R25: sin and cos, by the operations of docs/spec/math.md in its order, with its
// temporaries' names. Built without contraction: every operation rounds where it stands.
#include <limits>

#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe {
namespace {

// To the nearest, ties to even; of a word that is not negative.
float number(std::uint32_t word) { return static_cast<float>(static_cast<std::int32_t>(word)); }

struct Words {
  std::uint32_t w0, w1, w2;
};

// 96 bits of 2/pi from the bit s on, counted from 2^25 down.
Words bits_of_two_over_pi(std::uint32_t s) {
  const bool far = (s & 0x40u) != 0, odd = (s & 0x20u) != 0;
  const std::uint32_t a0 = far ? 0x91054a7fu : 0x00000028u;
  const std::uint32_t a1 = far ? 0x09d5f47du : 0xbe60db93u;
  const std::uint32_t a2 = far ? 0x4d377036u : 0x91054a7fu;
  const std::uint32_t a3 = far ? 0xd8a5664fu : 0x09d5f47du;
  const std::uint32_t a4 = far ? 0x10e4107fu : 0x4d377036u;
  const std::uint32_t b0 = odd ? a1 : a0;
  const std::uint32_t b1 = odd ? a2 : a1;
  const std::uint32_t b2 = odd ? a3 : a2;
  const std::uint32_t b3 = odd ? a4 : a3;
  const std::uint32_t l = s & 0x1fu;
  const std::uint32_t v = 31u - l;
  return {b0 << l | b1 >> 1 >> v, b1 << l | b2 >> 1 >> v, b2 << l | b3 >> 1 >> v};
}

// |x| less a multiple of pi/2, at most pi/4 from zero: head and tail of its magnitude, its sign in
// all bits of m, and the multiple modulo 4 in the low bits of k.
struct Reduced {
  float r, t;
  std::uint32_t m, k;
};

Reduced reduced(float x) {
  const float a = std::fabs(x);
  const std::uint32_t ab = bits(a);
  const std::uint32_t e = ab >> 23;
  const std::uint32_t s0 = e - 126u;
  const std::uint32_t o = s0 >> 7;
  const std::uint32_t s = s0 - o;
  const auto [w0, w1, w2] = bits_of_two_over_pi(s);
  const std::uint32_t f = ab & 0x007fffffu;
  const std::uint32_t g = f + 0x00800000u;
  const std::uint32_t h = g << (o & 1u);
  const bool near = a < 0x1.921fb6p-1f;
  const std::uint32_t i = near ? 0 : h;
  const std::uint64_t p0 = static_cast<std::uint64_t>(i) * w0;
  const std::uint64_t p1 = static_cast<std::uint64_t>(i) * w1;
  const std::uint64_t p2 = static_cast<std::uint64_t>(i) * w2;
  const std::uint64_t p = (p0 << 32) + p1 + (p2 >> 32);
  const std::uint32_t high = static_cast<std::uint32_t>(p >> 32);
  const std::uint32_t low = static_cast<std::uint32_t>(p);
  const std::uint32_t q = high + 0x20000000u;
  const std::uint32_t k = q >> 30;
  const std::uint32_t d = high - (k << 30);
  const std::uint32_t m = shrs(d, 31);
  const std::uint32_t dh = d ^ m;
  const std::uint32_t dl = low ^ m;
  const std::uint32_t top = dh & 0x3fffffe0u;
  const std::uint32_t rest = ((dh & 0x1fu) << 26) + (dl >> 6);
  const float f1 = number(top);
  const float f2 = number(rest);
  const float c = f1 * 0x1.921fb6p-30f;
  const float c1 = fma(f1, 0x1.921fb6p-30f, -c);
  const float c2 = fma(f1, -0x1.777a5cp-55f, c1);
  const float c3 = fma(f2, 0x1.921fb6p-56f, c2);
  const float r0 = c + c3;
  const float r1 = r0 - c;
  const float t = c3 - r1;
  const float r = near ? a : r0;
  return {r, t, m, k};
}

float sine(float r, float t) {
  const float z = r * r;
  const float u = horner(z, -0x1.9943e8p-13f, 0x1.11073cp-7f, -0x1.555546p-3f);
  const float v = r * z;
  const float w = fma(v, u, t);
  return r + w;
}

float cosine(float r, float t) {
  const float z = r * r;
  const float u = horner(z, 0x1.99eba0p-16f, -0x1.6c0c34p-10f, 0x1.55554ap-5f);
  const float v = z * z;
  const float w0 = fma(z, -0x1p-1f, 0x1p+0f);
  const float w1 = 0x1p+0f - w0;
  const float w2 = fma(z, -0x1p-1f, w1);
  const float w3 = fma(v, u, w2);
  const float w4 = fma(-r, t, w3);
  return w0 + w4;
}

// Quadrant k of the two: its cosine where k is odd, negative where its second bit is set.
float quadrant(const Reduced& x, std::uint32_t k, std::uint32_t sign) {
  const float ys = sine(x.r, x.t);
  const float yc = cosine(x.r, x.t);
  const std::uint32_t sb = bits(ys) ^ (x.m & 0x80000000u);
  const std::uint32_t cb = bits(yc);
  const std::uint32_t yb = (k & 1u) != 0 ? cb : sb;
  const std::uint32_t nb = (k & 2u) << 30;
  return value(yb ^ nb ^ sign);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace

float sin(float x) {  // R24
  const Reduced of = reduced(x);
  const float y = quadrant(of, of.k, bits(x) & 0x80000000u);
  return std::fabs(x) < kInfinity ? y : kNaN;
}

float cos(float x) {  // R25
  const Reduced of = reduced(x);
  const float y = quadrant(of, of.k + 1u, 0);
  return std::fabs(x) < kInfinity ? y : kNaN;
}

}  // namespace halftone::reference::recipe
