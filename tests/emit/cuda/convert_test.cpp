// SPDX-License-Identifier: Apache-2.0
// convert.cuh and float8.cuh on the host: every code read, and rounding where it turns.
// conversions_all walks over all inputs.
#include <cstring>
#include <random>

#include "conversions.hpp"
#include "doctest/doctest.h"

namespace {

/// Around every number of the format and halfway to the next, and numbers past the largest.
std::vector<float> turning_points(const oracle::Format& format) {
  std::vector<float> points = {INFINITY, std::numeric_limits<float>::max(), 0x1p-149f};
  for (std::size_t i = 0; i + 1 < format.numbers().size(); ++i)
    for (double number :
         {format.numbers()[i], (format.numbers()[i] + format.numbers()[i + 1]) / 2}) {
      const float x = static_cast<float>(number);
      for (float near : {std::nextafter(x, 0.0f), x, std::nextafter(x, INFINITY)})
        points.push_back(near);
    }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i)
    points.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x7fffffffu));
  return points;
}

}  // namespace

TEST_CASE("rounding picks the neighbour that F2 names, and F3's NaN") {
  for (const conversions::Rounding& rounding : conversions::roundings()) {
    const oracle::Format& format = rounding.format();
    for (float point : turning_points(format))
      for (float x : {point, -point}) {
        const std::uint32_t computed = rounding.computed(x);
        const std::uint32_t expected = format.round(x, rounding.toward_zero);
        if (computed == expected) continue;
        CAPTURE(rounding.name);
        CAPTURE(x);
        CHECK(computed == expected);
        return;
      }
  }
}

TEST_CASE("rounding agrees with CUDA's host headers and F16C where there are any") {
  for (const conversions::Other& other : conversions::other_oracles()) {
    const auto rounding =
        std::find_if(conversions::roundings().begin(), conversions::roundings().end(),
                     [&](const auto& r) { return std::strcmp(r.name, other.rounding) == 0; });
    REQUIRE(rounding != conversions::roundings().end());
    for (float point : turning_points(rounding->format()))
      for (float x : {point, -point}) {
        const std::uint32_t computed = rounding->computed(x), expected = other.expected(x);
        const bool is_nan = rounding->format().is_nan(expected);  // with a sign, or without
        if (is_nan ? rounding->format().is_nan(computed) : computed == expected) continue;
        CAPTURE(other.name);
        CAPTURE(rounding->name);
        CAPTURE(x);
        CHECK(computed == expected);
        return;
      }
  }
}

TEST_CASE("all codes are read exactly") {
  for (const conversions::Reading& reading : conversions::readings())
    for (std::uint32_t code = 0; code < reading.format().codes(); ++code) {
      const auto stored = static_cast<std::uint16_t>(code);
      const float computed = reading.computed(stored);
      const double expected =
          reading.expected ? reading.expected(stored) : reading.format().read(code);
      const bool equal = std::isnan(expected) ? std::isnan(computed)
                                              : computed == expected && std::signbit(computed) ==
                                                                            std::signbit(expected);
      if (equal) continue;
      CAPTURE(reading.name);
      CAPTURE(reading.oracle);
      CAPTURE(code);
      CHECK(computed == expected);
      return;
    }
}

TEST_CASE("a stored -0 reads as -0") {
  using namespace halftone::kernels;
  CHECK(bits_of(widen(minus_zero(static_cast<const f16*>(nullptr)))) == 0x80000000u);
  CHECK(bits_of(widen(minus_zero(static_cast<const bf16*>(nullptr)))) == 0x80000000u);
  CHECK(bits_of(widen(minus_zero(static_cast<const float*>(nullptr)))) == 0x80000000u);
  CHECK(bits_of(widen(minus_zero(static_cast<const f8e4m3*>(nullptr)))) == 0x80000000u);
  CHECK(bits_of(widen(minus_zero(static_cast<const f8e5m2*>(nullptr)))) == 0x80000000u);
}
