// SPDX-License-Identifier: Apache-2.0
// Rounding as integer operations on the bits of an f32. Its bits without the sign order like its
// magnitude, so a carry out of the significand moves into the exponent by itself.
#include "halftone/reference/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace halftone::reference {
namespace {

using description::Element;
using description::Rounding;

constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint32_t kInfinity = 0x7f800000u;
constexpr std::uint32_t kNaN = 0x7fffffffu;  // F3
constexpr int kMantissaBits = 23;            // of f32
constexpr std::uint32_t kHiddenBit = 1u << kMantissaBits;

// F1. Exponents are biased as in f32.
struct Limits {
  int mantissa_bits;
  std::uint32_t smallest_exponent;  // of a normal value
  std::uint32_t largest;            // bits of the largest finite value
};

Limits limits_of(Element format) {
  switch (format) {
    case Element::f32:
      return {23, 1, 0x7f7fffff};
    case Element::tf32:
      return {10, 1, 0x7f7fe000};
    case Element::f16:
      return {10, 113, 0x477fe000};
    case Element::bf16:
      return {7, 1, 0x7f7f0000};
    default:
      break;
  }
  throw std::invalid_argument("values are not rounded to integers; use f32, tf32, f16 or bf16");
}

// `magnitude` (bits without the sign, finite) with all digits below the format's last place taken
// away; the place is 2^0 of `kept`.
std::uint32_t round_magnitude(const Limits& limits, Rounding rounding, std::uint32_t magnitude) {
  const std::uint32_t field = magnitude >> kMantissaBits;
  const std::uint32_t exponent = std::max(field, 1u);
  const std::uint32_t below = magnitude & (kHiddenBit - 1);
  const std::uint32_t significand = field == 0 ? below : below | kHiddenBit;
  // Past 25 digits all that is taken away is less than half a place.
  const std::uint32_t subnormal_digits =
      limits.smallest_exponent - std::min(exponent, limits.smallest_exponent);
  const std::uint32_t digits =
      std::min(kMantissaBits - limits.mantissa_bits + subnormal_digits, 25u);
  if (digits == 0) return magnitude;
  const std::uint32_t rest = significand & ((1u << digits) - 1), half = 1u << (digits - 1);
  std::uint32_t kept = significand >> digits;
  if (rounding == Rounding::nearest_even && (rest > half || (rest == half && kept % 2 == 1))) {
    ++kept;
  }
  return kept == 0 ? 0 : ((exponent - 1) << kMantissaBits) + (kept << digits);
}

}  // namespace

float round(RoundTo to, float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits & kSign, magnitude = bits & ~kSign;
  if (magnitude > kInfinity) return std::bit_cast<float>(kNaN);
  if (magnitude == kInfinity) return x;
  const Limits limits = limits_of(to.format);
  const std::uint32_t rounded = round_magnitude(limits, to.rounding, magnitude);
  if (rounded <= limits.largest) return std::bit_cast<float>(sign | rounded);
  const bool stays_finite = to.rounding == Rounding::toward_zero;
  return std::bit_cast<float>(sign | (stays_finite ? limits.largest : kInfinity));
}

std::uint16_t encode(RoundTo to, float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(round(to, x));
  if (bits == kNaN) return 0x7fff;
  if (to.format == Element::bf16) return static_cast<std::uint16_t>(bits >> 16);
  if (to.format != Element::f16) {
    throw std::invalid_argument("only f16 and bf16 have codes of 16 bits; round to others");
  }
  const std::uint32_t sign = (bits & kSign) >> 16, magnitude = bits & ~kSign;
  if (magnitude == kInfinity) return static_cast<std::uint16_t>(sign | 0x7c00);
  const Limits limits = limits_of(Element::f16);
  const std::uint32_t exponent = magnitude >> kMantissaBits;
  if (exponent >= limits.smallest_exponent) {
    const std::uint32_t rebias = (limits.smallest_exponent - 1) << kMantissaBits;
    return static_cast<std::uint16_t>(sign | ((magnitude - rebias) >> 13));
  }
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  // A subnormal of f16: its code counts places of 2^-24.
  const std::uint32_t significand = (magnitude & (kHiddenBit - 1)) | kHiddenBit;
  return static_cast<std::uint16_t>(sign |
                                    significand >> (13 + limits.smallest_exponent - exponent));
}

float decode(Element format, std::uint16_t code) {
  if (format == Element::bf16) {
    const std::uint32_t bits = static_cast<std::uint32_t>(code) << 16;
    return std::bit_cast<float>((bits & ~kSign) > kInfinity ? kNaN : bits);
  }
  if (format != Element::f16) {
    throw std::invalid_argument("only f16 and bf16 have codes of 16 bits; read others as f32");
  }
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000) << 16;
  const std::uint32_t exponent = code >> 10 & 0x1f, mantissa = code & 0x3ff;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(mantissa != 0 ? kNaN : sign | kInfinity);
  }
  if (exponent == 0) {
    const float places = static_cast<float>(mantissa) * 0x1p-24f;  // exact
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(places));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << kMantissaBits | mantissa << 13);
}

Bounded round(RoundTo to, Bounded x) {
  if (to.format == Element::f32) return x;
  const Limits limits = limits_of(to.format);
  const bool nearest = to.rounding == Rounding::nearest_even;
  const double place = std::ldexp(1.0, -limits.mantissa_bits);  // at 1
  const double smallest = std::ldexp(place, static_cast<int>(limits.smallest_exponent) - 127);
  const double magnitude = std::fabs(x.value) + x.error;
  if (!(magnitude <= static_cast<double>(std::bit_cast<float>(limits.largest)))) {
    throw std::domain_error("a value may overflow its format; use smaller inputs");
  }
  x.error += (nearest ? 0.5 : 1.0) * (place * magnitude + smallest);
  return x;
}

}  // namespace halftone::reference
