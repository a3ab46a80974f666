// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "halftone/encoding/traits.hpp"

namespace halftone {
namespace {

using encoding::Element, encoding::ElementTraits;

constexpr const ElementTraits& kF32 = encoding::traits(Element::f32);

/// Codes of exponents that are all ones are infinity and NaN alone.
static_assert(std::ranges::all_of(encoding::kElementTraits, [](const ElementTraits& element) {
  return element.integer || element.has_infinity;
}));

std::uint32_t infinity_of(const ElementTraits& traits) {
  return ((1u << traits.exponent_bits) - 1) << traits.mantissa_bits;
}

/// Of a code with fewer exponents than f32.
float widened(const ElementTraits& traits, std::uint32_t code) {
  const std::uint32_t sign = 1u << (traits.bits - 1), magnitude = code & (sign - 1);
  const std::uint32_t leading = 1u << traits.mantissa_bits;
  const int exponent = static_cast<int>(magnitude >> traits.mantissa_bits);
  const std::uint32_t fraction = magnitude & (leading - 1);
  const int unit = encoding::least_subnormal(traits);
  float value = 0.0f;
  if (magnitude >= infinity_of(traits)) {
    value = fraction != 0 ? std::bit_cast<float>(kF32.nan) : HUGE_VALF;
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
  const float magnitude = std::abs(x);
  // Halfway from the largest number to the next power of two.
  const float beyond = std::ldexp(2.0f - std::ldexp(1.0f, -traits.mantissa_bits - 1), traits.bias);
  if (magnitude >= beyond) return sign | infinity_of(traits);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int smallest = encoding::least_subnormal(traits);
  const bool is_normal = exponent - 1 >= encoding::least_normal(traits) && magnitude != 0.0f;
  const int unit = is_normal ? exponent - 1 - traits.mantissa_bits : smallest;
  // Exact but for the rounding to an integer, which is to nearest even in the standard mode.
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry into the next power of two is right as it stands.
  return sign | ((static_cast<std::uint32_t>(unit - smallest) << traits.mantissa_bits) + steps);
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
  if (traits.exponent_bits < kF32.exponent_bits) return widened(traits, code);
  return std::bit_cast<float>(code << (kF32.bits - traits.bits));
}

std::uint32_t narrowed(Element element, float x) {
  const ElementTraits& traits = encoding::traits(element);
  if (std::isnan(x)) return traits.nan;
  return traits.exponent_bits < kF32.exponent_bits ? rebased(traits, x) : shortened(traits, x);
}

}  // namespace halftone
