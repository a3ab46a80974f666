// SPDX-License-Identifier: Apache-2.0
// The recipes R24 and R25 of docs/spec/math.md: sin and cos.
#include "codegen/passes/Recipes.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

/// 96 bits of 2/pi from the bit s on, counted from 2^25 down.
std::array<Value, 3> Recipe::bitsOfTwoOverPi(Value s) {
  const uint32_t words[] = {0x00000028, 0xbe60db93, 0x91054a7f, 0x09d5f47d,
                            0x4d377036, 0xd8a5664f, 0x10e4107f};
  Value far = hasBits(s, 0x40), odd = hasBits(s, 0x20);
  std::array<Value, 5> a;
  for (int i = 0; i < 5; ++i)
    a[i] = select(far, word(words[i + 2]), word(words[i]));
  std::array<Value, 4> b;
  for (int i = 0; i < 4; ++i)
    b[i] = select(odd, a[i + 1], a[i]);
  Value l = bitAnd(s, word(0x1f));
  Value v = subInt(word(31), l);
  std::array<Value, 3> w;
  for (int i = 0; i < 3; ++i) {
    Value high = shiftLeft(b[i], l);
    Value low = shiftRightUnsigned(shiftRightUnsigned(b[i + 1], word(1)), v);
    w[i] = bitOr(high, low);
  }
  return w;
}

/// All 64 bits.
Value Recipe::wideProduct(Value a, Value b) {
  auto wide = [&](Value x) {
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), x);
  };
  return arith::MulIOp::create(builder, loc, wide(a), wide(b));
}

/// |x| less a multiple of pi/2, at most pi/4 from zero: head and tail of its magnitude, its sign in
/// all bits of m, and the multiple modulo 4 in the low bits of k.
Recipe::Reduced Recipe::reduce(Value x) {
  auto narrow = [&](Value p) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), p);
  };
  auto number = [&](Value w) {
    return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), w);
  };
  Value a = abs(x);
  Value ab = bits(a);
  Value e = shiftRightUnsigned(ab, word(23));
  Value s0 = subInt(e, word(126));
  Value o = shiftRightUnsigned(s0, word(7));
  Value s = subInt(s0, o);
  auto [w0, w1, w2] = bitsOfTwoOverPi(s);
  Value f = bitAnd(ab, word(0x007fffff));
  Value g = addInt(f, word(0x00800000));
  Value h = shiftLeft(g, bitAnd(o, word(1)));
  Value near = less(a, lit(0x1.921fb6p-1f));
  Value i = select(near, word(0), h);
  Value p0 = wideProduct(i, w0);
  Value p1 = wideProduct(i, w1);
  Value p2 = wideProduct(i, w2);
  Value p =
      addInt(addInt(shiftLeft(p0, integer(32, 64)), p1), shiftRightUnsigned(p2, integer(32, 64)));
  Value high = narrow(shiftRightUnsigned(p, integer(32, 64)));
  Value low = narrow(p);
  Value q = addInt(high, word(0x20000000));
  Value k = shiftRightUnsigned(q, word(30));
  Value d = subInt(high, shiftLeft(k, word(30)));
  Value m = shiftRight(d, word(31));
  Value dh = bitXor(d, m);
  Value dl = bitXor(low, m);
  Value top = bitAnd(dh, word(0x3fffffe0));
  Value rest = addInt(shiftLeft(bitAnd(dh, word(0x1f)), word(26)), shiftRightUnsigned(dl, word(6)));
  Value f1 = number(top);
  Value f2 = number(rest);
  Value c = mul(f1, lit(0x1.921fb6p-30f));
  Value c1 = fma(f1, lit(0x1.921fb6p-30f), neg(c));
  Value c2 = fma(f1, lit(-0x1.777a5cp-55f), c1);
  Value c3 = fma(f2, lit(0x1.921fb6p-56f), c2);
  Value r0 = add(c, c3);
  Value r1 = sub(r0, c);
  Value t = sub(c3, r1);
  Value r = select(near, a, r0);
  return {r, t, m, k};
}

Value Recipe::sine(Value r, Value t) {
  Value z = mul(r, r);
  Value u = horner(z, {-0x1.9943e8p-13f, 0x1.11073cp-7f, -0x1.555546p-3f});
  Value v = mul(r, z);
  Value w = fma(v, u, t);
  return add(r, w);
}

Value Recipe::cosine(Value r, Value t) {
  Value z = mul(r, r);
  Value u = horner(z, {0x1.99eba0p-16f, -0x1.6c0c34p-10f, 0x1.55554ap-5f});
  Value v = mul(z, z);
  Value w0 = fma(z, lit(-0x1p-1f), lit(0x1p+0f));
  Value w1 = sub(lit(0x1p+0f), w0);
  Value w2 = fma(z, lit(-0x1p-1f), w1);
  Value w3 = fma(v, u, w2);
  Value w4 = fma(neg(r), t, w3);
  return add(w0, w4);
}

/// Quadrant k of the two: its cosine where k is odd, negative where its second bit is set.
Value Recipe::quadrant(Value x, const Reduced &of, Value k, Value sign) {
  Value ys = sine(of.r, of.t);
  Value yc = cosine(of.r, of.t);
  Value sb = bitXor(bits(ys), bitAnd(of.m, word(0x80000000)));
  Value cb = bits(yc);
  Value yb = select(hasBits(k, 1), cb, sb);
  Value nb = shiftLeft(bitAnd(k, word(2)), word(30));
  Value y = value(bitXor(bitXor(yb, nb), sign));
  return select(less(abs(x), lit(INFINITY)), y, lit(NAN));
}

Value Recipe::sin(Value x) { // R24
  Reduced of = reduce(x);
  return quadrant(x, of, of.k, bitAnd(bits(x), word(0x80000000)));
}

Value Recipe::cos(Value x) { // R25
  Reduced of = reduce(x);
  return quadrant(x, of, addInt(of.k, word(1)), word(0));
}

} // namespace halftone::ir
