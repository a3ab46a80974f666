// SPDX-License-Identifier: Apache-2.0
// Every format against its definition: the list of its values and a search in it.
#include "formats.hpp"

#include <doctest/doctest.h>

#include <string>

#include "representable.hpp"

using namespace halftone::simulator;
using namespace halftone::tests;

TEST_CASE("every code reads as the value that the format's formula gives") {
  for (const Definition& d : kDefinitions) {
    CAPTURE(std::string(d.name));
    const std::vector<double> values = finite_values(d);
    std::uint32_t wrong = 0;
    for (std::uint32_t code = 0; code < d.values; ++code) {
      const std::uint32_t shifted = code << code_shift(d);
      wrong += decode(d.format, shifted) != values[code];
      wrong += decode(d.format, shifted | sign_of(d)) != -values[code];
      wrong += !std::signbit(decode(d.format, shifted | sign_of(d)));
    }
    CHECK(wrong == 0);
    if (d.has_infinity) CHECK(decode(d.format, d.values << code_shift(d)) == INFINITY);
    if (d.nan) CHECK(std::isnan(decode(d.format, d.nan)));
  }
}

TEST_CASE(
    "every format is written with the nearest, truncated or directed value at all boundaries") {
  constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::toward_zero,
                                     Rounding::upward, Rounding::downward, Rounding::nearest_away};
  for (const Definition& d : kDefinitions) {
    CAPTURE(std::string(d.name));
    const std::vector<double> values = finite_values(d);
    const std::vector<float> inputs = boundaries(values, d.values > 4096 ? 7 : 1);
    for (const Rounding rounding : kRoundings)
      for (const int flags : {0, 1, 2, 3}) {
        const Encoding how{rounding, (flags & 1) != 0, (flags & 2) != 0};
        CAPTURE(static_cast<int>(rounding));
        CAPTURE(flags);
        std::uint32_t wrong = 0;
        float culprit = 0;
        for (const float x : inputs) {
          if (encode(d.format, x, how) == rounded_code(d, values, x, how)) continue;
          ++wrong, culprit = x;
        }
        CAPTURE(culprit);
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("the branch-free conversions equal the general ones") {
  std::uint32_t wrong = 0;
  for (const int which : {0, 1}) {
    const Definition& d = kDefinitions[which];
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      const auto narrow = static_cast<std::uint16_t>(code);
      const float fast = which ? bf16_value(narrow) : f16_value(narrow);
      wrong += std::bit_cast<std::uint32_t>(fast) !=
               std::bit_cast<std::uint32_t>(decode(d.format, code));
    }
    for (const float x : boundaries(finite_values(d), 1))
      wrong += (which ? bf16_code(x) : f16_code(x)) != encode(d.format, x);
  }
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 9973) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    wrong += f16_code(x) != encode(NumberFormat::f16, x);
    wrong += bf16_code(x) != encode(NumberFormat::bf16, x);
  }
  CHECK(wrong == 0);
}

TEST_CASE("ue8m0 is the power of two at or below, or at or above") {
  struct Case {
    float value;
    std::uint32_t down, up, up_finite;
  };
  const float largest = std::numeric_limits<float>::max();
  const Case cases[] = {
      {1.0f, 127, 127, 127},     {1.5f, 127, 128, 128},         {-3.0f, 128, 129, 129},
      {0.0f, 0, 0, 0},           {0x1p-127f, 0, 0, 0},          {0x1p-149f, 0, 0, 0},
      {0x1.8p-127f, 0, 1, 1},    {0x1p-126f, 1, 1, 1},          {largest, 254, 255, 254},
      {INFINITY, 255, 255, 254}, {std::nanf(""), 255, 255, 255}};
  for (const Case& c : cases) {
    CAPTURE(c.value);
    CHECK(encode(NumberFormat::ue8m0, c.value, {Rounding::toward_zero}) == c.down);
    CHECK(encode(NumberFormat::ue8m0, c.value, {Rounding::upward}) == c.up);
    CHECK(encode(NumberFormat::ue8m0, c.value, {Rounding::upward, true}) == c.up_finite);
  }
  for (std::uint32_t code = 0; code < 255; ++code)
    CHECK(decode(NumberFormat::ue8m0, code) == std::exp2(static_cast<int>(code) - 127));
}

TEST_CASE("stochastic rounding goes up in as many of the random patterns as the fraction says") {
  const NumberFormat format =
      NumberFormat::e4m3;  // 1 + k/256: the places below 1/8 are k % 32 of 32
  for (int k = 0; k < 256; k += 5) {
    const double x = 1 + k / 256.0;
    int sum = 0;
    for (std::uint32_t bits = 0; bits < 256; ++bits)
      sum += static_cast<int>(encode(format, x, {Rounding::stochastic, true}, {bits, 8}));
    CHECK(sum == 256 * (0x38 + k / 32) + 8 * (k % 32));
    CHECK(encode(format, -x, {Rounding::stochastic, true}, {255, 8}) ==
          (encode(format, x, {Rounding::stochastic, true}, {255, 8}) | 0x80));
  }
}

TEST_CASE("pairs keep the first operand in the upper half") {
  CHECK(encode_pair(NumberFormat::f16, 1.0, 2.0) == 0x3c004000u);
  CHECK(encode_pair(NumberFormat::bf16, -1.0, 2.0) == 0xbf804000u);
  CHECK(encode_pair(NumberFormat::e4m3, 1.0, -2.0) == 0x38c0u);
  CHECK(encode_pair(NumberFormat::e2m3, 1.0, -2.0) == 0x0830u);
  CHECK(encode_pair(NumberFormat::e2m1, 1.0, -2.0) == 0x2cu);
  CHECK(encode_pair(NumberFormat::ue8m0, 1.0, 2.0, {Rounding::upward}) == 0x7f80u);
  CHECK(decode_pair(NumberFormat::e2m1, 0x2c).upper == 1.0f);
  CHECK(decode_pair(NumberFormat::e2m1, 0x2c).lower == -2.0f);
  CHECK(decode_pair(NumberFormat::f16, 0x3c00c000u).lower == -2.0f);
}
