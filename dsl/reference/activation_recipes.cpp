// SPDX-License-Identifier: Apache-2.0
// R7 to R12 of docs/spec/math.md: gelu and silu, one statement per line there.
#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe {

float gelu_erf(float x) {  // R7
  const float ax = std::fabs(x);
  const float a = ax > 0x1.dp+3f ? 0x1.dp+3f : ax;
  const float s = a * a;
  const float l = fma(a, a, -s);
  const float t = fma(s, -0x1.715476p-1f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float v = s * 0x1p-1f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  const float r = fma(l, 0x1p-1f, r1);
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float m3 = fma(0x1.0db8e2p-8f, a, 0x1.4cd4f6p-5f);
  const float m2 = fma(m3, a, 0x1.773d66p-3f);
  const float m1 = fma(m2, a, 0x1.c0cc1cp-2f);
  const float m0 = fma(m1, a, 0x1p-1f);
  const float d4 = fma(0x1.520af2p+33f, a, 0x1.a12b54p+36f);
  const float d3 = fma(d4, a, 0x1.e0b436p+38f);
  const float d2 = fma(d3, a, 0x1.33d3e4p+40f);
  const float d1 = fma(d2, a, 0x1.aca83ep+40f);
  const float d0 = fma(d1, a, 0x1p+40f);
  const float g = a * e;
  const float k = g * m0;
  const float y = k / d0;
  const float h = x < 0x0p+0f ? -0x0p+0f : ax;
  return h - y;
}

float gelu_erf_derivative(float x) {  // R8
  const float ax = std::fabs(x);
  const float a = ax > 0x1.dp+3f ? 0x1.dp+3f : ax;
  const float s = a * a;
  const float l = fma(a, a, -s);
  const float t = fma(s, -0x1.715476p-1f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float v = s * 0x1p-1f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  const float r = fma(l, 0x1p-1f, r1);
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float m3 = fma(0x1.0db8e2p-8f, a, 0x1.4cd4f6p-5f);
  const float m2 = fma(m3, a, 0x1.773d66p-3f);
  const float m1 = fma(m2, a, 0x1.c0cc1cp-2f);
  const float m0 = fma(m1, a, 0x1p-1f);
  const float d4 = fma(0x1.520af2p+33f, a, 0x1.a12b54p+36f);
  const float d3 = fma(d4, a, 0x1.e0b436p+38f);
  const float d2 = fma(d3, a, 0x1.33d3e4p+40f);
  const float d1 = fma(d2, a, 0x1.aca83ep+40f);
  const float d0 = fma(d1, a, 0x1p+40f);
  const float k = a * -0x1.988454p-42f;
  const float f = fma(k, d0, m0);
  const float g = e * f;
  const float y = g / d0;
  const float z = 0x1p+0f - y;
  return x < 0x0p+0f ? y : z;
}

float gelu_tanh(float x) {  // R9
  const float ax = std::fabs(x);
  const float a = ax > 0x1.6p+3f ? 0x1.6p+3f : ax;
  const float s = a * a;
  const float l = fma(a, a, -s);
  const float k = fma(s, 0x1.2444f2p-4f, 0x1.98845p+0f);
  const float k0 = 0x1.98845p+0f - k;
  const float k1 = fma(s, 0x1.2444f2p-4f, k0);
  const float k2 = fma(s, 0x1.49b16ap-29f, k1);
  const float k3 = fma(l, 0x1.2444f2p-4f, k2);
  const float k4 = k3 + 0x1.9ea1b2p-23f;
  const float v = a * k;
  const float v0 = fma(a, k, -v);
  const float v1 = fma(a, k4, v0);
  const float t = fma(v, -0x1.715476p+0f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  const float r = r1 + v1;
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float d = e + 0x1p+40f;
  const float g = a * e;
  const float y = g / d;
  const float h = x < 0x0p+0f ? -0x0p+0f : ax;
  return h - y;
}

float gelu_tanh_derivative(float x) {  // R10
  const float ax = std::fabs(x);
  const float a = ax > 0x1.6p+3f ? 0x1.6p+3f : ax;
  const float s = a * a;
  const float l = fma(a, a, -s);
  const float k = fma(s, 0x1.2444f2p-4f, 0x1.98845p+0f);
  const float k0 = 0x1.98845p+0f - k;
  const float k1 = fma(s, 0x1.2444f2p-4f, k0);
  const float k2 = fma(s, 0x1.49b16ap-29f, k1);
  const float k3 = fma(l, 0x1.2444f2p-4f, k2);
  const float k4 = k3 + 0x1.9ea1b2p-23f;
  const float v = a * k;
  const float v0 = fma(a, k, -v);
  const float v1 = fma(a, k4, v0);
  const float t = fma(v, -0x1.715476p+0f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  const float r = r1 + v1;
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float d = e + 0x1p+40f;
  const float m = fma(s, 0x1.b6676cp+37f, 0x1.988454p+40f);
  const float f = fma(-a, m, d);
  const float g = e * f;
  const float d2 = d * d;
  const float y = g / d2;
  const float z = 0x1p+0f - y;
  return x < 0x0p+0f ? y : z;
}

float silu(float x) {  // R11
  const float ax = std::fabs(x);
  const float a = ax > 0x1.b8p+6f ? 0x1.b8p+6f : ax;
  const float t = fma(a, -0x1.715476p+0f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, a);
  const float r = fma(n, 0x1.7f7d1cp-20f, r0);
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float d = e + 0x1p+40f;
  const float g = a * e;
  const float y = g / d;
  const float h = x < 0x0p+0f ? -0x0p+0f : ax;
  return h - y;
}

float silu_derivative(float x) {  // R12
  const float ax = std::fabs(x);
  const float a = ax > 0x1.b8p+6f ? 0x1.b8p+6f : ax;
  const float t = fma(a, -0x1.715476p+0f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, a);
  const float r = fma(n, 0x1.7f7d1cp-20f, r0);
  const float p5 = fma(0x1.694c82p-10f, r, -0x1.12397cp-7f);
  const float p4 = fma(p5, r, 0x1.555a26p-5f);
  const float p3 = fma(p4, r, -0x1.555492p-3f);
  const float p2 = fma(p3, r, 0x1.fffffap-2f);
  const float p1 = fma(p2, r, -0x1p+0f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float d = e + 0x1p+40f;
  const float f = fma(a, -0x1p+40f, d);
  const float g = e * f;
  const float d2 = d * d;
  const float y = g / d2;
  const float z = 0x1p+0f - y;
  return x < 0x0p+0f ? y : z;
}

}  // namespace halftone::reference::recipe
