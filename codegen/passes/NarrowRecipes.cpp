// SPDX-License-Identifier: Apache-2.0
// The recipes R13 to R21, the narrow grade, of docs/spec/math.md.
#include "codegen/passes/Recipes.h"

using namespace mlir;

namespace halftone::ir {

/// Of 2^(a * k): t is the rounded product with `offset` added, r the rest.
Recipe::Split Recipe::splitProduct(Value a, Value k, float offset) {
  Value t = fma(a, k, lit(offset));
  Value n = sub(t, lit(offset));
  Value r = fma(a, k, neg(n));
  return {t, r};
}

/// 2^r
Value Recipe::exp2OfDegree4(Value r) {
  return horner(r, {0x1.3997dp-7f, 0x1.ca144p-5f, 0x1.ec06dap-3f, 0x1.62e0dcp-1f, 0x1.ffffe8p-1f});
}

/// 2^r with one power of r more
Value Recipe::exp2OfDegree5(Value r) {
  return horner(r, {0x1.5bba12p-10f, 0x1.3cea86p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f,
                    0x1p+0f});
}

/// p times the power of two in t, which is added to the exponent of p.
Value Recipe::addExponent(Value p, Value t) {
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value pb = bits(p);
  Value eb = addInt(pb, ts);
  return value(eb);
}

/// 1/d from i1, which is near it.
Value Recipe::refineReciprocal(Value d, Value i1) {
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  return fma(i1, o1, i1);
}

/// 1/d for d = e + 2^24
Value Recipe::reciprocal(Value e, Value d) {
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  return refineReciprocal(d, i1);
}

/// max(x, 0) - g * v
Value Recipe::narrowReluMinus(Value x, Value g, Value v) {
  Value h = select(greater(x, lit(0x0p+0f)), x, lit(0x0p+0f));
  return fma(neg(g), v, h);
}

/// g * v for x < 0, else 1 minus that
Value Recipe::narrowReflect(Value x, Value g, Value v) {
  Value y = mul(g, v);
  Value z = fma(neg(g), v, lit(0x1p+0f));
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::narrowExp(Value x) { // R13
  Value a = atMost(x, 0x1.64p+6f);
  Value b = atLeast(a, -0x1.ap+6f);
  auto [t, r] = splitProduct(b, lit(0x1.715476p+0f), 0x1.8001fcp+23f);
  Value p0 = exp2OfDegree4(r);
  return scaleByHalves(p0, t);
}

Value Recipe::narrowTanh(Value x) { // R14
  Value xb = bits(x);
  Value sb = bitAnd(xb, word(0x80000000));
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.4p+3f);
  auto [t, r] = splitProduct(a, lit(-0x1.715476p+1f), 0x1.8000fep+23f);
  Value q0 =
      horner(r, {0x1.5dc776p-11f, 0x1.3cc1e6p-8f, 0x1.c6b218p-6f, 0x1.ebfa46p-4f, 0x1.62e42ep-2f});
  Value p = mul(q0, r);
  Value c = powerOfTwo(t);
  Value h0 = fma(c, lit(-0x1p-1f), lit(0x1p-1f));
  Value h = fma(neg(c), p, h0);
  Value d = sub(lit(0x1p+0f), h);
  Value i0 = fma(d, lit(0x1.4afd64p+1f), lit(-0x1.745d1p+2f));
  Value i1 = fma(d, i0, lit(0x1.0f83dcp+2f));
  Value i = refineReciprocal(d, i1);
  Value y = mul(h, i);
  return addSign(y, sb);
}

Value Recipe::narrowSigmoid(Value x) { // R15
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.9p+6f);
  auto [t, r] = splitProduct(a, lit(-0x1.715476p+0f), 0x1.80012ep+23f);
  Value p0 = exp2OfDegree4(r);
  Value c = powerOfTwo(t);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+24f));
  Value i = reciprocal(e, d);
  return narrowReflect(x, e, i);
}

Value Recipe::power16(Value w) {
  Value v2 = mul(w, w);
  Value v4 = mul(v2, v2);
  Value v8 = mul(v4, v4);
  return mul(v8, v8);
}

