// SPDX-License-Identifier: Apache-2.0
// The recipes R13 to R21, the narrow grade, of docs/spec/math.md, line by line.
#include "codegen/passes/Recipes.h"

using namespace mlir;

namespace halftone::ir {

Value Recipe::narrowExp(Value x) { // R13
  Value a = select(greater(x, lit(0x1.64p+6f)), lit(0x1.64p+6f), x);
  Value b = select(less(a, lit(-0x1.ap+6f)), lit(-0x1.ap+6f), a);
  Value t = fma(b, lit(0x1.715476p+0f), lit(0x1.8001fcp+23f));
  Value n = sub(t, lit(0x1.8001fcp+23f));
  Value r = fma(b, lit(0x1.715476p+0f), neg(n));
  Value p3 = fma(lit(0x1.3997dp-7f), r, lit(0x1.ca144p-5f));
  Value p2 = fma(p3, r, lit(0x1.ec06dap-3f));
  Value p1 = fma(p2, r, lit(0x1.62e0dcp-1f));
  Value p0 = fma(p1, r, lit(0x1.ffffe8p-1f));
  Value j = bits(t);
  Value u = shiftRight(j, word(1));
  Value v = subInt(j, u);
  Value us = shiftLeft(u, word(23));
  Value vs = shiftLeft(v, word(23));
  Value c = value(us);
  Value d = value(vs);
  Value w = mul(p0, c);
  return mul(w, d);
}

Value Recipe::narrowTanh(Value x) { // R14
  Value xb = bits(x);
  Value sb = bitAnd(xb, word(0x80000000));
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.4p+3f)), lit(0x1.4p+3f), ax);
  Value t = fma(a, lit(-0x1.715476p+1f), lit(0x1.8000fep+23f));
  Value n = sub(t, lit(0x1.8000fep+23f));
  Value r = fma(a, lit(-0x1.715476p+1f), neg(n));
  Value q3 = fma(lit(0x1.5dc776p-11f), r, lit(0x1.3cc1e6p-8f));
  Value q2 = fma(q3, r, lit(0x1.c6b218p-6f));
  Value q1 = fma(q2, r, lit(0x1.ebfa46p-4f));
  Value q0 = fma(q1, r, lit(0x1.62e42ep-2f));
  Value p = mul(q0, r);
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value h0 = fma(c, lit(-0x1p-1f), lit(0x1p-1f));
  Value h = fma(neg(c), p, h0);
  Value d = sub(lit(0x1p+0f), h);
  Value i0 = fma(d, lit(0x1.4afd64p+1f), lit(-0x1.745d1p+2f));
  Value i1 = fma(d, i0, lit(0x1.0f83dcp+2f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value y = mul(h, i);
  Value yb = bits(y);
  Value zb = addInt(yb, sb);
  return value(zb);
}

Value Recipe::narrowSigmoid(Value x) { // R15
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.9p+6f)), lit(0x1.9p+6f), ax);
  Value t = fma(a, lit(-0x1.715476p+0f), lit(0x1.80012ep+23f));
  Value n = sub(t, lit(0x1.80012ep+23f));
  Value r = fma(a, lit(-0x1.715476p+0f), neg(n));
  Value p3 = fma(lit(0x1.3997dp-7f), r, lit(0x1.ca144p-5f));
  Value p2 = fma(p3, r, lit(0x1.ec06dap-3f));
  Value p1 = fma(p2, r, lit(0x1.62e0dcp-1f));
  Value p0 = fma(p1, r, lit(0x1.ffffe8p-1f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value c = value(ts);
  Value e = mul(p0, c);
  Value d = add(e, lit(0x1p+24f));
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value y = mul(e, i);
  Value z = fma(neg(e), i, lit(0x1p+0f));
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::narrowGeluErf(Value x) { // R16
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.b33334p+3f)), lit(0x1.b33334p+3f), ax);
  Value b = sub(a, lit(0x1.8p+2f));
  Value w11 = fma(lit(-0x1.479d54p-44f), b, lit(0x1.67abcep-41f));
  Value w10 = fma(w11, b, lit(0x1.8e4318p-37f));
  Value w9 = fma(w10, b, lit(-0x1.b8ef34p-34f));
  Value w8 = fma(w9, b, lit(-0x1.5f1fe8p-30f));
  Value w7 = fma(w8, b, lit(0x1.1e590cp-28f));
  Value w6 = fma(w7, b, lit(0x1.d10e7cp-22f));
  Value w5 = fma(w6, b, lit(-0x1.10f784p-18f));
  Value w4 = fma(w5, b, lit(-0x1.aed172p-15f));
  Value w3 = fma(w4, b, lit(0x1.d5475ap-11f));
  Value w2 = fma(w3, b, lit(0x1.c0328ep-10f));
  Value w1 = fma(w2, b, lit(-0x1.9c566ap-4f));
  Value w0 = fma(w1, b, lit(0x1.0bd0fp-1f));
  Value v2 = mul(w0, w0);
  Value v4 = mul(v2, v2);
  Value v8 = mul(v4, v4);
  Value v16 = mul(v8, v8);
  Value g = mul(a, v16);
  Value h = select(greater(x, lit(0x0p+0f)), x, lit(0x0p+0f));
  return fma(neg(g), v16, h);
}

