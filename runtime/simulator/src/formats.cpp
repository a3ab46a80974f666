// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::simulator {
namespace {

// Layout of a signed format. Codes above `largest` (without the sign) are infinity and NaN.
struct Layout {
  int exponent_bits, mantissa_bits, bias;
  std::uint32_t largest, infinity, nan;  // infinity or nan = 0: the format has none
};

// OCP OFP8 1.0 and OCP MX 1.0 for the 8-, 6- and 4-bit formats; tf32 here is 19 bits, without its
// 13 zeros.
constexpr std::array<Layout, 8> kLayouts = {{
    {5, 10, 15, 0x7bff, 0x7c00, 0x7fff},      // f16
    {8, 7, 127, 0x7f7f, 0x7f80, 0x7fff},      // bf16
    {8, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff},  // tf32
    {4, 3, 7, 0x7e, 0, 0x7f},                 // e4m3
    {5, 2, 15, 0x7b, 0x7c, 0x7f},             // e5m2
    {2, 1, 1, 0x7, 0, 0},                     // e2m1
    {3, 2, 3, 0x1f, 0, 0},                    // e3m2
    {2, 3, 1, 0x1f, 0, 0},                    // e2m3
}};

const Layout& layout_of(NumberFormat format) { return kLayouts[static_cast<std::size_t>(format)]; }

// m * 2^-discard, rounded to an integer.
std::uint64_t round_off(std::uint64_t m, int discard, Rounding rounding, bool negative,
                        RandomBits random) {
  if (discard <= 0) return m << -discard;
  if (discard > 62) {  // below half a place: a sticky bit, or the places that random bits meet
    m = rounding == Rounding::stochastic ? m >> std::min(discard - 62, 63) : m != 0;
    discard = 62;
  }
  const std::uint64_t kept = m >> discard, rest = m & ((std::uint64_t{1} << discard) - 1);
  const std::uint64_t half = std::uint64_t{1} << (discard - 1);
  switch (rounding) {
    case Rounding::nearest_even:
      return kept + (rest > half || (rest == half && (kept & 1)));
    case Rounding::toward_zero:
      return kept;
    case Rounding::upward:
      return kept + (rest != 0 && !negative);
    case Rounding::downward:
      return kept + (rest != 0 && negative);
    case Rounding::nearest_away:
      return kept + (rest >= half);
    case Rounding::stochastic:
      break;
  }
  const int shift = discard - random.count;
  const std::uint64_t added =
      shift >= 0 ? std::uint64_t{random.bits} << shift : random.bits >> -shift;
  return kept + ((rest + added) >> discard);
}

std::uint32_t overflow_code(const Layout& layout, bool negative, Encoding how, bool infinite) {
  const Rounding r = how.rounding;
  const bool stays =
      r == Rounding::toward_zero || r == (negative ? Rounding::upward : Rounding::downward);
  if (how.finite || (stays && !infinite)) return layout.largest;
  if (layout.infinity) return layout.infinity;
  return layout.nan ? layout.nan : layout.largest;
}

std::uint32_t signed_code(const Layout& layout, double value, Encoding how, RandomBits random) {
  if (std::isnan(value)) return layout.nan ? layout.nan : layout.largest;
  const bool negative = std::signbit(value);
  if (negative && how.relu) return 0;
  const std::uint32_t sign = negative ? 1u << (layout.exponent_bits + layout.mantissa_bits) : 0;
  if (std::isinf(value)) return sign | overflow_code(layout, negative, how, true);
  if (value == 0) return sign;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [1/2, 1)
  const auto m = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int least = 1 - layout.bias, scale = exponent - 1 < least ? least : exponent - 1;
  const int discard = (scale - layout.mantissa_bits) - (exponent - 53);
  const std::uint64_t kept = round_off(m, discard, how.rounding, negative, random);
  const std::uint64_t code =
      kept + (static_cast<std::uint64_t>(scale - least) << layout.mantissa_bits);
  return sign | (code > layout.largest ? overflow_code(layout, negative, how, false)
                                       : static_cast<std::uint32_t>(code));
}

std::uint32_t scale_code(double value, Encoding how) {
  if (std::isnan(value)) return 0xff;
  if (std::isinf(value)) return how.finite ? 0xfe : 0xff;
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  int code = exponent - 1 + 127 + (how.rounding == Rounding::upward && fraction != 0.5);
  if (code < 0) code = 0;
  if (code > 0xfe) code = how.finite || how.rounding != Rounding::upward ? 0xfe : 0xff;
  return static_cast<std::uint32_t>(code);
}

}  // namespace

std::uint32_t encode(NumberFormat format, double value, Encoding how, RandomBits random) {
  if (format == NumberFormat::ue8m0) return scale_code(value, how);
  const std::uint32_t code = signed_code(layout_of(format), value, how, random);
  if (format != NumberFormat::tf32) return code;
  return code == layout_of(format).nan ? 0x7fffffffu : code << 13;
}

float decode(NumberFormat format, std::uint32_t code) {
  if (format == NumberFormat::ue8m0)
    return code == 0xff ? std::bit_cast<float>(0x7fffffffu)
                        : std::ldexp(1.0f, static_cast<int>(code) - 127);
  if (format == NumberFormat::tf32) return std::bit_cast<float>(code);
  if (format == NumberFormat::bf16) return bf16_value(static_cast<std::uint16_t>(code));
  const Layout& layout = layout_of(format);
  const std::uint32_t sign_bit = 1u << (layout.exponent_bits + layout.mantissa_bits);
  const std::uint32_t magnitude = code & (sign_bit - 1);
  const float sign = code & sign_bit ? -1.0f : 1.0f;
  if (magnitude > layout.largest)
    return magnitude == layout.infinity ? sign * INFINITY : std::bit_cast<float>(0x7fffffffu);
  const auto mantissa = static_cast<int>(magnitude & ((1u << layout.mantissa_bits) - 1));
  const int exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
  const int significand = exponent ? mantissa + (1 << layout.mantissa_bits) : mantissa;
  const int scale = (exponent ? exponent : 1) - layout.bias - layout.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(significand), scale);
}

int packed_bits(NumberFormat format) {
  if (format == NumberFormat::tf32) return 32;
  if (format == NumberFormat::f16 || format == NumberFormat::bf16) return 16;
  return format == NumberFormat::e2m1 ? 4 : 8;
}

std::uint32_t encode_pair(NumberFormat format, double upper, double lower, Encoding how) {
  return encode(format, upper, how) << packed_bits(format) | encode(format, lower, how);
}

Pair decode_pair(NumberFormat format, std::uint32_t codes) {
  const int bits = packed_bits(format);
  const std::uint32_t mask = (1u << bits) - 1;
  return {decode(format, codes >> bits & mask), decode(format, codes & mask)};
}

}  // namespace halftone::simulator
