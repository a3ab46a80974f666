// SPDX-License-Identifier: Apache-2.0
// R1 to R6: the operations of docs/spec/math.md in its order, with its temporaries' names. Runs of
// lines that recipes share are functions, polynomials lists of coefficients. Built without
// contraction: every operation rounds where it stands.
#include "recipes.hpp"

#include <limits>

#include "ieee_operations.hpp"

namespace halftone::reference::recipe {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// exp(b - n * ln 2)
float exp_of_rest(float n, float b) {
  const float r0 = fma(n, -0x1.62e4p-1f, b);
  const float r = fma(n, -0x1.7f7d1cp-20f, r0);
  return horner(r, 0x1.694c82p-10f, 0x1.12397cp-7f, 0x1.555a26p-5f, 0x1.555492p-3f, 0x1.fffffap-2f,
                0x1p+0f, 0x1p+0f);
}

}  // namespace

float exp(float x) {  // R1
  const float a = at_most(x, 0x1.64p+6f);
  const float b = at_least(a, -0x1.ap+6f);
  const float t = fma(b, 0x1.715476p+0f, 0x1.8001fcp+23f);
  const float n = t - 0x1.8001fcp+23f;
  const float p = exp_of_rest(n, b);
  return scaled_by_halves(p, t);
}

float exp_of_nonpositive(float x) {  // R1, the shorter form
  const float b = at_least(x, -0x1.ap+6f);
  const float t = fma(b, 0x1.715476p+0f, 0x1.80013cp+23f);
  const float n = t - 0x1.80013cp+23f;
  const float p = exp_of_rest(n, b);
  const float c = power_of_two(t);
  const float w = p * c;
  return w * 0x1p-31f;
}

float log(float x) {  // R2
  const auto [n, f] = mantissa(x);
  const float y = log_of(n, f);
  const float s = x < kInfinity ? y : x;
  const float z = x == 0x0p+0f ? -kInfinity : kNaN;
  return x > 0x0p+0f ? s : z;
}

float tanh(float x) {  // R3
  const auto [sb, a] = taken_apart(x);
  const float b = at_most(a, 0x1.4p+3f);
  const float t = fma(b, -0x1.715476p+1f, 0x1.8000fep+23f);
  const float n = t - 0x1.8000fep+23f;
  const float r0 = fma(n, 0x1.62e4p-2f, b);
  const float r = fma(n, 0x1.7f7d1cp-21f, r0);
  const float q0 =
      horner(r, -0x1.6b7334p-5f, 0x1.12278ep-3f, -0x1.555716p-2f, 0x1.5554bp-1f, -0x1.fffffep-1f);
  const float g = q0 * r;
  const float p = fma(g, r, r);
  const float c = power_of_two(t);
  const float h0 = fma(c, -0x1p-1f, 0x1p-1f);
  const float d0 = 0x1p+0f - h0;
  const float m = c * p;
  const float h = h0 + m;
  const float d = d0 - m;
  const float y = h / d;
  return with_sign(y, sb);
}

float erf(float x) {  // R4
  const auto [sb, a] = taken_apart(x);
  const float b = at_most(a, 0x1p+2f);
  const float b2 = b * b;
  const float p0 = horner(b2, 0x1.280f98p-14f, -0x1.97117cp-11f, 0x1.522bbp-8f, -0x1.b7bb7cp-6f,
                          0x1.ce298p-4f, -0x1.81272ep-2f, 0x1.06eba8p-3f);
  const float near = fma(b, p0, b);
  const float w0 = horner(b, -0x1.786e68p-13f, 0x1.a7e9a6p-9f, -0x1.6bf1bep-6f, 0x1.0ed5c8p-4f,
                          -0x1.9d86dep-5f, -0x1.03caeap-4f, -0x1.3c3258p-2f, 0x1.01685ap+0f);
  const float v2 = w0 * w0;
  const float v4 = v2 * v2;
  const float far = 0x1p+0f - v4;
  const float y = b < 0x1.2p+0f ? near : far;
  return with_sign(y, sb);
}

float sigmoid(float x) {  // R5
  const float a = at_most(x, 0x1p+5f);
  const float b = at_least(a, -0x1.ap+6f);
  const float t = fma(b, -0x1.715476p+0f, 0x1.8000cep+23f);
  const float n = t - 0x1.8000cep+23f;
  const float r0 = fma(n, 0x1.62e4p-1f, b);
  const float r = fma(n, 0x1.7f7d1cp-20f, r0);
  const float p = horner(r, 0x1.df0ee8p-10f, -0x1.6a1058p-7f, 0x1.c2ae1ap-5f, -0x1.c2a9a8p-3f,
                         0x1.51fffep-1f, -0x1.52p+0f, 0x1.52p+0f);
  const float c = power_of_two(t);
  const float d = fma(c, p, 0x1.52p-24f);
  return 0x1.52p-24f / d;
}

float rsqrt(float x) {  // R6
  const float s = std::sqrt(x);
  return 0x1p+0f / s;
}

}  // namespace halftone::reference::recipe
