// SPDX-License-Identifier: Apache-2.0
// The recipes R1 to R6 of docs/spec/math.md, line by line.
#include "codegen/passes/Recipes.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

Value Recipe::exp(Value x) { // R1
  Value a = select(greater(x, lit(0x1.64p+6f)), lit(0x1.64p+6f), x);
  Value b = select(less(a, lit(-0x1.ap+6f)), lit(-0x1.ap+6f), a);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.8001fcp+23f));
  Value n = sub(t, lit(0x1.8001fcp+23f));
  Value r0 = fma(n, lit(-0x1.62e4p-1f), b);
  Value r = fma(n, lit(-0x1.7f7d1cp-20f), r0);
  Value q4 = fma(lit(0x1.694c82p-10f), r, lit(0x1.12397cp-7f));
  Value q3 = fma(q4, r, lit(0x1.555a26p-5f));
  Value q2 = fma(q3, r, lit(0x1.555492p-3f));
  Value q1 = fma(q2, r, lit(0x1.fffffap-2f));
  Value q0 = fma(q1, r, lit(0x1p+0f));
  Value p = fma(q0, r, lit(0x1p+0f));
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

Value Recipe::expOfNonpositive(Value x) { // R1, the shorter form
  Value b = select(less(x, lit(-0x1.ap+6f)), lit(-0x1.ap+6f), x);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.80013cp+23f));
  Value n = sub(t, lit(0x1.80013cp+23f));
  Value r0 = fma(n, lit(-0x1.62e4p-1f), b);
  Value r = fma(n, lit(-0x1.7f7d1cp-20f), r0);
  Value q4 = fma(lit(0x1.694c82p-10f), r, lit(0x1.12397cp-7f));
  Value q3 = fma(q4, r, lit(0x1.555a26p-5f));
  Value q2 = fma(q3, r, lit(0x1.555492p-3f));
  Value q1 = fma(q2, r, lit(0x1.fffffap-2f));
  Value q0 = fma(q1, r, lit(0x1p+0f));
  Value p = fma(q0, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value w = mul(p, c);
  return mul(w, lit(0x1p-31f));
}

Value Recipe::log(Value x) { // R2
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
  Value q7 = fma(lit(-0x1.38472ep-4f), f, lit(0x1.0860d4p-3f));
  Value q6 = fma(q7, f, lit(-0x1.0f3fa8p-3f));
  Value q5 = fma(q6, f, lit(0x1.226dfcp-3f));
  Value q4 = fma(q5, f, lit(-0x1.5425c4p-3f));
  Value q3 = fma(q4, f, lit(0x1.99a41ap-3f));
  Value q2 = fma(q3, f, lit(-0x1.000432p-2f));
  Value q1 = fma(q2, f, lit(0x1.55555p-2f));
  Value q0 = fma(q1, f, lit(-0x1.fffff8p-2f));
  Value f2 = mul(f, f);
  Value l = fma(f2, q0, f);
  Value y = fma(n, lit(0x1.62e43p-1f), l);
  Value s = select(less(x, lit(INFINITY)), y, x);
  Value z = select(equal(x, lit(0x0p+0f)), lit(-INFINITY), lit(NAN));
  return select(greater(x, lit(0x0p+0f)), s, z);
}

