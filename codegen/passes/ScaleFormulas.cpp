// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/ScaleFormulas.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

constexpr const encoding::ElementTraits &kBits = encoding::traits(Element::f32);
constexpr int64_t kLeastExponent = 17; ///< as f32 has it, of a scale: P51

static Value largestExponent(Scalars &s, double largest) { // 255 - m of P51
  return s.integer((1 << kBits.exponent_bits) - 1 - std::ilogb(largest));
}

Value exponentOf(Scalars &s, Value maximum, double largest) {
  Value t = s.mul(maximum, s.like(maximum, 1 / largest));
  Value bits = s.bits(t);
  Value field = s.shiftRight(bits, kBits.mantissa_bits);
  Value mantissa = s.both(bits, s.integer((int64_t(1) << kBits.mantissa_bits) - 1));
  Value isPower = s.compare(arith::CmpIPredicate::eq, mantissa, s.integer(0));
  Value above = s.select(isPower, field, s.plus(field, s.integer(1)));
  Value least = s.integer(kLeastExponent);
  Value most = largestExponent(s, largest);
  auto isLess = [&](Value a, Value b) { return s.compare(arith::CmpIPredicate::ult, a, b); };
  return s.select(isLess(above, least), least, s.select(isLess(most, above), most, above));
}

static Value multiplierOf(Scalars &s, Value maximum, double largest) {
  Value quotient = s.div(s.like(maximum, largest), maximum);
  Value limit = s.like(maximum, APFloat::getLargest(APFloat::IEEEsingle()).convertToDouble());
  return s.select(s.less(quotient, limit), quotient, limit);
}

Value powerOf(Scalars &s, Value field) { return s.real(s.shiftLeft(field, kBits.mantissa_bits)); }

Value multiplierOrOne(Scalars &s, Value maximum, double largest) {
  Value one = s.like(maximum, 1);
  Value isPositive = s.greater(maximum, s.like(maximum, 0)); // NaN is not
  Value isFinite = s.less(maximum, s.like(maximum, INFINITY));
  Value multiplier = multiplierOf(s, maximum, largest);
  return s.select(isPositive, s.select(isFinite, multiplier, one), one);
}

Value infiniteAbove(Scalars &s, Value scale) {
  constexpr double kLeast = 0x1p113; // 2^(128 - m) of P51, of f8e5m2, and less than of others
  return s.select(s.less(scale, s.like(scale, kLeast)), scale, s.like(scale, INFINITY));
}

Value nextDelayedScale(Scalars &s, Value amax, Value scale, const Encoding &to) {
  double largest = largestOf(to.element);
  if (encoding::factors_sums(to)) {
    Value next = multiplierOf(s, amax, std::ldexp(largest, -to.scaling.margin));
    return s.select(s.greater(amax, s.like(amax, 0)), next, scale);
  }
  Value most = largestExponent(s, largest);
  Value above = s.plus(exponentOf(s, amax, largest), s.integer(to.scaling.margin));
  Value isMore = s.compare(arith::CmpIPredicate::ult, most, above);
  Value next = powerOf(s, s.select(isMore, most, above));
  return s.select(s.greater(amax, s.like(amax, 0)), next, scale);
}

/// To the nearest multiple of its last place, by a sum whose last place that is, and then back by
/// one place where that went up and should not.
Value roundedShort(Scalars &s, Value x, const Encoding &to) {
  constexpr int64_t kWithoutSign = 0x7fffffff;
  const encoding::ElementTraits &element = encoding::traits(to.element);
  Value limited = s.saturate(x, to.element);
  Value bits = s.bits(limited);
  Value field =
      s.both(s.shiftRight(bits, kBits.mantissa_bits), s.integer((1 << kBits.exponent_bits) - 1));
  Value least = s.integer(kBits.bias + encoding::least_normal(element));
  Value isNormal = s.compare(arith::CmpIPredicate::ugt, field, least);
  Value leading = s.select(isNormal, field, least);
  Value place = s.plus(leading, s.integer(kBits.mantissa_bits - element.mantissa_bits));
  int64_t half = int64_t(1) << (kBits.mantissa_bits - 1);
  Value large = s.real(s.either(s.shiftLeft(place, kBits.mantissa_bits), s.integer(half)));
  Value magnitude = s.absolute(limited);
  Value rounded = s.sub(s.add(magnitude, large), large);
  if (to.rounding == encoding::Rounding::toward_zero) {
    Value below = s.sub(rounded, powerOf(s, s.minus(leading, s.integer(element.mantissa_bits))));
    rounded = s.select(s.greater(rounded, magnitude), below, rounded);
  }
  return s.real(s.either(s.bits(rounded), s.both(bits, s.integer(~kWithoutSign))));
}

} // namespace halftone::ir
