// SPDX-License-Identifier: Apache-2.0
// R13 to R21 of docs/spec/math.md: the narrow grade, one statement per line there.
#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe::narrow {

float exp(float x) {  // R13
  const float a = x > 0x1.64p+6f ? 0x1.64p+6f : x;
  const float b = a < -0x1.ap+6f ? -0x1.ap+6f : a;
  const float t = fma(b, 0x1.715476p+0f, 0x1.8001fcp+23f);
  const float n = t - 0x1.8001fcp+23f;
  const float r = fma(b, 0x1.715476p+0f, -n);
  const float p3 = fma(0x1.3997dp-7f, r, 0x1.ca144p-5f);
  const float p2 = fma(p3, r, 0x1.ec06dap-3f);
  const float p1 = fma(p2, r, 0x1.62e0dcp-1f);
  const float p0 = fma(p1, r, 0x1.ffffe8p-1f);
  const std::uint32_t j = bits(t);
  const std::uint32_t u = shrs(j, 1);
  const std::uint32_t v = j - u;
  const std::uint32_t us = u << 23;
  const std::uint32_t vs = v << 23;
  const float c = value(us);
  const float d = value(vs);
  const float w = p0 * c;
  return w * d;
}

float tanh(float x) {  // R14
  const std::uint32_t xb = bits(x);
  const std::uint32_t sb = xb & 0x80000000u;
  const float ax = std::fabs(x);
  const float a = ax > 0x1.4p+3f ? 0x1.4p+3f : ax;
  const float t = fma(a, -0x1.715476p+1f, 0x1.8000fep+23f);
  const float n = t - 0x1.8000fep+23f;
  const float r = fma(a, -0x1.715476p+1f, -n);
  const float q3 = fma(0x1.5dc776p-11f, r, 0x1.3cc1e6p-8f);
  const float q2 = fma(q3, r, 0x1.c6b218p-6f);
  const float q1 = fma(q2, r, 0x1.ebfa46p-4f);
  const float q0 = fma(q1, r, 0x1.62e42ep-2f);
  const float p = q0 * r;
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float h0 = fma(c, -0x1p-1f, 0x1p-1f);
  const float h = fma(-c, p, h0);
  const float d = 0x1p+0f - h;
  const float i0 = fma(d, 0x1.4afd64p+1f, -0x1.745d1p+2f);
  const float i1 = fma(d, i0, 0x1.0f83dcp+2f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float y = h * i;
  const std::uint32_t yb = bits(y);
  const std::uint32_t zb = yb + sb;
  return value(zb);
}

float sigmoid(float x) {  // R15
  const float ax = std::fabs(x);
  const float a = ax > 0x1.9p+6f ? 0x1.9p+6f : ax;
  const float t = fma(a, -0x1.715476p+0f, 0x1.80012ep+23f);
  const float n = t - 0x1.80012ep+23f;
  const float r = fma(a, -0x1.715476p+0f, -n);
  const float p3 = fma(0x1.3997dp-7f, r, 0x1.ca144p-5f);
  const float p2 = fma(p3, r, 0x1.ec06dap-3f);
  const float p1 = fma(p2, r, 0x1.62e0dcp-1f);
  const float p0 = fma(p1, r, 0x1.ffffe8p-1f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const float c = value(ts);
  const float e = p0 * c;
  const float d = e + 0x1p+24f;
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float y = e * i;
  const float z = fma(-e, i, 0x1p+0f);
  return x < 0x0p+0f ? y : z;
}

float gelu_erf(float x) {  // R16
  const float ax = std::fabs(x);
  const float a = ax > 0x1.b33334p+3f ? 0x1.b33334p+3f : ax;
  const float b = a - 0x1.8p+2f;
  const float w11 = fma(-0x1.479d54p-44f, b, 0x1.67abcep-41f);
  const float w10 = fma(w11, b, 0x1.8e4318p-37f);
  const float w9 = fma(w10, b, -0x1.b8ef34p-34f);
  const float w8 = fma(w9, b, -0x1.5f1fe8p-30f);
  const float w7 = fma(w8, b, 0x1.1e590cp-28f);
  const float w6 = fma(w7, b, 0x1.d10e7cp-22f);
  const float w5 = fma(w6, b, -0x1.10f784p-18f);
  const float w4 = fma(w5, b, -0x1.aed172p-15f);
  const float w3 = fma(w4, b, 0x1.d5475ap-11f);
  const float w2 = fma(w3, b, 0x1.c0328ep-10f);
  const float w1 = fma(w2, b, -0x1.9c566ap-4f);
  const float w0 = fma(w1, b, 0x1.0bd0fp-1f);
  const float v2 = w0 * w0;
  const float v4 = v2 * v2;
  const float v8 = v4 * v4;
  const float v16 = v8 * v8;
  const float g = a * v16;
  const float h = x > 0x0p+0f ? x : 0x0p+0f;
  return fma(-g, v16, h);
}

float gelu_erf_derivative(float x) {  // R17
  const float ax = std::fabs(x);
  const float a = ax > 0x1.c66666p+3f ? 0x1.c66666p+3f : ax;
  const float q = a - 0x1.8p+2f;
  const float w12 = fma(-0x1.4943e6p-48f, q, 0x1.da4246p-44f);
  const float w11 = fma(w12, q, -0x1.0e6c3p-40f);
  const float w10 = fma(w11, q, 0x1.e9d7a2p-38f);
  const float w9 = fma(w10, q, -0x1.78545cp-41f);
  const float w8 = fma(w9, q, -0x1.a30202p-30f);
  const float w7 = fma(w8, q, 0x1.4d7fcap-28f);
  const float w6 = fma(w7, q, 0x1.dabf7p-22f);
  const float w5 = fma(w6, q, -0x1.2515fep-18f);
  const float w4 = fma(w5, q, -0x1.cd9ceap-15f);
  const float w3 = fma(w4, q, 0x1.078392p-10f);
  const float w2 = fma(w3, q, 0x1.325602p-10f);
  const float w1 = fma(w2, q, -0x1.abad3cp-4f);
  const float w0 = fma(w1, q, 0x1.1c6a34p-1f);
  const float v2 = w0 * w0;
  const float v4 = v2 * v2;
  const float v8 = v4 * v4;
  const float v16 = v8 * v8;
  const float k = 0x1.80ead2p-1f - a;
  const float b = k + -0x1.a03fd4p-27f;
  const float g = b * v16;
  const float y = g * v16;
  const float z = fma(-g, v16, 0x1p+0f);
  return x < 0x0p+0f ? y : z;
}

float gelu_tanh(float x) {  // R18
  const float ax = std::fabs(x);
  const float a = ax > 0x1.5p+3f ? 0x1.5p+3f : ax;
  const float s = a * a;
  const float k = fma(s, -0x1.a5a7dp-4f, -0x1.26aec2p+1f);
  const float t = fma(a, k, 0x1.80003p+23f);
  const float n = t - 0x1.80003p+23f;
  const float r = fma(a, k, -n);
  const float p3 = fma(0x1.3997dp-7f, r, 0x1.ca144p-5f);
  const float p2 = fma(p3, r, 0x1.ec06dap-3f);
  const float p1 = fma(p2, r, 0x1.62e0dcp-1f);
  const float p0 = fma(p1, r, 0x1.ffffe8p-1f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const std::uint32_t pb = bits(p0);
  const std::uint32_t eb = pb + ts;
  const float e = value(eb);
  const float d = e + 0x1p+24f;
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float g = a * e;
  const float h = x > 0x0p+0f ? x : 0x0p+0f;
  return fma(-g, i, h);
}

float gelu_tanh_derivative(float x) {  // R19
  const float ax = std::fabs(x);
  const float a = ax > 0x1.5p+3f ? 0x1.5p+3f : ax;
  const float s = a * a;
  const float k = fma(s, -0x1.a5a7dp-4f, -0x1.26aec2p+1f);
  const float t = fma(a, k, 0x1.80003p+23f);
  const float n = t - 0x1.80003p+23f;
  const float r = fma(a, k, -n);
  const float p4 = fma(0x1.5bba12p-10f, r, 0x1.3cea86p-7f);
  const float p3 = fma(p4, r, 0x1.c6b752p-5f);
  const float p2 = fma(p3, r, 0x1.ebf9bcp-3f);
  const float p1 = fma(p2, r, 0x1.62e42ap-1f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const std::uint32_t pb = bits(p0);
  const std::uint32_t eb = pb + ts;
  const float e = value(eb);
  const float d = e + 0x1p+24f;
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float m = fma(s, 0x1.b6676cp+21f, 0x1.988454p+24f);
  const float f = fma(-a, m, d);
  const float q = e * i;
  const float g = i * f;
  const float y = q * g;
  const float z = fma(-q, g, 0x1p+0f);
  return x < 0x0p+0f ? y : z;
}

float silu(float x) {  // R20
  const float ax = std::fabs(x);
  const float a = ax > 0x1.9p+6f ? 0x1.9p+6f : ax;
  const float t = fma(a, -0x1.715476p+0f, 0x1.80003p+23f);
  const float n = t - 0x1.80003p+23f;
  const float r = fma(a, -0x1.715476p+0f, -n);
  const float p3 = fma(0x1.3997dp-7f, r, 0x1.ca144p-5f);
  const float p2 = fma(p3, r, 0x1.ec06dap-3f);
  const float p1 = fma(p2, r, 0x1.62e0dcp-1f);
  const float p0 = fma(p1, r, 0x1.ffffe8p-1f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const std::uint32_t pb = bits(p0);
  const std::uint32_t eb = pb + ts;
  const float e = value(eb);
  const float d = e + 0x1p+24f;
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float g = a * e;
  const float h = x > 0x0p+0f ? x : 0x0p+0f;
  return fma(-g, i, h);
}

float silu_derivative(float x) {  // R21
  const float ax = std::fabs(x);
  const float a = ax > 0x1.9p+6f ? 0x1.9p+6f : ax;
  const float t = fma(a, -0x1.715476p+0f, 0x1.80003p+23f);
  const float n = t - 0x1.80003p+23f;
  const float r = fma(a, -0x1.715476p+0f, -n);
  const float p4 = fma(0x1.5bba12p-10f, r, 0x1.3cea86p-7f);
  const float p3 = fma(p4, r, 0x1.c6b752p-5f);
  const float p2 = fma(p3, r, 0x1.ebf9bcp-3f);
  const float p1 = fma(p2, r, 0x1.62e42ap-1f);
  const float p0 = fma(p1, r, 0x1p+0f);
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const std::uint32_t pb = bits(p0);
  const std::uint32_t eb = pb + ts;
  const float e = value(eb);
  const float d = e + 0x1p+24f;
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  const float i = fma(i1, o1, i1);
  const float f = fma(a, -0x1p+24f, d);
  const float q = e * i;
  const float g = i * f;
  const float y = q * g;
  const float z = fma(-q, g, 0x1p+0f);
  return x < 0x0p+0f ? y : z;
}

}  // namespace halftone::reference::recipe::narrow