Value Recipe::tanh(Value x) { // R3
  Value xb = bits(x);
  Value ab = bitAnd(xb, word(0x7fffffff));
  Value sb = subInt(xb, ab);
  Value a = value(ab);
  Value b = select(greater(a, lit(0x1.4p+3f)), lit(0x1.4p+3f), a);
  Value t = fma(b, lit(-0x1.715476p+1f), lit(0x1.8000fep+23f));
  Value n = sub(t, lit(0x1.8000fep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-2f), b);
  Value r = fma(n, lit(0x1.7f7d1cp-21f), r0);
  Value q3 = fma(lit(-0x1.6b7334p-5f), r, lit(0x1.12278ep-3f));
  Value q2 = fma(q3, r, lit(-0x1.555716p-2f));
  Value q1 = fma(q2, r, lit(0x1.5554bp-1f));
  Value q0 = fma(q1, r, lit(-0x1.fffffep-1f));
  Value g = mul(q0, r);
  Value p = fma(g, r, r);
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value h0 = fma(c, lit(-0x1p-1f), lit(0x1p-1f));
  Value d0 = sub(lit(0x1p+0f), h0);
  Value m = mul(c, p);
  Value h = add(h0, m);
  Value d = sub(d0, m);
  Value y = div(h, d);
  Value yb = bits(y);
  Value zb = addInt(yb, sb);
  return value(zb);
}

Value Recipe::erf(Value x) { // R4
  Value xb = bits(x);
  Value ab = bitAnd(xb, word(0x7fffffff));
  Value sb = subInt(xb, ab);
  Value a = value(ab);
  Value b = select(greater(a, lit(0x1p+2f)), lit(0x1p+2f), a);
  Value b2 = mul(b, b);
  Value p5 = fma(lit(0x1.280f98p-14f), b2, lit(-0x1.97117cp-11f));
  Value p4 = fma(p5, b2, lit(0x1.522bbp-8f));
  Value p3 = fma(p4, b2, lit(-0x1.b7bb7cp-6f));
  Value p2 = fma(p3, b2, lit(0x1.ce298p-4f));
  Value p1 = fma(p2, b2, lit(-0x1.81272ep-2f));
  Value p0 = fma(p1, b2, lit(0x1.06eba8p-3f));
  Value near = fma(b, p0, b);
  Value w6 = fma(lit(-0x1.786e68p-13f), b, lit(0x1.a7e9a6p-9f));
  Value w5 = fma(w6, b, lit(-0x1.6bf1bep-6f));
  Value w4 = fma(w5, b, lit(0x1.0ed5c8p-4f));
  Value w3 = fma(w4, b, lit(-0x1.9d86dep-5f));
  Value w2 = fma(w3, b, lit(-0x1.03caeap-4f));
  Value w1 = fma(w2, b, lit(-0x1.3c3258p-2f));
  Value w0 = fma(w1, b, lit(0x1.01685ap+0f));
  Value v2 = mul(w0, w0);
  Value v4 = mul(v2, v2);
  Value far = sub(lit(0x1p+0f), v4);
  Value y = select(less(b, lit(0x1.2p+0f)), near, far);
  Value yb = bits(y);
  Value zb = addInt(yb, sb);
  return value(zb);
}

Value Recipe::sigmoid(Value x) { // R5
  Value a = select(greater(x, lit(0x1p+5f)), lit(0x1p+5f), x);
  Value b = select(less(a, lit(-0x1.ap+6f)), lit(-0x1.ap+6f), a);
  Value t = fma(b, lit(-0x1.715476p+0f), lit(0x1.8000cep+23f));
  Value n = sub(t, lit(0x1.8000cep+23f));
  Value r0 = fma(n, lit(0x1.62e4p-1f), b);
  Value r = fma(n, lit(0x1.7f7d1cp-20f), r0);
  Value q4 = fma(lit(0x1.df0ee8p-10f), r, lit(-0x1.6a1058p-7f));
  Value q3 = fma(q4, r, lit(0x1.c2ae1ap-5f));
  Value q2 = fma(q3, r, lit(-0x1.c2a9a8p-3f));
  Value q1 = fma(q2, r, lit(0x1.51fffep-1f));
  Value q0 = fma(q1, r, lit(-0x1.52p+0f));
  Value p = fma(q0, r, lit(0x1.52p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value d = fma(c, p, lit(0x1.52p-24f));
  return div(lit(0x1.52p-24f), d);
}

Value Recipe::rsqrt(Value x) { // R6
  Value s = sqrt(x);
  return div(lit(0x1p+0f), s);
}

} // namespace halftone::ir
