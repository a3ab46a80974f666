// SPDX-License-Identifier: Apache-2.0
// The recipes R7 to R12 of docs/spec/math.md: gelu and silu.
#include "codegen/passes/Recipes.h"

using namespace mlir;

namespace halftone::ir {

/// max(x, 0) - y with ax = |x|
Value Recipe::reluMinus(Value x, Value ax, Value y) {
  Value h = select(less(x, lit(0x0p+0f)), lit(-0x0p+0f), ax);
  return sub(h, y);
}

/// y for x < 0, else 1 - y
Value Recipe::reflect(Value x, Value y) {
  Value z = sub(lit(0x1p+0f), y);
  return select(less(x, lit(0x0p+0f)), y, z);
}

/// Of exp(-v), times 2^40.
Recipe::Split Recipe::splitNegated(Value v) {
  Value t = fma(v, lit(-0x1.715476p+0f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  return {t, r1};
}

/// exp(-r) times the power of two in t
Value Recipe::expOfNegated(Value t, Value r) {
  Value p0 = horner(r, {0x1.694c82p-10f, -0x1.12397cp-7f, 0x1.555a26p-5f, -0x1.555492p-3f,
                        0x1.fffffap-2f, -0x1p+0f, 0x1p+0f});
  Value c = powerOfTwo(t);
  return mul(p0, c);
}

/// exp(-a^2/2) times 2^40
Value Recipe::gaussian(Value a) {
  Value s = mul(a, a);
  Value l = fma(a, a, neg(s));
  Value t = fma(s, lit(-0x1.715476p-1f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value v = mul(s, lit(0x1p-1f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value r = fma(l, lit(0x1p-1f), r1);
  return expOfNegated(t, r);
}

/// m0 of M = m0/d0, Mills' ratio: Phi(-a) is M exp(-a^2/2).
Value Recipe::millsNumerator(Value a) {
  return horner(a, {0x1.0db8e2p-8f, 0x1.4cd4f6p-5f, 0x1.773d66p-3f, 0x1.c0cc1cp-2f, 0x1p-1f});
}

/// d0, times 2^40
Value Recipe::millsDenominator(Value a) {
  return horner(a, {0x1.520af2p+33f, 0x1.a12b54p+36f, 0x1.e0b436p+38f, 0x1.33d3e4p+40f,
                    0x1.aca83ep+40f, 0x1p+40f});
}

Value Recipe::geluErf(Value x) { // R7
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.dp+3f);
  Value e = gaussian(a);
  Value m0 = millsNumerator(a);
  Value d0 = millsDenominator(a);
  Value g = mul(a, e);
  Value k = mul(g, m0);
  Value y = div(k, d0);
  return reluMinus(x, ax, y);
}

Value Recipe::geluErfDerivative(Value x) { // R8
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.dp+3f);
  Value e = gaussian(a);
  Value m0 = millsNumerator(a);
  Value d0 = millsDenominator(a);
  Value k = mul(a, lit(-0x1.988454p-42f));
  Value f = fma(k, d0, m0);
  Value g = mul(e, f);
  Value y = div(g, d0);
  return reflect(x, y);
}

/// max(x, 0) - a * F/(1 + F), where e is F times 2^40
Value Recipe::gate(Value x, Value ax, Value a, Value e) {
  Value d = add(e, lit(0x1p+40f));
  Value g = mul(a, e);
  Value y = div(g, d);
  return reluMinus(x, ax, y);
}

/// e * f/d^2 for x < 0, else 1 minus that
Value Recipe::gateDerivative(Value x, Value e, Value d, Value f) {
  Value g = mul(e, f);
  Value d2 = mul(d, d);
  Value y = div(g, d2);
  return reflect(x, y);
}

/// exp(-2u(a)) times 2^40; s is a^2
Value Recipe::geluTanhExp(Value a, Value s) {
  Value l = fma(a, a, neg(s));
  Value k = fma(s, lit(0x1.2444f2p-4f), lit(0x1.98845p+0f));
  Value k0 = sub(lit(0x1.98845p+0f), k);
  Value k1 = fma(s, lit(0x1.2444f2p-4f), k0);
  Value k2 = fma(s, lit(0x1.49b16ap-29f), k1);
  Value k3 = fma(l, lit(0x1.2444f2p-4f), k2);
  Value k4 = add(k3, lit(0x1.9ea1b2p-23f));
  Value v = mul(a, k);
  Value v0 = fma(a, k, neg(v));
  Value v1 = fma(a, k4, v0);
  auto [t, r1] = splitNegated(v);
  Value r = add(r1, v1);
  return expOfNegated(t, r);
}

Value Recipe::geluTanh(Value x) { // R9
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.6p+3f);
  Value s = mul(a, a);
  Value e = geluTanhExp(a, s);
  return gate(x, ax, a, e);
}

Value Recipe::geluTanhDerivative(Value x) { // R10
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.6p+3f);
  Value s = mul(a, a);
  Value e = geluTanhExp(a, s);
  Value d = add(e, lit(0x1p+40f));
  Value m = fma(s, lit(0x1.b6676cp+37f), lit(0x1.988454p+40f));
  Value f = fma(neg(a), m, d);
  return gateDerivative(x, e, d, f);
}

/// exp(-a) times 2^40
Value Recipe::siluExp(Value a) {
  auto [t, r] = splitNegated(a);
  return expOfNegated(t, r);
}

Value Recipe::silu(Value x) { // R11
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.b8p+6f);
  Value e = siluExp(a);
  return gate(x, ax, a, e);
}

Value Recipe::siluDerivative(Value x) { // R12
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.b8p+6f);
  Value e = siluExp(a);
  Value d = add(e, lit(0x1p+40f));
  Value f = fma(a, lit(-0x1p+40f), d);
  return gateDerivative(x, e, d, f);
}

} // namespace halftone::ir