Value Recipe::narrowGeluErf(Value x) { // R16
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.b33334p+3f);
  Value b = sub(a, lit(0x1.8p+2f));
  Value w0 = horner(b, {-0x1.479d54p-44f, 0x1.67abcep-41f, 0x1.8e4318p-37f, -0x1.b8ef34p-34f,
                        -0x1.5f1fe8p-30f, 0x1.1e590cp-28f, 0x1.d10e7cp-22f, -0x1.10f784p-18f,
                        -0x1.aed172p-15f, 0x1.d5475ap-11f, 0x1.c0328ep-10f, -0x1.9c566ap-4f,
                        0x1.0bd0fp-1f});
  Value v16 = power16(w0);
  Value g = mul(a, v16);
  return narrowReluMinus(x, g, v16);
}

Value Recipe::narrowGeluErfDerivative(Value x) { // R17
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.c66666p+3f);
  Value q = sub(a, lit(0x1.8p+2f));
  Value w0 = horner(q, {-0x1.4943e6p-48f, 0x1.da4246p-44f, -0x1.0e6c3p-40f, 0x1.e9d7a2p-38f,
                        -0x1.78545cp-41f, -0x1.a30202p-30f, 0x1.4d7fcap-28f, 0x1.dabf7p-22f,
                        -0x1.2515fep-18f, -0x1.cd9ceap-15f, 0x1.078392p-10f, 0x1.325602p-10f,
                        -0x1.abad3cp-4f, 0x1.1c6a34p-1f});
  Value v16 = power16(w0);
  Value k = sub(lit(0x1.80ead2p-1f), a);
  Value b = add(k, lit(-0x1.a03fd4p-27f));
  Value g = mul(b, v16);
  return narrowReflect(x, g, v16);
}

/// max(x, 0) - a * F/(1 + F), where e is F times 2^24
Value Recipe::narrowGate(Value x, Value a, Value e) {
  Value d = add(e, lit(0x1p+24f));
  Value i = reciprocal(e, d);
  Value g = mul(a, e);
  return narrowReluMinus(x, g, i);
}

/// e * i^2 * f for x < 0, else 1 minus that
Value Recipe::narrowGateDerivative(Value x, Value e, Value i, Value f) {
  Value q = mul(e, i);
  Value g = mul(i, f);
  return narrowReflect(x, q, g);
}

/// Of exp(-2u(a)), times 2^24; s is a^2.
Recipe::Split Recipe::splitGeluTanh(Value a, Value s) {
  Value k = fma(s, lit(-0x1.a5a7dp-4f), lit(-0x1.26aec2p+1f));
  return splitProduct(a, k, 0x1.80003p+23f);
}

/// Of exp(-a), times 2^24.
Recipe::Split Recipe::splitSilu(Value a) {
  return splitProduct(a, lit(-0x1.715476p+0f), 0x1.80003p+23f);
}

Value Recipe::narrowGeluTanh(Value x) { // R18
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.5p+3f);
  Value s = mul(a, a);
  auto [t, r] = splitGeluTanh(a, s);
  Value p0 = exp2OfDegree4(r);
  Value e = addExponent(p0, t);
  return narrowGate(x, a, e);
}

Value Recipe::narrowGeluTanhDerivative(Value x) { // R19
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.5p+3f);
  Value s = mul(a, a);
  auto [t, r] = splitGeluTanh(a, s);
  Value p0 = exp2OfDegree5(r);
  Value e = addExponent(p0, t);
  Value d = add(e, lit(0x1p+24f));
  Value i = reciprocal(e, d);
  Value m = fma(s, lit(0x1.b6676cp+21f), lit(0x1.988454p+24f));
  Value f = fma(neg(a), m, d);
  return narrowGateDerivative(x, e, i, f);
}

Value Recipe::narrowSilu(Value x) { // R20
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.9p+6f);
  auto [t, r] = splitSilu(a);
  Value p0 = exp2OfDegree4(r);
  Value e = addExponent(p0, t);
  return narrowGate(x, a, e);
}

Value Recipe::narrowSiluDerivative(Value x) { // R21
  Value ax = abs(x);
  Value a = atMost(ax, 0x1.9p+6f);
  auto [t, r] = splitSilu(a);
  Value p0 = exp2OfDegree5(r);
  Value e = addExponent(p0, t);
  Value d = add(e, lit(0x1p+24f));
  Value i = reciprocal(e, d);
  Value f = fma(a, lit(-0x1p+24f), d);
  return narrowGateDerivative(x, e, i, f);
}

} // namespace halftone::ir
