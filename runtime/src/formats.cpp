// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "halftone/encoding/traits.hpp"

namespace halftone {
namespace {

using encoding::Element, encoding::ElementTraits;

constexpr const ElementTraits& kF32 = encoding::traits(Element::f32);

/// Of a code that is no scale's.
float widened(const ElementTraits& traits, std::uint32_t code) {
  const std::uint32_t sign = 1u << (traits.bits - 1), magnitude = code & (sign - 1);
  const std::uint32_t leading = 1u << traits.mantissa_bits;
  const int exponent = static_cast<int>(magnitude >> traits.mantissa_bits);
  const std::uint32_t fraction = magnitude & (leading - 1);
  const int unit = encoding::least_subnormal(traits);
  float value = 0.0f;
  if (magnitude > encoding::code_of_largest(traits)) {
    value = traits.has_infinity && fraction == 0 ? HUGE_VALF : std::bit_cast<float>(kF32.nan);
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), unit);
  } else {
    value = std::ldexp(static_cast<float>(fraction | leading), unit + exponent - 1);
  }
  return std::copysign(value, (code & sign) != 0 ? -1.0f : 1.0f);
}

/// To a code with f32's exponents: its upper bits, rounded.
std::uint32_t shortened(const ElementTraits& traits, float x) {
  const int dropped = kF32.mantissa_bits - traits.mantissa_bits;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half = 1u << (dropped - 1), odd = (bits >> dropped) & 1u;
  return (bits + (half - 1) + odd) >> dropped << dropped >> (kF32.bits - traits.bits);
}

/// To a code with fewer exponents than f32.
std::uint32_t rebased(const ElementTraits& traits, float x) {
  const std::uint32_t sign = std::signbit(x) ? 1u << (traits.bits - 1) : 0;
  const std::uint32_t largest = encoding::code_of_largest(traits);
  const std::uint32_t beyond = encoding::code_beyond(traits);
  const std::uint32_t overflowed = beyond == traits.nan ? beyond : sign | beyond;
  const float magnitude = std::abs(x);
  if (std::isinf(x)) return overflowed;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  if (exponent - 1 > encoding::largest_exponent(traits)) return overflowed;
  const int smallest = encoding::least_subnormal(traits);
  const bool is_normal = exponent - 1 >= encoding::least_normal(traits) && magnitude != 0.0f;
  const int unit = is_normal ? exponent - 1 - traits.mantissa_bits : smallest;
  // Exact but for the rounding to an integer, which is to nearest even in the standard mode.
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry into the next power of two is right as it stands.
  const std::uint32_t code =
      (static_cast<std::uint32_t>(unit - smallest) << traits.mantissa_bits) + steps;
  return code > largest ? overflowed : sign | code;
}

/// F2 of f8e8m0: the power of two nearest to the magnitude, the larger one of two that are.
std::uint32_t exponent_of(const ElementTraits& traits, float magnitude) {
  if (magnitude < std::ldexp(1.0f, -traits.bias)) return 0;
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  const int nearest = exponent - (fraction < 0.75f ? 1 : 0);
  return std::isinf(magnitude) || nearest > traits.bias
             ? traits.nan
             : static_cast<std::uint32_t>(nearest + traits.bias);
}

}  // namespace

std::int64_t integer_of(const std::byte* buffer, Element element, std::int64_t index) {
  const ElementTraits& traits = encoding::traits(element);
  const auto bytes = static_cast<std::size_t>(encoding::storage_bytes(element, 1));
  std::uint64_t code = 0;
  std::memcpy(&code, buffer + static_cast<std::size_t>(index) * bytes, bytes);
  const int above = 64 - traits.bits;
  return traits.has_sign ? static_cast<std::int64_t>(code << above) >> above
                         : static_cast<std::int64_t>(code);
}

float element_of(const std::byte* buffer, Element element, std::int64_t index) {
  const ElementTraits& traits = encoding::traits(element);
  if (traits.integer) return static_cast<float>(integer_of(buffer, element, index));
  const auto bytes = static_cast<std::size_t>(encoding::storage_bytes(element, 1));
  std::uint32_t code = 0;
  std::memcpy(&code, buffer + static_cast<std::size_t>(index) * bytes, bytes);
  return value_of(element, code);
}

namespace {

/// Of codes that are no scales': their exponent and fraction are those of an f32 times a power of
/// two, which the product restores exactly, subnormal numbers among them.
template <class Code>
void read_codes(const std::byte* from, const ElementTraits& traits, std::span<float> values) {
  const std::uint32_t sign = 1u << (traits.bits - 1), largest = encoding::code_of_largest(traits);
  const int shift = kF32.mantissa_bits - traits.mantissa_bits;
  const float power = std::ldexp(1.0f, kF32.bias - traits.bias);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Code code = 0;
    std::memcpy(&code, from + i * sizeof code, sizeof code);
    const std::uint32_t magnitude = code & (sign - 1);
    const float value = std::bit_cast<float>(magnitude << shift) * power;
    values[i] = magnitude > largest ? widened(traits, code) : (code & sign) != 0 ? -value : value;
  }
}

}  // namespace

void read_elements(const std::byte* buffer, Element element, std::int64_t first,
                   std::span<float> values) {
  const ElementTraits& traits = encoding::traits(element);
  const auto bytes = static_cast<std::size_t>(encoding::storage_bytes(element, 1));
  const std::byte* const from = buffer + static_cast<std::size_t>(first) * bytes;
  const bool is_scale = !traits.integer && encoding::is_scale(traits);
  if (!traits.integer && bytes == sizeof(float)) {
    std::memcpy(values.data(), from, values.size_bytes());
  } else if (!traits.integer && !is_scale && bytes == 2) {
    read_codes<std::uint16_t>(from, traits, values);
  } else if (!traits.integer && !is_scale && bytes == 1) {
    read_codes<std::uint8_t>(from, traits, values);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = element_of(buffer, element, first + static_cast<std::int64_t>(i));
  }
}

float value_of(Element element, std::uint32_t code) {
  const ElementTraits& traits = encoding::traits(element);
  if (traits.exponent_bits < kF32.exponent_bits) return widened(traits, code);
  if (!encoding::is_scale(traits)) return std::bit_cast<float>(code << (kF32.bits - traits.bits));
  return code == traits.nan ? std::bit_cast<float>(kF32.nan)
                            : std::ldexp(1.0f, static_cast<int>(code) - traits.bias);
}

std::uint32_t narrowed(Element element, float x, bool saturate) {
  const ElementTraits& traits = encoding::traits(element);
  const std::uint32_t largest = encoding::code_of_largest(traits);
  if (std::isnan(x)) return traits.nan != 0 ? traits.nan : largest;
  const float most = value_of(element, largest);
  if (saturate && std::abs(x) > most) x = std::copysign(most, x);
  if (encoding::is_scale(traits)) return exponent_of(traits, std::abs(x));
  return traits.exponent_bits < kF32.exponent_bits ? rebased(traits, x) : shortened(traits, x);
}

}  // namespace halftone
