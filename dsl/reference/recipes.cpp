// SPDX-License-Identifier: Apache-2.0
// R1 to R6: one statement per line of docs/spec/math.md, with its temporaries' names. Built without
// contraction: every operation rounds where it stands.
#include "recipes.hpp"

#include <limits>

#include "ieee_operations.hpp"

namespace halftone::reference::recipe {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace

float exp(float x) {  // R1
  const float a = x > 0x1.64p+6f ? 0x1.64p+6f : x;
  const float b = a < -0x1.ap+6f ? -0x1.ap+6f : a;
  const float t = fma(b, 0x1.715476p+0f, 0x1.8001fcp+23f);
  const float n = t - 0x1.8001fcp+23f;
  const float r0 = fma(n, -0x1.62e4p-1f, b);
  const float r = fma(n, -0x1.7f7d1cp-20f, r0);
  const float q4 = fma(0x1.694c82p-10f, r, 0x1.12397cp-7f);
  const float q3 = fma(q4, r, 0x1.555a26p-5f);
  const float q2 = fma(q3, r, 0x1.555492p-3f);
  const float q1 = fma(q2, r, 0x1.fffffap-2f);
  const float q0 = fma(q1, r, 0x1p+0f);
  const float p = fma(q0, r, 0x1p+0f);
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

float exp_of_nonpositive(float x) {  // R1, the shorter form
  const float b = x < -0x1.ap+6f ? -0x1.ap+6f : x;
  const float t = fma(b, 0x1.715476p+0f, 0x1.80013cp+23f);
  const float n = t - 0x1.80013cp+23f;
  const float r0 = fma(n, -0x1.62e4p-1f, b);
  const float r = fma(n, -0x1.7f7d1cp-20f, r0);
  const float q4 = fma(0x1.694c82p-10f, r, 0x1.12397cp-7f);
  const float q3 = fma(q4, r, 0x1.555a26p-5f);
  const float q2 = fma(q3, r, 0x1.555492p-3f);
  const float q1 = fma(q2, r, 0x1.fffffap-2f);
  const float q0 = fma(q1, r, 0x1p+0f);
  const float p = fma(q0, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float w = p * c;
  return w * 0x1p-31f;
}

float log(float x) {  // R2
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
  const float q7 = fma(-0x1.38472ep-4f, f, 0x1.0860d4p-3f);
  const float q6 = fma(q7, f, -0x1.0f3fa8p-3f);
  const float q5 = fma(q6, f, 0x1.226dfcp-3f);
  const float q4 = fma(q5, f, -0x1.5425c4p-3f);
  const float q3 = fma(q4, f, 0x1.99a41ap-3f);
  const float q2 = fma(q3, f, -0x1.000432p-2f);
  const float q1 = fma(q2, f, 0x1.55555p-2f);
  const float q0 = fma(q1, f, -0x1.fffff8p-2f);
  const float f2 = f * f;
  const float l = fma(f2, q0, f);
  const float y = fma(n, 0x1.62e43p-1f, l);
  const float s = x < kInfinity ? y : x;
  const float z = x == 0x0p+0f ? -kInfinity : kNaN;
  return x > 0x0p+0f ? s : z;
}

float tanh(float x) {  // R3
  const std::uint32_t xb = bits(x);
  const std::uint32_t ab = xb & 0x7fffffffu;
  const std::uint32_t sb = xb - ab;
  const float a = value(ab);
  const float b = a > 0x1.4p+3f ? 0x1.4p+3f : a;
  const float t = fma(b, -0x1.715476p+1f, 0x1.8000fep+23f);
  const float n = t - 0x1.8000fep+23f;
  const float r0 = fma(n, 0x1.62e4p-2f, b);
  const float r = fma(n, 0x1.7f7d1cp-21f, r0);
  const float q3 = fma(-0x1.6b7334p-5f, r, 0x1.12278ep-3f);
  const float q2 = fma(q3, r, -0x1.555716p-2f);
  const float q1 = fma(q2, r, 0x1.5554bp-1f);
  const float q0 = fma(q1, r, -0x1.fffffep-1f);
  const float g = q0 * r;
  const float p = fma(g, r, r);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float h0 = fma(c, -0x1p-1f, 0x1p-1f);
  const float d0 = 0x1p+0f - h0;
  const float m = c * p;
  const float h = h0 + m;
  const float d = d0 - m;
  const float y = h / d;
  const std::uint32_t yb = bits(y);
  const std::uint32_t zb = yb + sb;
  return value(zb);
}

float erf(float x) {  // R4
  const std::uint32_t xb = bits(x);
  const std::uint32_t ab = xb & 0x7fffffffu;
  const std::uint32_t sb = xb - ab;
  const float a = value(ab);
  const float b = a > 0x1p+2f ? 0x1p+2f : a;
  const float b2 = b * b;
  const float p5 = fma(0x1.280f98p-14f, b2, -0x1.97117cp-11f);
  const float p4 = fma(p5, b2, 0x1.522bbp-8f);
  const float p3 = fma(p4, b2, -0x1.b7bb7cp-6f);
  const float p2 = fma(p3, b2, 0x1.ce298p-4f);
  const float p1 = fma(p2, b2, -0x1.81272ep-2f);
  const float p0 = fma(p1, b2, 0x1.06eba8p-3f);
  const float near = fma(b, p0, b);
  const float w6 = fma(-0x1.786e68p-13f, b, 0x1.a7e9a6p-9f);
  const float w5 = fma(w6, b, -0x1.6bf1bep-6f);
  const float w4 = fma(w5, b, 0x1.0ed5c8p-4f);
  const float w3 = fma(w4, b, -0x1.9d86dep-5f);
  const float w2 = fma(w3, b, -0x1.03caeap-4f);
  const float w1 = fma(w2, b, -0x1.3c3258p-2f);
  const float w0 = fma(w1, b, 0x1.01685ap+0f);
  const float v2 = w0 * w0;
  const float v4 = v2 * v2;
  const float far = 0x1p+0f - v4;
  const float y = b < 0x1.2p+0f ? near : far;
  const std::uint32_t yb = bits(y);
  const std::uint32_t zb = yb + sb;
  return value(zb);
}

float sigmoid(float x) {  // R5
  const float a = x > 0x1p+5f ? 0x1p+5f : x;
  const float b = a < -0x1.ap+6f ? -0x1.ap+6f : a;
  const float t = fma(b, -0x1.715476p+0f, 0x1.8000cep+23f);
  const float n = t - 0x1.8000cep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, b);
  const float r = fma(n, 0x1.7f7d1cp-20f, r0);
  const float q4 = fma(0x1.df0ee8p-10f, r, -0x1.6a1058p-7f);
  const float q3 = fma(q4, r, 0x1.c2ae1ap-5f);
  const float q2 = fma(q3, r, -0x1.c2a9a8p-3f);
  const float q1 = fma(q2, r, 0x1.51fffep-1f);
  const float q0 = fma(q1, r, -0x1.52p+0f);
  const float p = fma(q0, r, 0x1.52p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float d = fma(c, p, 0x1.52p-24f);
  return 0x1.52p-24f / d;
}

float rsqrt(float x) {  // R6
  const float s = std::sqrt(x);
  return 0x1p+0f / s;
}

}  // namespace halftone::reference::recipe
