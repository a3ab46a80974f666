// SPDX-License-Identifier: Apache-2.0
// What is counted of a value, on numbers whose counts a reader sees.
#include "halftone/value_statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace halftone {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

InspectedValue value_of(const std::vector<float>& values) {
  InspectedValue value{};
  value.layer = "fc1";
  value.op = "linear";
  value.pass = "forward";
  value.role = "activation";
  value.values = values;
  return value;
}

TEST_CASE("magnitudes are counted by their powers of two") {
  const std::vector<float> values = {0.0f, -0.0f,     1.0f, -1.5f,    2.0f,
                                     0.3f, kInfinity, kNan, 0x1p-149f};
  const ValueStatistics statistics = statistics_of(value_of(values));
  CHECK(statistics.layer == "fc1");
  CHECK(statistics.elements == 9);
  CHECK(statistics.zeros == 2);
  CHECK(statistics.infinite == 1);
  CHECK(statistics.not_a_number == 1);
  CHECK(statistics.least == 0x1p-149);
  CHECK(statistics.greatest == 2.0);
  CHECK(statistics.first_exponent == -149);
  REQUIRE(statistics.exponents.size() == 151);  // up to 2^1
  CHECK(statistics.exponents[0] == 1);
  CHECK(statistics.exponents[147] == 1);  // 0.3, in [2^-2, 2^-1)
  CHECK(statistics.exponents[149] == 2);  // 1 and 1.5
  CHECK(statistics.exponents[150] == 1);
  CHECK(statistics.format.empty());
}

TEST_CASE("a rounding is told by its error and by what it lost") {
  // f8e4m3: 448 is the largest number, half of 2^-9 becomes 0, 1.0625 becomes 1.
  const std::vector<float> before = {1000.0f, 448.0f, 0x1p-11f, 0.0f, 1.0625f, kInfinity};
  const std::vector<float> after = {448.0f, 448.0f, 0.0f, 0.0f, 1.0f, 448.0f};
  InspectedValue value = value_of(after);
  value.before = before;
  value.format = "f8e4m3 saturate";
  value.rule = "everywhere : store f8e4m3 saturate";
  ValueStatistics statistics = statistics_of(value);
  CHECK(statistics.format == "f8e4m3 saturate");
  CHECK(statistics.rule == "everywhere : store f8e4m3 saturate");
  CHECK(statistics.saturated == 1);
  CHECK(statistics.flushed == 1);
  CHECK(statistics.overflowed == 0);
  const double differences = 552.0 * 552.0 + std::pow(2.0, -22) + 0.0625 * 0.0625;
  const double squares = 1e6 + 448.0 * 448.0 + std::pow(2.0, -22) + 1.0625 * 1.0625;
  CHECK(statistics.error == doctest::Approx(std::sqrt(differences / squares)).epsilon(1e-12));

  const std::vector<float> lost = {kNan, kNan, 0.0f, 0.0f, 1.0f, kNan};
  value.values = lost;
  value.format = "f8e4m3";
  statistics = statistics_of(value);
  CHECK(statistics.overflowed == 2);  // infinity was not finite before
  CHECK(statistics.saturated == 0);
  CHECK(statistics.not_a_number == 3);
}

TEST_CASE("a value without anything in it has no exponents") {
  const ValueStatistics statistics = statistics_of(value_of({0.0f, kNan}));
  CHECK(statistics.exponents.empty());
  CHECK(statistics.least == 0.0);
  CHECK(statistics.greatest == 0.0);
}

}  // namespace
}  // namespace halftone
