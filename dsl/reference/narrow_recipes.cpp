// SPDX-License-Identifier: Apache-2.0
// R13 to R21 of docs/spec/math.md: the narrow grade, with its temporaries' names. Runs of lines
// that they share are functions, polynomials lists of coefficients.
#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe::narrow {
namespace {

// Of 2^(a * k), times what the power of two gets from `offset`.
Split split_product(float a, float k, float offset) {
  const float t = fma(a, k, offset);
  const float n = t - offset;
  const float r = fma(a, k, -n);
  return {t, r};
}

// Of exp(-2u(a)), times 2^24; s = a^2.
Split split_gelu_tanh(float a, float s) {
  const float k = fma(s, -0x1.a5a7dp-4f, -0x1.26aec2p+1f);
  return split_product(a, k, 0x1.80003p+23f);
}

// Of exp(-a), times 2^24.
Split split_silu(float a) { return split_product(a, -0x1.715476p+0f, 0x1.80003p+23f); }

// 2^r: p3 to p0, and p4 to p0 with one power of r more
float exp2_of_degree4(float r) {
  return horner(r, 0x1.3997dp-7f, 0x1.ca144p-5f, 0x1.ec06dap-3f, 0x1.62e0dcp-1f, 0x1.ffffe8p-1f);
}
float exp2_of_degree5(float r) {
  return horner(r, 0x1.5bba12p-10f, 0x1.3cea86p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f,
                0x1p+0f);
}

// p times the power of two in t, which is added to the exponent of p.
float with_exponent(float p, float t) {
  const std::uint32_t tb = bits(t);
  const std::uint32_t ts = tb << 23;
  const std::uint32_t pb = bits(p);
  const std::uint32_t eb = pb + ts;
  return value(eb);
}

// 1/d from i1, which is near it
float refined(float d, float i1) {
  const float o = fma(-d, i1, 0x1p+0f);
  const float o1 = fma(o, o, o);
  return fma(i1, o1, i1);
}

// 1/d for d = e + 2^24
float reciprocal(float e, float d) {
  const float i0 = fma(e, 0x1.4afd64p-74f, -0x1.9dbcbcp-49f);
  const float i1 = fma(e, i0, 0x1.fad406p-25f);
  return refined(d, i1);
}

float power16(float w0) {
  const float v2 = w0 * w0;
  const float v4 = v2 * v2;
  const float v8 = v4 * v4;
  return v8 * v8;
}

// max(x, 0) - g * v
float relu_minus(float x, float g, float v) {
  const float h = x > 0x0p+0f ? x : 0x0p+0f;
  return fma(-g, v, h);
}

// g * v for x < 0, else 1 minus that
float reflected(float x, float g, float v) {
  const float y = g * v;
  const float z = fma(-g, v, 0x1p+0f);
  return x < 0x0p+0f ? y : z;
}

// x/(1 + F) as max(x, 0) - a * F/(1 + F), where e is F times 2^24
float gate(float x, float a, float e) {
  const float d = e + 0x1p+24f;
  const float i = reciprocal(e, d);
  const float g = a * e;
  return relu_minus(x, g, i);
}

// e * i^2 * f for x < 0, else 1 minus that
float gate_derivative(float x, float e, float i, float f) {
  const float q = e * i;
  const float g = i * f;
  return reflected(x, q, g);
}

}  // namespace

float exp(float x) {  // R13
  const float a = at_most(x, 0x1.64p+6f);
  const float b = at_least(a, -0x1.ap+6f);
  const auto [t, r] = split_product(b, 0x1.715476p+0f, 0x1.8001fcp+23f);
  const float p0 = exp2_of_degree4(r);
  return scaled_by_halves(p0, t);
}

