// SPDX-License-Identifier: Apache-2.0
// R22, R23 and R26: log1p, expm1 and pow, by the operations of docs/spec/math.md in its order, with
// its temporaries' names. Built without contraction: every operation rounds where it stands.
#include <limits>

#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A number as an unevaluated sum, the tail at most half an ulp of the head.
struct Pair {
  float h, l;
};

// log2 of a number above zero.
Pair log2_of(float a) {
  const auto [n, f] = mantissa(a);
  const float d = f + 0x1p+1f;
  const float d1 = d - 0x1p+1f;
  const float dl = f - d1;
  const float i = 0x1p+0f / d;
  const float s = f * i;
  const float s1 = fma(-s, d, f);
  const float s2 = fma(-s, dl, s1);
  const float sl = s2 * i;
  const float z = s * s;
  const float z1 = fma(s, s, -z);
  const float ss = s + s;
  const float zl = fma(ss, sl, z1);
  const float u = horner(z, 0x1.59f79ap-2f, 0x1.a5bb82p-2f, 0x1.27770ep-1f);
  const float uz = u * z;
  const float v = uz + 0x1.ec709ep-1f;
  const float v1 = v - 0x1.ec709ep-1f;
  const float v2 = uz - v1;
  const float vl = v2 - 0x1.e2fe02p-28f;
  const float w = z * v;
  const float w1 = fma(z, v, -w);
  const float w2 = fma(z, vl, w1);
  const float wl = fma(zl, v, w2);
  const float g = w + 0x1.715476p+1f;
  const float g1 = g - 0x1.715476p+1f;
  const float g2 = w - g1;
  const float g3 = g2 + 0x1.4ae0cp-25f;
  const float gl = g3 + wl;
  const float y = s * g;
  const float y1 = fma(s, g, -y);
  const float y2 = fma(s, gl, y1);
  const float yl = fma(sl, g, y2);
  const float h = n + y;
  const float h1 = h - n;
  const float h2 = y - h1;
  const float l = h2 + yl;
  return {h, l};
}

// 2^(h + l), the tail l at most 1/16.
float exp2_of(float h, float l) {
  const float t = h + 0x1.8001fcp+23f;
  const float n = t - 0x1.8001fcp+23f;
  const float r0 = h - n;
  const float r = r0 + l;
  const float p = horner(r, 0x1.fdd684p-17f, 0x1.445d66p-13f, 0x1.5d8a94p-10f, 0x1.3b29f2p-7f,
                         0x1.c6b08ap-5f, 0x1.ebfbep-3f, 0x1.62e43p-1f, 0x1p+0f);
  return scaled_by_halves(p, t);
}

}  // namespace

float log1p(float x) {  // R22
  const float u = x + 0x1p+0f;
  const std::uint32_t j = bits(u);
  const std::uint32_t k = j - 0x3f3504f3u;
  const std::uint32_t e = shrs(k, 23);
  const std::uint32_t es = e << 23;
  const std::uint32_t pb = 0x40800000u - es;
  const float p = value(pb);
  const float g = fma(p, 0x1p-2f, -0x1p+0f);
  const float h = x * p;
  const float f = fma(h, 0x1p-2f, g);
  const std::uint32_t eb = e + 0x4b400000u;
  const float ef = value(eb);
  const float n = ef - 0x1.8p+23f;
  const float y = log_of(n, f);
  const float s = x < kInfinity ? y : x;
  const float w = x == 0x0p+0f ? x : s;
  const float z = x == -0x1p+0f ? -kInfinity : kNaN;
  return x > -0x1p+0f ? w : z;
}

float expm1(float x) {  // R23
  const float a = at_most(x, 0x1.64p+6f);
  const float b = at_least(a, -0x1.2p+4f);
  const float t = fma(b, 0x1.715476p+0f, 0x1.8000fcp+23f);
  const float n = t - 0x1.8000fcp+23f;
  const float r0 = fma(n, -0x1.62e4p-1f, b);
  const float m = n * -0x1.7f7d1cp-20f;
  const float r = r0 + m;
  const float q0 =
      horner(r, 0x1.694c82p-10f, 0x1.12397cp-7f, 0x1.555a26p-5f, 0x1.555492p-3f, 0x1.fffffap-2f);
  const float r2 = r * r;
  const float p = fma(r2, q0, m);
  const float c = power_of_two(t);
  const float d = c - 0x1p-1f;
  const float w = fma(c, r0, d);
  const float y = fma(c, p, w);
  const float z = y + y;
  const float ax = std::fabs(x);
  return ax < 0x1p-126f ? x : z;
}

float pow(float x, float y) {  // R26
  const auto [sb, a] = taken_apart(x);
  const auto [h0, l0] = log2_of(a);
  const float h1 = a < kInfinity ? h0 : a;
  const float h = a == 0x0p+0f ? -kInfinity : h1;
  const float e0 = y * h;
  const float e1 = at_most(e0, 0x1.02p+7f);
  const float e = at_least(e1, -0x1.3p+7f);
  const float c0 = fma(y, h, -e0);
  const float c1 = fma(y, l0, c0);
  const float c = e == e0 ? c1 : 0x0p+0f;
  const float p0 = exp2_of(e, c);
  const float p = a == 0x1p+0f ? 0x1p+0f : p0;
  const float yf = std::floor(y);
  const float yh = y * 0x1p-1f;
  const float yg = std::floor(yh);
  const std::uint32_t pb = bits(p);
  const std::uint32_t nb = pb + sb;
  const float np = value(nb);
  const float q0 = yg == yh ? p : np;
  const float q1 = yf == y ? q0 : kNaN;
  const float q2 = yf == y ? q0 : p;
  const float q3 = x > -kInfinity ? q1 : q2;
  const float q4 = x < 0x0p+0f ? q3 : q2;
  return y == 0x0p+0f ? 0x1p+0f : q4;
}

}  // namespace halftone::reference::recipe
