// SPDX-License-Identifier: Apache-2.0
// Floats of 16 bits and fewer as the runtime reads and writes them, against their definitions.
#include "formats.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "halftone/encoding/traits.hpp"

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

namespace {

/// F1 of a float of 8 bits and fewer: where its numbers end, and what the code behind them is.
struct Short {
  Element format;
  int bits, exponent_bits, fraction_bits;
  std::uint32_t largest;
  double beyond;  ///< what would follow the largest number
  std::uint32_t overflowed, nan;
};

constexpr Short kShort[] = {
    {Element::f8e4m3, 8, 4, 3, 0x7e, 480, 0x7f, 0x7f},
    {Element::f8e5m2, 8, 5, 2, 0x7b, 65536, 0x7c, 0x7f},
    {Element::f6e3m2, 6, 3, 2, 0x1f, 32, 0x1f, 0x1f},
    {Element::f6e2m3, 6, 2, 3, 0x1f, 8, 0x1f, 0x1f},
    {Element::f4e2m1, 4, 2, 1, 0x7, 8, 0x7, 0x7},
};

double number_of(const Short& format, std::uint32_t code) {
  if (code > format.largest) return format.beyond;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(code >> format.fraction_bits);
  const double fraction =
      (code & ((1u << format.fraction_bits) - 1)) / std::exp2(format.fraction_bits);
  return exponent == 0 ? fraction * std::exp2(1 - bias)
                       : (1.0 + fraction) * std::exp2(exponent - bias);
}

}  // namespace

TEST_CASE("floats of 8 bits and fewer are read, rounded to the nearest, and saturate where told") {
  for (const Short& format : kShort) {
    CAPTURE(static_cast<int>(format.format));
    const std::uint32_t sign = 1u << (format.bits - 1);
    const bool is_nan = format.overflowed == 0x7f;  // which has no sign
    for (std::uint32_t code = 0; code <= format.largest; ++code) {
      CAPTURE(code);
      const double low = number_of(format, code), high = number_of(format, code + 1);
      REQUIRE(halftone::value_of(format.format, code) == low);
      REQUIRE(halftone::value_of(format.format, code | sign) == -low);
      REQUIRE(narrowed(format.format, static_cast<float>(low)) == code);
      REQUIRE(narrowed(format.format, static_cast<float>(-low)) == (code | sign));
      const std::uint32_t next = code == format.largest ? format.overflowed : code + 1;
      const auto middle = static_cast<float>((low + high) / 2);
      REQUIRE(narrowed(format.format, middle) == (code % 2 == 0 ? code : next));
      REQUIRE(narrowed(format.format, std::nextafter(middle, 0.0f)) == code);
      REQUIRE(narrowed(format.format, std::nextafter(middle, INFINITY)) == next);
    }
    for (const float beyond : {static_cast<float>(format.beyond), 1e30f, INFINITY}) {
      CAPTURE(beyond);
      CHECK(narrowed(format.format, beyond) == format.overflowed);
      CHECK(narrowed(format.format, -beyond) == (format.overflowed | (is_nan ? 0 : sign)));
      CHECK(narrowed(format.format, beyond, true) == format.largest);
      CHECK(narrowed(format.format, -beyond, true) == (format.largest | sign));
    }
    for (const bool saturate : {false, true})
      CHECK(narrowed(format.format, -NAN, saturate) == format.nan);
  }
  CHECK(std::isnan(halftone::value_of(Element::f8e4m3, 0xff)));
  CHECK(halftone::value_of(Element::f8e5m2, 0xfc) == -INFINITY);
  CHECK(std::isnan(halftone::value_of(Element::f8e5m2, 0x7d)));
}

TEST_CASE("a scale is the nearest power of two, and has neither sign nor zero") {
  for (std::uint32_t code = 0; code < 0xff; ++code) {
    const auto exact = static_cast<float>(std::exp2(static_cast<double>(code) - 127));
    CAPTURE(code);
    CHECK(halftone::value_of(Element::f8e8m0, code) == exact);
    CHECK(narrowed(Element::f8e8m0, exact) == code);
    CHECK(narrowed(Element::f8e8m0, -exact) == code);
    CHECK(narrowed(Element::f8e8m0, 1.5f * exact) == code + 1);
    CHECK(narrowed(Element::f8e8m0, std::nextafter(1.5f * exact, 0.0f)) == code);
  }
  CHECK(narrowed(Element::f8e8m0, 0.0f) == 0);
  CHECK(narrowed(Element::f8e8m0, INFINITY) == 0xff);
  CHECK(narrowed(Element::f8e8m0, INFINITY, true) == 0xfe);
  CHECK(narrowed(Element::f8e8m0, NAN, true) == 0xff);
  CHECK(std::isnan(halftone::value_of(Element::f8e8m0, 0xff)));
}

TEST_CASE("f32, tf32 and i32 are read by index") {
  const float floats[] = {1.5f, -2.25f};
  const std::int32_t integers[] = {3, -7};
  const auto* bytes = reinterpret_cast<const std::byte*>(floats);
  CHECK(element_of(bytes, Element::f32, 1) == -2.25f);
  CHECK(element_of(bytes, Element::tf32, 0) == 1.5f);
  CHECK(element_of(reinterpret_cast<const std::byte*>(integers), Element::i32, 1) == -7.0f);
}

TEST_CASE("elements that are read together are those that are read one by one") {
  for (int i = 0; i < halftone::encoding::kElements; ++i) {
    const auto element = static_cast<Element>(i);
    const halftone::encoding::ElementTraits& traits = halftone::encoding::traits(element);
    if (traits.bits < 8) continue;  // held in bytes of others
    CAPTURE(std::string(traits.word));
    const auto size = static_cast<std::size_t>(traits.bits / 8);
    const std::size_t codes = size == 1 ? 0x100 : 0x10000;
    std::vector<std::byte> bytes(size * (codes + 1));
    for (std::size_t code = 0; code < codes; ++code) {
      // Of four bytes and more, codes that differ in all of them.
      const std::uint64_t spread = code * (size > 2 ? 0x9e3779b97f4a7c15u : 1u);
      std::memcpy(bytes.data() + size * (code + 1), &spread, size);
    }
    std::vector<float> values(codes);
    halftone::read_elements(bytes.data(), element, 1, values);
    for (std::size_t code = 0; code < codes; ++code) {
      CAPTURE(code);
      const float expected = element_of(bytes.data(), element, static_cast<std::int64_t>(code) + 1);
      if (std::isnan(expected)) {
        REQUIRE(std::isnan(values[code]));
        continue;
      }
      REQUIRE(values[code] == expected);
      REQUIRE(std::signbit(values[code]) == std::signbit(expected));
    }
  }
}
