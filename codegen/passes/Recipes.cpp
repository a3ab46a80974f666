// SPDX-License-Identifier: Apache-2.0
// The recipes R1 to R6 of docs/spec/math.md.
#include "codegen/passes/Recipes.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

Value Recipe::horner(Value x, ArrayRef<float> coefficients) {
  Value sum = lit(coefficients.front());
  for (float coefficient : coefficients.drop_front())
    sum = fma(sum, x, lit(coefficient));
  return sum;
}

Value Recipe::powerOfTwo(Value t) {
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  return value(ts);
}

/// exp of b - n * ln 2
Value Recipe::expOfRest(Value n, Value b) {
  Value r0 = fma(n, lit(-0x1.62e4p-1f), b);
  Value r = fma(n, lit(-0x1.7f7d1cp-20f), r0);
  return horner(r, {0x1.694c82p-10f, 0x1.12397cp-7f, 0x1.555a26p-5f, 0x1.555492p-3f, 0x1.fffffap-2f,
                    0x1p+0f, 0x1p+0f});
}

/// p times the power of two in t, in two steps: the second alone overflows or rounds.
Value Recipe::scaleByHalves(Value p, Value t) {
  Value j = bits(t);
  Value u = shiftRight(j, word(1));
  Value v = subInt(j, u);
  Value us = shiftLeft(u, word(23));
  Value vs = shiftLeft(v, word(23));
  Value c = value(us);
  Value d = value(vs);
  Value w = mul(p, c);
  return mul(w, d);
}

Value Recipe::exp(Value x) { // R1
  Value a = atMost(x, 0x1.64p+6f);
  Value b = atLeast(a, -0x1.ap+6f);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.8001fcp+23f));
  Value n = sub(t, lit(0x1.8001fcp+23f));
  Value p = expOfRest(n, b);
  return scaleByHalves(p, t);
}

Value Recipe::expOfNonpositive(Value x) { // R1, the shorter form
  Value b = atLeast(x, -0x1.ap+6f);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.80013cp+23f));
  Value n = sub(t, lit(0x1.80013cp+23f));
  Value p = expOfRest(n, b);
  Value c = powerOfTwo(t);
  Value w = mul(p, c);
  return mul(w, lit(0x1p-31f));
}

/// x = 2^n * (1 + f) with 1 + f in [0.7071, 1.4142), for x above zero.
Recipe::Mantissa Recipe::mantissa(Value x) {
  Value xs = mul(x, lit(0x1p+23f));
  Value a = select(less(x, lit(0x1p-126f)), xs, x);
  Value o = select(less(x, lit(0x1p-126f)), lit(0x1.80002ep+23f), lit(0x1.8p+23f));
  Value j = bits(a);
  Value k = subInt(j, word(0x3f3504f3));
  Value e = shiftRight(k, word(23));
  Value es = shiftLeft(e, word(23));
  Value mb = subInt(j, es);
  Value eb = addInt(e, word(0x4b400000));
  Value ef = value(eb);
  Value n = sub(ef, o);
  Value m = value(mb);
  Value f = sub(m, lit(0x1p+0f));
  return {n, f};
}

/// n * ln 2 + log(1 + f)
Value Recipe::logOf(Value n, Value f) {
  Value q0 =
      horner(f, {-0x1.38472ep-4f, 0x1.0860d4p-3f, -0x1.0f3fa8p-3f, 0x1.226dfcp-3f, -0x1.5425c4p-3f,
                 0x1.99a41ap-3f, -0x1.000432p-2f, 0x1.55555p-2f, -0x1.fffff8p-2f});
  Value f2 = mul(f, f);
  Value l = fma(f2, q0, f);
  return fma(n, lit(0x1.62e43p-1f), l);
}

Value Recipe::log(Value x) { // R2
  auto [n, f] = mantissa(x);
  Value y = logOf(n, f);
  Value s = select(less(x, lit(INFINITY)), y, x);
  Value z = select(equal(x, lit(0x0p+0f)), lit(-INFINITY), lit(NAN));
  return select(greater(x, lit(0x0p+0f)), s, z);
}

Recipe::SignAndMagnitude Recipe::splitSign(Value x) {
  Value xb = bits(x);
  Value ab = bitAnd(xb, word(0x7fffffff));
  Value sb = subInt(xb, ab);
  return {sb, value(ab)};
}

Value Recipe::addSign(Value y, Value sb) {
  Value yb = bits(y);
  Value zb = addInt(yb, sb);
  return value(zb);
}

Value Recipe::tanh(Value x) { // R3
  auto [sb, a] = splitSign(x);
  Value b = atMost(a, 0x1.4p+3f);
  Value t = fma(b, lit(-0x1.715476p+1f), lit(0x1.8000fep+23f));
  Value n = sub(t, lit(0x1.8000fep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-2f), b);
  Value r = fma(n, lit(0x1.7f7d1cp-21f), r0);
  Value q0 =
      horner(r, {-0x1.6b7334p-5f, 0x1.12278ep-3f, -0x1.555716p-2f, 0x1.5554bp-1f, -0x1.fffffep-1f});
  Value g = mul(q0, r);
  Value p = fma(g, r, r);
  Value c = powerOfTwo(t);
  Value h0 = fma(c, lit(-0x1p-1f), lit(0x1p-1f));
  Value d0 = sub(lit(0x1p+0f), h0);
  Value m = mul(c, p);
  Value h = add(h0, m);
  Value d = sub(d0, m);
  Value y = div(h, d);
  return addSign(y, sb);
}

Value Recipe::erf(Value x) { // R4
  auto [sb, a] = splitSign(x);
  Value b = atMost(a, 0x1p+2f);
  Value b2 = mul(b, b);
  Value p0 = horner(b2, {0x1.280f98p-14f, -0x1.97117cp-11f, 0x1.522bbp-8f, -0x1.b7bb7cp-6f,
                         0x1.ce298p-4f, -0x1.81272ep-2f, 0x1.06eba8p-3f});
  Value near = fma(b, p0, b);
  Value w0 = horner(b, {-0x1.786e68p-13f, 0x1.a7e9a6p-9f, -0x1.6bf1bep-6f, 0x1.0ed5c8p-4f,
                        -0x1.9d86dep-5f, -0x1.03caeap-4f, -0x1.3c3258p-2f, 0x1.01685ap+0f});
  Value v2 = mul(w0, w0);
  Value v4 = mul(v2, v2);
  Value far = sub(lit(0x1p+0f), v4);
  Value y = select(less(b, lit(0x1.2p+0f)), near, far);
  return addSign(y, sb);
}

Value Recipe::sigmoid(Value x) { // R5
  Value a = atMost(x, 0x1p+5f);
  Value b = atLeast(a, -0x1.ap+6f);
  Value t = fma(b, lit(-0x1.715476p+0f), lit(0x1.8000cep+23f));
  Value n = sub(t, lit(0x1.8000cep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), b);
  Value r = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value p = horner(r, {0x1.df0ee8p-10f, -0x1.6a1058p-7f, 0x1.c2ae1ap-5f, -0x1.c2a9a8p-3f,
                       0x1.51fffep-1f, -0x1.52p+0f, 0x1.52p+0f});
  Value c = powerOfTwo(t);
  Value d = fma(c, p, lit(0x1.52p-24f));
  return div(lit(0x1.52p-24f), d);
}

Value Recipe::rsqrt(Value x) { // R6
  Value s = sqrt(x);
  return div(lit(0x1p+0f), s);
}

} // namespace halftone::ir
