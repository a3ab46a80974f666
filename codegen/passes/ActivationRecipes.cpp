// SPDX-License-Identifier: Apache-2.0
// The recipes R7 to R12 of docs/spec/math.md, line by line.
#include "codegen/passes/Recipes.h"

using namespace mlir;

namespace halftone::ir {

Value Recipe::geluErf(Value x) { // R7
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.dp+3f)), lit(0x1.dp+3f), ax);
  Value s = mul(a, a);
  Value l = fma(a, a, neg(s));
  Value t = fma(s, lit(-0x1.715476p-1f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value v = mul(s, lit(0x1p-1f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value r = fma(l, lit(0x1p-1f), r1);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value m3 = fma(lit(0x1.0db8e2p-8f), a, lit(0x1.4cd4f6p-5f));
  Value m2 = fma(m3, a, lit(0x1.773d66p-3f));
  Value m1 = fma(m2, a, lit(0x1.c0cc1cp-2f));
  Value m0 = fma(m1, a, lit(0x1p-1f));
  Value d4 = fma(lit(0x1.520af2p+33f), a, lit(0x1.a12b54p+36f));
  Value d3 = fma(d4, a, lit(0x1.e0b436p+38f));
  Value d2 = fma(d3, a, lit(0x1.33d3e4p+40f));
  Value d1 = fma(d2, a, lit(0x1.aca83ep+40f));
  Value d0 = fma(d1, a, lit(0x1p+40f));
  Value g = mul(a, e);
  Value k = mul(g, m0);
  Value y = div(k, d0);
  Value h = select(less(x, lit(0x0p+0f)), lit(-0x0p+0f), ax);
  return sub(h, y);
}

Value Recipe::geluErfDerivative(Value x) { // R8
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.dp+3f)), lit(0x1.dp+3f), ax);
  Value s = mul(a, a);
  Value l = fma(a, a, neg(s));
  Value t = fma(s, lit(-0x1.715476p-1f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value v = mul(s, lit(0x1p-1f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value r = fma(l, lit(0x1p-1f), r1);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value m3 = fma(lit(0x1.0db8e2p-8f), a, lit(0x1.4cd4f6p-5f));
  Value m2 = fma(m3, a, lit(0x1.773d66p-3f));
  Value m1 = fma(m2, a, lit(0x1.c0cc1cp-2f));
  Value m0 = fma(m1, a, lit(0x1p-1f));
  Value d4 = fma(lit(0x1.520af2p+33f), a, lit(0x1.a12b54p+36f));
  Value d3 = fma(d4, a, lit(0x1.e0b436p+38f));
  Value d2 = fma(d3, a, lit(0x1.33d3e4p+40f));
  Value d1 = fma(d2, a, lit(0x1.aca83ep+40f));
  Value d0 = fma(d1, a, lit(0x1p+40f));
  Value k = mul(a, lit(-0x1.988454p-42f));
  Value f = fma(k, d0, m0);
  Value g = mul(e, f);
  Value y = div(g, d0);
  Value z = sub(lit(0x1p+0f), y);
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::geluTanh(Value x) { // R9
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.6p+3f)), lit(0x1.6p+3f), ax);
  Value s = mul(a, a);
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
  Value t = fma(v, lit(-0x1.715476p+0f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value r = add(r1, v1);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+40f));
  Value g = mul(a, e);
  Value y = div(g, d);
  Value h = select(less(x, lit(0x0p+0f)), lit(-0x0p+0f), ax);
  return sub(h, y);
}

Value Recipe::geluTanhDerivative(Value x) { // R10
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.6p+3f)), lit(0x1.6p+3f), ax);
  Value s = mul(a, a);
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
  Value t = fma(v, lit(-0x1.715476p+0f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), v);
  Value r1 = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value r = add(r1, v1);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+40f));
  Value m = fma(s, lit(0x1.b6676cp+37f), lit(0x1.988454p+40f));
  Value f = fma(neg(a), m, d);
  Value g = mul(e, f);
  Value d2 = mul(d, d);
  Value y = div(g, d2);
  Value z = sub(lit(0x1p+0f), y);
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::silu(Value x) { // R11
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.b8p+6f)), lit(0x1.b8p+6f), ax);
  Value t = fma(a, lit(-0x1.715476p+0f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), a);
  Value r = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+40f));
  Value g = mul(a, e);
  Value y = div(g, d);
  Value h = select(less(x, lit(0x0p+0f)), lit(-0x0p+0f), ax);
  return sub(h, y);
}

Value Recipe::siluDerivative(Value x) { // R12
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.b8p+6f)), lit(0x1.b8p+6f), ax);
  Value t = fma(a, lit(-0x1.715476p+0f), lit(0x1.80014ep+23f));
  Value n = sub(t, lit(0x1.80014ep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), a);
  Value r = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value p5 = fma(lit(0x1.694c82p-10f), r, lit(-0x1.12397cp-7f));
  Value p4 = fma(p5, r, lit(0x1.555a26p-5f));
  Value p3 = fma(p4, r, lit(-0x1.555492p-3f));
  Value p2 = fma(p3, r, lit(0x1.fffffap-2f));
  Value p1 = fma(p2, r, lit(-0x1p+0f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+40f));
  Value f = fma(a, lit(-0x1p+40f), d);
  Value g = mul(e, f);
  Value d2 = mul(d, d);
  Value y = div(g, d2);
  Value z = sub(lit(0x1p+0f), y);
  return select(less(x, lit(0x0p+0f)), y, z);
}

} // namespace halftone::ir
