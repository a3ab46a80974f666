// SPDX-License-Identifier: Apache-2.0
// R7 to R12 of docs/spec/math.md: gelu and silu, with its temporaries' names. Runs of lines that
// they share are functions, polynomials lists of coefficients.
#include "ieee_operations.hpp"
#include "recipes.hpp"

namespace halftone::reference::recipe {
namespace {

// max(x, 0) - y with ax = |x|
float relu_minus(float x, float ax, float y) {
  const float h = x < 0x0p+0f ? -0x0p+0f : ax;
  return h - y;
}

// y for x < 0, else 1 - y
float reflected(float x, float y) {
  const float z = 0x1p+0f - y;
  return x < 0x0p+0f ? y : z;
}

// Of exp(-v), times 2^40.
Split split_negated(float v) {
  const float t = fma(v, -0x1.715476p+0f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  return {t, r1};
}

// exp(-r) times the power of two in t
float exp_of_negated(float t, float r) {
  const float p0 = horner(r, 0x1.694c82p-10f, -0x1.12397cp-7f, 0x1.555a26p-5f, -0x1.555492p-3f,
                          0x1.fffffap-2f, -0x1p+0f, 0x1p+0f);
  const float c = power_of_two(t);
  return p0 * c;
}

// a * F/(1 + F), where e is F times 2^40
float times_logistic(float a, float e) {
  const float d = e + 0x1p+40f;
  const float g = a * e;
  return g / d;
}

// e * f/d^2
float over_square(float e, float f, float d) {
  const float g = e * f;
  const float d2 = d * d;
  return g / d2;
}

// Phi(-a) is e * m0/d0, where e and d0 carry 2^40.
struct NormalTail {
  float e, m0, d0;
};

NormalTail normal_tail(float a) {
  const float s = a * a;
  const float l = fma(a, a, -s);
  const float t = fma(s, -0x1.715476p-1f, 0x1.80014ep+23f);
  const float n = t - 0x1.80014ep+23f;
  const float v = s * 0x1p-1f;
  const float r0 = fma(n, 0x1.62e4p-1f, v);
  const float r1 = fma(n, 0x1.7f7d1cp-20f, r0);
  const float r = fma(l, 0x1p-1f, r1);
  const float e = exp_of_negated(t, r);
  const float m0 =
      horner(a, 0x1.0db8e2p-8f, 0x1.4cd4f6p-5f, 0x1.773d66p-3f, 0x1.c0cc1cp-2f, 0x1p-1f);
  const float d0 = horner(a, 0x1.520af2p+33f, 0x1.a12b54p+36f, 0x1.e0b436p+38f, 0x1.33d3e4p+40f,
                          0x1.aca83ep+40f, 0x1p+40f);
  return {e, m0, d0};
}

// exp(-2u(a)) times 2^40, s = a^2
float exp_of_gelu_tanh(float a, float s) {
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
  const auto [t, r1] = split_negated(v);
  const float r = r1 + v1;
  return exp_of_negated(t, r);
}

// exp(-a) times 2^40
float exp_of_silu(float a) {
  const auto [t, r] = split_negated(a);
  return exp_of_negated(t, r);
}

}  // namespace

float gelu_erf(float x) {  // R7
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.dp+3f);
  const auto [e, m0, d0] = normal_tail(a);
  const float g = a * e;
  const float k = g * m0;
  const float y = k / d0;
  return relu_minus(x, ax, y);
}

float gelu_erf_derivative(float x) {  // R8
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.dp+3f);
  const auto [e, m0, d0] = normal_tail(a);
  const float k = a * -0x1.988454p-42f;
  const float f = fma(k, d0, m0);
  const float g = e * f;
  const float y = g / d0;
  return reflected(x, y);
}

float gelu_tanh(float x) {  // R9
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.6p+3f);
  const float s = a * a;
  const float e = exp_of_gelu_tanh(a, s);
  const float y = times_logistic(a, e);
  return relu_minus(x, ax, y);
}

float gelu_tanh_derivative(float x) {  // R10
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.6p+3f);
  const float s = a * a;
  const float e = exp_of_gelu_tanh(a, s);
  const float d = e + 0x1p+40f;
  const float m = fma(s, 0x1.b6676cp+37f, 0x1.988454p+40f);
  const float f = fma(-a, m, d);
  const float y = over_square(e, f, d);
  return reflected(x, y);
}

float silu(float x) {  // R11
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.b8p+6f);
  const float e = exp_of_silu(a);
  const float y = times_logistic(a, e);
  return relu_minus(x, ax, y);
}

float silu_derivative(float x) {  // R12
  const float ax = std::fabs(x);
  const float a = at_most(ax, 0x1.b8p+6f);
  const float e = exp_of_silu(a);
  const float d = e + 0x1p+40f;
  const float f = fma(a, -0x1p+40f, d);
  const float y = over_square(e, f, d);
  return reflected(x, y);
}

}  // namespace halftone::reference::recipe
