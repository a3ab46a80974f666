// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace halftone {
namespace {

constexpr std::uint16_t kNan = 0x7fff;

template <class T>
T load(const std::byte* buffer, std::int64_t index) {
  T value;
  std::memcpy(&value, buffer + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

float from_f16(std::uint16_t code) {
  const int exponent = (code >> 10) & 0x1f, fraction = code & 0x3ff;
  float magnitude = 0.0f;
  if (exponent == 0x1f) {
    magnitude = fraction ? std::bit_cast<float>(0x7fffffffu) : HUGE_VALF;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return std::copysign(magnitude, (code & 0x8000) ? -1.0f : 1.0f);
}

/// The upper half of the f32, rounded.
std::uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

std::uint16_t to_f16(float x) {
  constexpr int kSmallest = -24, kLeastNormal = -14, kFraction = 10;
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const float magnitude = std::abs(x);
  if (magnitude >= 65520.0f) return sign | 0x7c00;  // halfway from the largest to the next power
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int unit =
      exponent - 1 < kLeastNormal || magnitude == 0.0f ? kSmallest : exponent - 1 - kFraction;
  // Exact but for the rounding to an integer, which is to nearest even in the standard mode.
  const auto steps = static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry into the next power of two is right as it stands.
  return static_cast<std::uint16_t>(sign | (((unit - kSmallest) << kFraction) + steps));
}

}  // namespace

float element_of(const std::byte* buffer, manifest::Format format, std::int64_t index) {
  switch (format) {
    case manifest::Format::f32:
    case manifest::Format::tf32:
      return load<float>(buffer, index);
    case manifest::Format::i32:
      return static_cast<float>(load<std::int32_t>(buffer, index));
    case manifest::Format::bf16:
      return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(buffer, index)} << 16);
    case manifest::Format::f16:
      return from_f16(load<std::uint16_t>(buffer, index));
  }
  return 0.0f;
}

std::uint16_t narrowed(manifest::Format format, float x) {
  if (std::isnan(x)) return kNan;
  return format == manifest::Format::f16 ? to_f16(x) : to_bf16(x);
}

}  // namespace halftone
