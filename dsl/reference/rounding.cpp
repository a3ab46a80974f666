// SPDX-License-Identifier: Apache-2.0
// Rounding as integer operations on the bits of an f32. Its bits without the sign order like its
// magnitude, so a carry out of the significand moves into the exponent by itself.
#include "halftone/reference/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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
  bool has_infinity = true;
  int code_bits = 0;           // of formats that have codes of their own
  std::uint32_t nan_code = 0;  // 0: no NaN
};

Limits limits_of(Element format) {
  switch (format) {
    case Element::f32:
      return {23, 1, 0x7f7fffff};
    case Element::tf32:
      return {10, 1, 0x7f7fe000};
    case Element::f16:
      return {10, 113, 0x477fe000, true, 16, 0x7fff};
    case Element::bf16:
      return {7, 1, 0x7f7f0000, true, 16, 0x7fff};
    case Element::f8e4m3:  // OFP8, table 1: 448 = 1.75 * 2^8, least normal 2^-6
      return {3, 121, 0x43e00000, false, 8, 0x7f};
    case Element::f8e5m2:  // 57344 = 1.75 * 2^15, least normal 2^-14
      return {2, 113, 0x47600000, true, 8, 0x7f};
    case Element::f6e3m2:  // MX 1.0, tables 4 to 6: 28 = 1.75 * 2^4, least normal 2^-2
      return {2, 125, 0x41e00000, false, 6};
    case Element::f6e2m3:  // 7.5 = 1.875 * 2^2, least normal 1
      return {3, 127, 0x40f00000, false, 6};
    case Element::f4e2m1:  // 6 = 1.5 * 2^2, least normal 1
      return {1, 127, 0x40c00000, false, 4};
    default:
      break;
  }
  throw std::invalid_argument("values are not rounded to integers; use a float such as f32 or f16");
}

bool has_nan(const Limits& limits) { return limits.has_infinity || limits.nan_code != 0; }

Limits with_codes(Element format) {
  const Limits limits = limits_of(format);
  if (limits.code_bits == 0) {
    throw std::invalid_argument("f32 and tf32 have no codes but the bits of an f32; round to them");
  }
  return limits;
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

// What is left of a magnitude beyond the largest value.
std::uint32_t overflowed(const Limits& limits, bool stays_finite) {
  if (stays_finite || !has_nan(limits)) return limits.largest;
  return limits.has_infinity ? kInfinity : kNaN;
}

// F1, F2 of f8e8m0, which has neither sign nor zero: 2^-127 to 2^127 and NaN. A sign is dropped.
std::uint32_t round_to_scale(RoundTo to, std::uint32_t bits) {
  constexpr std::uint32_t kLeast = 0x00400000, kLargest = 0x7f000000;  // f32's 2^-127 and 2^127
  const std::uint32_t magnitude = bits & ~kSign, half = kHiddenBit / 2;
  if (magnitude > kInfinity) return kNaN;
  if (magnitude == kInfinity) return to.saturate ? kLargest : kNaN;
  const bool up = to.rounding == Rounding::nearest_even;
  if (magnitude < kHiddenBit) return up && magnitude >= kLeast + kLeast / 2 ? kHiddenBit : kLeast;
  // The only mantissa is odd, so that what lies in the middle goes up.
  const std::uint32_t rounded = (magnitude + (up ? half : 0)) & ~(kHiddenBit - 1);
  if (rounded <= kLargest) return rounded;
  return to.saturate ? kLargest : kNaN;
}

}  // namespace

float round(RoundTo to, float x) {
  if (to.rounding == Rounding::stochastic) {
    throw std::invalid_argument("stochastic rounding takes 32 random bits; call round_by");
  }
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if (to.format == Element::f8e8m0) return std::bit_cast<float>(round_to_scale(to, bits));
  const std::uint32_t sign = bits & kSign, magnitude = bits & ~kSign;
  const Limits limits = limits_of(to.format);
  const auto signed_or_nan = [&](std::uint32_t found) {
    return std::bit_cast<float>(found == kNaN ? kNaN : sign | found);
  };
  if (magnitude > kInfinity) return std::bit_cast<float>(has_nan(limits) ? kNaN : limits.largest);
  if (magnitude == kInfinity) return signed_or_nan(overflowed(limits, to.saturate));
  const std::uint32_t rounded = round_magnitude(limits, to.rounding, magnitude);
  if (rounded <= limits.largest) return std::bit_cast<float>(sign | rounded);
  return signed_or_nan(overflowed(limits, to.saturate || to.rounding == Rounding::toward_zero));
}

