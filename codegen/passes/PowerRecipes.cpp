// SPDX-License-Identifier: Apache-2.0
// The recipes R22, R23 and R26 of docs/spec/math.md: log1p, expm1 and pow.
#include "codegen/passes/Recipes.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

Value Recipe::log1p(Value x) { // R22
  Value u = add(x, lit(0x1p+0f));
  Value j = bits(u);
  Value k = subInt(j, word(0x3f3504f3));
  Value e = shiftRight(k, word(23));
  Value es = shiftLeft(e, word(23));
  Value pb = subInt(word(0x40800000), es);
  Value p = value(pb);
  Value g = fma(p, lit(0x1p-2f), lit(-0x1p+0f));
  Value h = mul(x, p);
  Value f = fma(h, lit(0x1p-2f), g);
  Value eb = addInt(e, word(0x4b400000));
  Value ef = value(eb);
  Value n = sub(ef, lit(0x1.8p+23f));
  Value y = logOf(n, f);
  Value s = select(less(x, lit(INFINITY)), y, x);
  Value w = select(equal(x, lit(0x0p+0f)), x, s);
  Value z = select(equal(x, lit(-0x1p+0f)), lit(-INFINITY), lit(NAN));
  return select(greater(x, lit(-0x1p+0f)), w, z);
}

Value Recipe::expm1(Value x) { // R23
  Value a = atMost(x, 0x1.64p+6f);
  Value b = atLeast(a, -0x1.2p+4f);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.8000fcp+23f));
  Value n = sub(t, lit(0x1.8000fcp+23f));
  Value r0 = fma(n, lit(-0x1.62e4p-1f), b);
  Value m = mul(n, lit(-0x1.7f7d1cp-20f));
  Value r = add(r0, m);
  Value q0 =
      horner(r, {0x1.694c82p-10f, 0x1.12397cp-7f, 0x1.555a26p-5f, 0x1.555492p-3f, 0x1.fffffap-2f});
  Value r2 = mul(r, r);
  Value p = fma(r2, q0, m);
  Value c = powerOfTwo(t);
  Value d = sub(c, lit(0x1p-1f));
  Value w = fma(c, r0, d);
  Value y = fma(c, p, w);
  Value z = add(y, y);
  return select(less(abs(x), lit(0x1p-126f)), x, z);
}

/// log2 of a number above zero, as an unevaluated sum.
Recipe::Pair Recipe::log2(Value a) {
  auto [n, f] = mantissa(a);
  Value d = add(f, lit(0x1p+1f));
  Value d1 = sub(d, lit(0x1p+1f));
  Value dl = sub(f, d1);
  Value i = div(lit(0x1p+0f), d);
  Value s = mul(f, i);
  Value s1 = fma(neg(s), d, f);
  Value s2 = fma(neg(s), dl, s1);
  Value sl = mul(s2, i);
  Value z = mul(s, s);
  Value z1 = fma(s, s, neg(z));
  Value ss = add(s, s);
  Value zl = fma(ss, sl, z1);
  Value u = horner(z, {0x1.59f79ap-2f, 0x1.a5bb82p-2f, 0x1.27770ep-1f});
  Value uz = mul(u, z);
  Value v = add(uz, lit(0x1.ec709ep-1f));
  Value v1 = sub(v, lit(0x1.ec709ep-1f));
  Value v2 = sub(uz, v1);
  Value vl = sub(v2, lit(0x1.e2fe02p-28f));
  Value w = mul(z, v);
  Value w1 = fma(z, v, neg(w));
  Value w2 = fma(z, vl, w1);
  Value wl = fma(zl, v, w2);
  Value g = add(w, lit(0x1.715476p+1f));
  Value g1 = sub(g, lit(0x1.715476p+1f));
  Value g2 = sub(w, g1);
  Value g3 = add(g2, lit(0x1.4ae0cp-25f));
  Value gl = add(g3, wl);
  Value y = mul(s, g);
  Value y1 = fma(s, g, neg(y));
  Value y2 = fma(s, gl, y1);
  Value yl = fma(sl, g, y2);
  Value h = add(n, y);
  Value h1 = sub(h, n);
  Value h2 = sub(y, h1);
  Value l = add(h2, yl);
  return {h, l};
}

/// 2^(h + l), the tail l at most 1/16.
Value Recipe::exp2(Value h, Value l) {
  Value t = add(h, lit(0x1.8001fcp+23f));
  Value n = sub(t, lit(0x1.8001fcp+23f));
  Value r0 = sub(h, n);
  Value r = add(r0, l);
  Value p = horner(r, {0x1.fdd684p-17f, 0x1.445d66p-13f, 0x1.5d8a94p-10f, 0x1.3b29f2p-7f,
                       0x1.c6b08ap-5f, 0x1.ebfbep-3f, 0x1.62e43p-1f, 0x1p+0f});
  return scaleByHalves(p, t);
}

Value Recipe::pow(Value x, Value y) { // R26
  auto [sb, a] = splitSign(x);
  auto [h0, l0] = log2(a);
  Value h1 = select(less(a, lit(INFINITY)), h0, a);
  Value h = select(equal(a, lit(0x0p+0f)), lit(-INFINITY), h1);
  Value e0 = mul(y, h);
  Value e1 = atMost(e0, 0x1.02p+7f);
  Value e = atLeast(e1, -0x1.3p+7f);
  Value c0 = fma(y, h, neg(e0));
  Value c1 = fma(y, l0, c0);
  Value c = select(equal(e, e0), c1, lit(0x0p+0f));
  Value p0 = exp2(e, c);
  Value p = select(equal(a, lit(0x1p+0f)), lit(0x1p+0f), p0);
  Value yf = floor(y);
  Value yh = mul(y, lit(0x1p-1f));
  Value yg = floor(yh);
  Value np = addSign(p, sb);
  Value q0 = select(equal(yg, yh), p, np);
  Value q1 = select(equal(yf, y), q0, lit(NAN));
  Value q2 = select(equal(yf, y), q0, p);
  Value q3 = select(greater(x, lit(-INFINITY)), q1, q2);
  Value q4 = select(less(x, lit(0x0p+0f)), q3, q2);
  return select(equal(y, lit(0x0p+0f)), lit(0x1p+0f), q4);
}

} // namespace halftone::ir
