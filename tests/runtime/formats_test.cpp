// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 as the runtime reads and writes them, against their definitions.
#include "formats.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

using halftone::element_of;
using halftone::narrowed;
using halftone::encoding::Element;

namespace {

/// F1, from the bits' meaning, in double.
double value_of(std::uint16_t code, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = (code & ((1 << fraction_bits) - 1)) / std::exp2(fraction_bits);
  const double sign = code >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0.0 ? sign * INFINITY : NAN;
  return exponent == 0 ? sign * fraction * std::exp2(1 - bias)
                       : sign * (1.0 + fraction) * std::exp2(exponent - bias);
}

float read(Element format, std::uint16_t code) {
  std::byte bytes[sizeof code];
  std::memcpy(bytes, &code, sizeof code);
  return element_of(bytes, format, 0);
}

struct Narrow {
  Element format;
  int exponent_bits, fraction_bits;
};

constexpr Narrow kNarrow[] = {{Element::f16, 5, 10}, {Element::bf16, 8, 7}};

}  // namespace

TEST_CASE("every code of f16 and bf16 is read as what it means and written back") {
  for (const auto& [format, exponent_bits, fraction_bits] : kNarrow) {
    for (std::uint32_t i = 0; i <= 0xffff; ++i) {
      const auto code = static_cast<std::uint16_t>(i);
      const double expected = value_of(code, exponent_bits, fraction_bits);
      const float value = read(format, code);
      CAPTURE(i);
      if (std::isnan(expected)) {
        REQUIRE(std::isnan(value));
        REQUIRE(narrowed(format, value) == 0x7fff);
        continue;
      }
      REQUIRE(value == expected);
      REQUIRE(std::signbit(value) == (code >> 15 != 0));
      REQUIRE(narrowed(format, value) == code);
    }
  }
}

TEST_CASE("what lies between two codes goes to the nearer one, a tie to the even one") {
  for (const auto& [format, exponent_bits, fraction_bits] : kNarrow) {
    const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
    for (std::uint32_t i = 0; i < infinity; ++i) {
      const auto code = static_cast<std::uint16_t>(i), next = static_cast<std::uint16_t>(i + 1);
      const double low = value_of(code, exponent_bits, fraction_bits);
      // Past the largest value: as if the exponents went on.
      const double high = next == infinity ? std::exp2((1 << (exponent_bits - 1)))
                                           : value_of(next, exponent_bits, fraction_bits);
      const auto middle = static_cast<float>((low + high) / 2);
      CAPTURE(i);
      REQUIRE(static_cast<double>(middle) == (low + high) / 2);
      REQUIRE(narrowed(format, middle) == (code % 2 == 0 ? code : next));
      REQUIRE(narrowed(format, std::nextafter(middle, 0.0f)) == code);
      REQUIRE(narrowed(format, std::nextafter(middle, INFINITY)) == next);
      REQUIRE(narrowed(format, -middle) == ((code % 2 == 0 ? code : next) | 0x8000));
    }
  }
}

TEST_CASE("f32, tf32 and i32 are read by index") {
  const float floats[] = {1.5f, -2.25f};
  const std::int32_t integers[] = {3, -7};
  const auto* bytes = reinterpret_cast<const std::byte*>(floats);
  CHECK(element_of(bytes, Element::f32, 1) == -2.25f);
  CHECK(element_of(bytes, Element::tf32, 0) == 1.5f);
  CHECK(element_of(reinterpret_cast<const std::byte*>(integers), Element::i32, 1) == -7.0f);
}