// In double, where every quotient and every difference below is exact.
float round_by(std::uint32_t word, RoundTo to, float x) {
  if (to.rounding != Rounding::stochastic || to.format == Element::f8e8m0) {
    throw std::invalid_argument("only what rules round stochastically takes random bits");
  }
  to.rounding = Rounding::nearest_even;
  if (x == 0 || !std::isfinite(x)) return round(to, x);
  const Limits limits = limits_of(to.format);
  const int least = static_cast<int>(limits.smallest_exponent) - 127;
  const double place = std::ldexp(1.0, std::max(std::ilogb(x), least) - limits.mantissa_bits);
  const double places = std::fabs(static_cast<double>(x)) / place, below = std::floor(places);
  const bool up = std::ldexp(word >> 8, -24) < places - below;
  const double rounded = (up ? below + 1 : below) * place;
  const bool is_f32 = rounded <= std::numeric_limits<float>::max();
  const float magnitude =
      is_f32 ? static_cast<float>(rounded) : std::numeric_limits<float>::infinity();
  return round(to, std::copysign(magnitude, x));
}

namespace {

float largest_of(Element format) { return std::bit_cast<float>(limits_of(format).largest); }

// N5
float maximum_of(std::span<const float> group) {
  float maximum = 0;
  for (const float x : group) {
    if (!(maximum > std::fabs(x)) && !std::isnan(maximum)) maximum = std::fabs(x);
  }
  return maximum;
}
float maximum_of(std::span<const Bounded> group) {
  double maximum = 0;
  for (const Bounded& x : group) maximum = std::max(maximum, std::fabs(x.value) + x.error);
  return static_cast<float>(maximum * (1 + 0x1p-20));
}

// m of P51 decides it.
int largest_exponent(float largest) { return 128 - std::ilogb(largest); }

// The least power of two, within its limits, by which `maximum` becomes `largest` or less.
float power_for(float maximum, float largest) {
  const float inverse = 1 / largest;
  constexpr int kLeastScale = 17 - 127;
  const int largest_scale = largest_exponent(largest);
  const float quotient = maximum * inverse;
  if (!std::isfinite(quotient)) return std::ldexp(1.0f, largest_scale);
  int above = kLeastScale;  // of the least power of two that is not below the quotient
  if (quotient > 0) {
    const float digits = std::frexp(quotient, &above);  // in [0.5, 1)
    above -= digits == 0.5f ? 1 : 0;
  }
  return std::ldexp(1.0f, std::clamp(above, kLeastScale, largest_scale));
}

float largest_of_all(RoundTo to) { return largest_of(to.format) * largest_of(to.scaling.scale); }

}  // namespace

float scale_of(RoundTo to, std::span<const float> group) {
  return power_for(maximum_of(group), largest_of(to.format));
}
double scale_of(RoundTo to, std::span<const Bounded> group) {
  return power_for(maximum_of(group), largest_of(to.format));
}

float scale_of_all(RoundTo to, std::span<const float> values) {
  return power_for(maximum_of(values), largest_of_all(to));
}
double scale_of_all(RoundTo to, std::span<const Bounded> values) {
  return power_for(maximum_of(values), largest_of_all(to));
}

float scale_of_block(RoundTo to, float of_all, std::span<const float> group) {
  const float most = largest_of(to.scaling.scale);
  const float fitting = maximum_of(group) * (1 / largest_of(to.format)) * (1 / of_all);
  return round({to.scaling.scale}, fitting < most ? fitting : most) * of_all;
}

// What is lost where a scale rounds down, or to zero, is less than half a place of elements under
// this larger one: half a place is at least a quarter of a scale, and of an element.
double scale_of_block(RoundTo to, double of_all, std::span<const Bounded> group) {
  const double fitting = maximum_of(group) / static_cast<double>(largest_of(to.format));
  return fitting * (1 + 0x1p-3) + of_all * 0x1p-4;
}

// As TransformerEngine's compute_scale_from_amax.
float multiplier_of(RoundTo to, std::span<const float> group) {
  const float amax = maximum_of(group);
  if (!std::isfinite(amax) || amax == 0) return 1;
  const float largest = has_two_levels(to.scaling) ? largest_of_all(to) : largest_of(to.format);
  return std::min(largest / amax, std::numeric_limits<float>::max());
}