Value Recipe::narrowGeluErfDerivative(Value x) { // R17
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.c66666p+3f)), lit(0x1.c66666p+3f), ax);
  Value q = sub(a, lit(0x1.8p+2f));
  Value w12 = fma(lit(-0x1.4943e6p-48f), q, lit(0x1.da4246p-44f));
  Value w11 = fma(w12, q, lit(-0x1.0e6c3p-40f));
  Value w10 = fma(w11, q, lit(0x1.e9d7a2p-38f));
  Value w9 = fma(w10, q, lit(-0x1.78545cp-41f));
  Value w8 = fma(w9, q, lit(-0x1.a30202p-30f));
  Value w7 = fma(w8, q, lit(0x1.4d7fcap-28f));
  Value w6 = fma(w7, q, lit(0x1.dabf7p-22f));
  Value w5 = fma(w6, q, lit(-0x1.2515fep-18f));
  Value w4 = fma(w5, q, lit(-0x1.cd9ceap-15f));
  Value w3 = fma(w4, q, lit(0x1.078392p-10f));
  Value w2 = fma(w3, q, lit(0x1.325602p-10f));
  Value w1 = fma(w2, q, lit(-0x1.abad3cp-4f));
  Value w0 = fma(w1, q, lit(0x1.1c6a34p-1f));
  Value v2 = mul(w0, w0);
  Value v4 = mul(v2, v2);
  Value v8 = mul(v4, v4);
  Value v16 = mul(v8, v8);
  Value k = sub(lit(0x1.80ead2p-1f), a);
  Value b = add(k, lit(-0x1.a03fd4p-27f));
  Value g = mul(b, v16);
  Value y = mul(g, v16);
  Value z = fma(neg(g), v16, lit(0x1p+0f));
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::narrowGeluTanh(Value x) { // R18
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.5p+3f)), lit(0x1.5p+3f), ax);
  Value s = mul(a, a);
  Value k = fma(s, lit(-0x1.a5a7dp-4f), lit(-0x1.26aec2p+1f));
  Value t = fma(a, k, lit(0x1.80003p+23f));
  Value n = sub(t, lit(0x1.80003p+23f));
  Value r = fma(a, k, neg(n));
  Value p3 = fma(lit(0x1.3997dp-7f), r, lit(0x1.ca144p-5f));
  Value p2 = fma(p3, r, lit(0x1.ec06dap-3f));
  Value p1 = fma(p2, r, lit(0x1.62e0dcp-1f));
  Value p0 = fma(p1, r, lit(0x1.ffffe8p-1f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value pb = bits(p0);
  Value eb = addInt(pb, ts);
  Value e = value(eb);
  Value d = add(e, lit(0x1p+24f));
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value g = mul(a, e);
  Value h = select(greater(x, lit(0x0p+0f)), x, lit(0x0p+0f));
  return fma(neg(g), i, h);
}

Value Recipe::narrowGeluTanhDerivative(Value x) { // R19
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.5p+3f)), lit(0x1.5p+3f), ax);
  Value s = mul(a, a);
  Value k = fma(s, lit(-0x1.a5a7dp-4f), lit(-0x1.26aec2p+1f));
  Value t = fma(a, k, lit(0x1.80003p+23f));
  Value n = sub(t, lit(0x1.80003p+23f));
  Value r = fma(a, k, neg(n));
  Value p4 = fma(lit(0x1.5bba12p-10f), r, lit(0x1.3cea86p-7f));
  Value p3 = fma(p4, r, lit(0x1.c6b752p-5f));
  Value p2 = fma(p3, r, lit(0x1.ebf9bcp-3f));
  Value p1 = fma(p2, r, lit(0x1.62e42ap-1f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value pb = bits(p0);
  Value eb = addInt(pb, ts);
  Value e = value(eb);
  Value d = add(e, lit(0x1p+24f));
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value m = fma(s, lit(0x1.b6676cp+21f), lit(0x1.988454p+24f));
  Value f = fma(neg(a), m, d);
  Value q = mul(e, i);
  Value g = mul(i, f);
  Value y = mul(q, g);
  Value z = fma(neg(q), g, lit(0x1p+0f));
  return select(less(x, lit(0x0p+0f)), y, z);
}

Value Recipe::narrowSilu(Value x) { // R20
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.9p+6f)), lit(0x1.9p+6f), ax);
  Value t = fma(a, lit(-0x1.715476p+0f), lit(0x1.80003p+23f));
  Value n = sub(t, lit(0x1.80003p+23f));
  Value r = fma(a, lit(-0x1.715476p+0f), neg(n));
  Value p3 = fma(lit(0x1.3997dp-7f), r, lit(0x1.ca144p-5f));
  Value p2 = fma(p3, r, lit(0x1.ec06dap-3f));
  Value p1 = fma(p2, r, lit(0x1.62e0dcp-1f));
  Value p0 = fma(p1, r, lit(0x1.ffffe8p-1f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value pb = bits(p0);
  Value eb = addInt(pb, ts);
  Value e = value(eb);
  Value d = add(e, lit(0x1p+24f));
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value g = mul(a, e);
  Value h = select(greater(x, lit(0x0p+0f)), x, lit(0x0p+0f));
  return fma(neg(g), i, h);
}

Value Recipe::narrowSiluDerivative(Value x) { // R21
  Value ax = abs(x);
  Value a = select(greater(ax, lit(0x1.9p+6f)), lit(0x1.9p+6f), ax);
  Value t = fma(a, lit(-0x1.715476p+0f), lit(0x1.80003p+23f));
  Value n = sub(t, lit(0x1.80003p+23f));
  Value r = fma(a, lit(-0x1.715476p+0f), neg(n));
  Value p4 = fma(lit(0x1.5bba12p-10f), r, lit(0x1.3cea86p-7f));
  Value p3 = fma(p4, r, lit(0x1.c6b752p-5f));
  Value p2 = fma(p3, r, lit(0x1.ebf9bcp-3f));
  Value p1 = fma(p2, r, lit(0x1.62e42ap-1f));
  Value p0 = fma(p1, r, lit(0x1p+0f));
  Value tb = bits(t);
  Value ts = shiftLeft(tb, word(23));
  Value pb = bits(p0);
  Value eb = addInt(pb, ts);
  Value e = value(eb);
  Value d = add(e, lit(0x1p+24f));
  Value i0 = fma(e, lit(0x1.4afd64p-74f), lit(-0x1.9dbcbcp-49f));
  Value i1 = fma(e, i0, lit(0x1.fad406p-25f));
  Value o = fma(neg(d), i1, lit(0x1p+0f));
  Value o1 = fma(o, o, o);
  Value i = fma(i1, o1, i1);
  Value f = fma(a, lit(-0x1p+24f), d);
  Value q = mul(e, i);
  Value g = mul(i, f);
  Value y = mul(q, g);
  Value z = fma(neg(q), g, lit(0x1p+0f));
  return select(less(x, lit(0x0p+0f)), y, z);
}

} // namespace halftone::ir