float tanh(float x) {  // R14
  const std::uint32_t xb = bits(x);
  const std::uint32_t sb = xb & 0x80000000u;
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.4p+3f);
  const auto [t, r] = split_product(a, -0x1.715476p+1f, 0x1.8000fep+23f);
  const float q0 =
      horner(r, 0x1.5dc776p-11f, 0x1.3cc1e6p-8f, 0x1.c6b218p-6f, 0x1.ebfa46p-4f, 0x1.62e42ep-2f);
  const float p = q0 * r;
  const float c = power_of_two(t);
  const float h0 = fma(c, -0x1p-1f, 0x1p-1f);
  const float h = fma(-c, p, h0);
  const float d = 0x1p+0f - h;
  const float i0 = fma(d, 0x1.4afd64p+1f, -0x1.745d1p+2f);
  const float i1 = fma(d, i0, 0x1.0f83dcp+2f);
  const float i = refined(d, i1);
  const float y = h * i;
  return with_sign(y, sb);
}

float sigmoid(float x) {  // R15
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.9p+6f);
  const auto [t, r] = split_product(a, -0x1.715476p+0f, 0x1.80012ep+23f);
  const float p0 = exp2_of_degree4(r);
  const float c = power_of_two(t);
  const float e = p0 * c;
  const float d = e + 0x1p+24f;
  const float i = reciprocal(e, d);
  return reflected(x, e, i);
}

float gelu_erf(float x) {  // R16
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.b33334p+3f);
  const float b = a - 0x1.8p+2f;
  const float w0 =
      horner(b, -0x1.479d54p-44f, 0x1.67abcep-41f, 0x1.8e4318p-37f, -0x1.b8ef34p-34f,
             -0x1.5f1fe8p-30f, 0x1.1e590cp-28f, 0x1.d10e7cp-22f, -0x1.10f784p-18f, -0x1.aed172p-15f,
             0x1.d5475ap-11f, 0x1.c0328ep-10f, -0x1.9c566ap-4f, 0x1.0bd0fp-1f);
  const float v16 = power16(w0);
  const float g = a * v16;
  return relu_minus(x, g, v16);
}

float gelu_erf_derivative(float x) {  // R17
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.c66666p+3f);
  const float q = a - 0x1.8p+2f;
  const float w0 =
      horner(q, -0x1.4943e6p-48f, 0x1.da4246p-44f, -0x1.0e6c3p-40f, 0x1.e9d7a2p-38f,
             -0x1.78545cp-41f, -0x1.a30202p-30f, 0x1.4d7fcap-28f, 0x1.dabf7p-22f, -0x1.2515fep-18f,
             -0x1.cd9ceap-15f, 0x1.078392p-10f, 0x1.325602p-10f, -0x1.abad3cp-4f, 0x1.1c6a34p-1f);
  const float v16 = power16(w0);
  const float k = 0x1.80ead2p-1f - a;
  const float b = k + -0x1.a03fd4p-27f;
  const float g = b * v16;
  return reflected(x, g, v16);
}

float gelu_tanh(float x) {  // R18
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.5p+3f);
  const float s = a * a;
  const auto [t, r] = split_gelu_tanh(a, s);
  const float p0 = exp2_of_degree4(r);
  const float e = with_exponent(p0, t);
  return gate(x, a, e);
}

float gelu_tanh_derivative(float x) {  // R19
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.5p+3f);
  const float s = a * a;
  const auto [t, r] = split_gelu_tanh(a, s);
  const float p0 = exp2_of_degree5(r);
  const float e = with_exponent(p0, t);
  const float d = e + 0x1p+24f;
  const float i = reciprocal(e, d);
  const float m = fma(s, 0x1.b6676cp+21f, 0x1.988454p+24f);
  const float f = fma(-a, m, d);
  return gate_derivative(x, e, i, f);
}

float silu(float x) {  // R20
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.9p+6f);
  const auto [t, r] = split_silu(a);
  const float p0 = exp2_of_degree4(r);
  const float e = with_exponent(p0, t);
  return gate(x, a, e);
}

float silu_derivative(float x) {  // R21
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.9p+6f);
  const auto [t, r] = split_silu(a);
  const float p0 = exp2_of_degree5(r);
  const float e = with_exponent(p0, t);
  const float d = e + 0x1p+24f;
  const float i = reciprocal(e, d);
  const float f = fma(a, -0x1p+24f, d);
  return gate_derivative(x, e, i, f);
}

}  // namespace halftone::reference::recipe::narrow