// As TransformerEngine's compute_decoding_scaling_factor.
float code_scale_of_block(RoundTo to, float of_all, std::span<const float> group) {
  const float most = largest_of(to.scaling.scale);
  const float fitting = maximum_of(group) * (of_all * (1 / largest_of(to.format)));
  return round({to.scaling.scale}, fitting < most ? fitting : most);
}

// Half a place of a float is at most 2^-(m + 1) of it, a place twice that; a place is also more
// than half of one beyond the next power of two. The last is for numbers below all normal ones.
Bounded number_under_f32(RoundTo to, std::span<const Bounded> group, Bounded x) {
  const Limits limits = limits_of(to.format);
  const double factor = maximum_of(group) / static_cast<double>(largest_of(to.format));
  const double least = std::ldexp(1.0, static_cast<int>(limits.smallest_exponent) - 127 -
                                           static_cast<int>(limits.mantissa_bits));
  const double share = std::ldexp(1.0, -static_cast<int>(limits.mantissa_bits)) + 0x1p-20;
  x.error += share * (std::fabs(x.value) + x.error) + (1 + 0x1p-20) * factor * least;
  return x;
}

float delayed_scale(RoundTo to, float largest) {
  if (has_f32_scales(to)) {
    const float most = std::ldexp(largest_of(to.format), -to.scaling.margin);
    return std::min(most / largest, std::numeric_limits<float>::max());
  }
  const float above = std::ldexp(power_for(largest, largest_of(to.format)), to.scaling.margin);
  return std::min(above, std::ldexp(1.0f, largest_exponent(largest_of(to.format))));
}

std::uint16_t encode(RoundTo to, float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(round(to, x));
  if (to.format == Element::f8e8m0) {
    if (bits == kNaN) return 0xff;
    return static_cast<std::uint16_t>(bits >> kMantissaBits);
  }
  const Limits limits = with_codes(to.format);
  if (bits == kNaN) return static_cast<std::uint16_t>(limits.nan_code);
  const auto code_of = [&](std::uint32_t magnitude) {
    const std::uint32_t field = magnitude >> kMantissaBits, smallest = limits.smallest_exponent;
    const int digits = kMantissaBits - limits.mantissa_bits;
    if (magnitude == 0) return 0u;
    if (field >= smallest) return (magnitude - ((smallest - 1) << kMantissaBits)) >> digits;
    const std::uint32_t below = magnitude & (kHiddenBit - 1);  // a subnormal: places are counted
    return field == 0 ? below >> (digits + smallest - 1)
                      : (below | kHiddenBit) >> (digits + smallest - field);
  };
  const std::uint32_t magnitude = bits & ~kSign;
  const std::uint32_t sign = bits >> 31 << (limits.code_bits - 1);
  const std::uint32_t code =
      magnitude == kInfinity ? code_of(limits.largest) + 1 : code_of(magnitude);
  return static_cast<std::uint16_t>(sign | code);
}

float decode(Element format, std::uint16_t code) {
  if (format == Element::f8e8m0) {
    return std::bit_cast<float>(code == 0xff ? kNaN
                                : code == 0  ? kHiddenBit / 2
                                             : static_cast<std::uint32_t>(code) << kMantissaBits);
  }
  const Limits limits = with_codes(format);
  const std::uint32_t sign_bit = 1u << (limits.code_bits - 1), leading = 1u << limits.mantissa_bits;
  const std::uint32_t magnitude = code & (sign_bit - 1), sign = (code & sign_bit) != 0 ? kSign : 0;
  const std::uint32_t exponent = magnitude / leading, mantissa = magnitude % leading;
  const std::uint32_t all_ones = (sign_bit - 1) / leading;
  if (limits.has_infinity && exponent == all_ones) {
    return std::bit_cast<float>(mantissa != 0 ? kNaN : sign | kInfinity);
  }
  if (has_nan(limits) && magnitude == limits.nan_code) return std::bit_cast<float>(kNaN);
  const int least = static_cast<int>(limits.smallest_exponent) - 127 - limits.mantissa_bits;
  const double places = exponent == 0 ? mantissa : (leading + mantissa) * std::exp2(exponent - 1.0);
  const auto value = static_cast<float>(std::ldexp(places, least));  // exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
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
