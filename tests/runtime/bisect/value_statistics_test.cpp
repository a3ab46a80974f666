// SPDX-License-Identifier: Apache-2.0
// What is counted of a value, on numbers whose counts a reader sees.
#include "halftone/value_statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "glob.hpp"
#include "halftone/description/glob.hpp"
#include "message_of.hpp"

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
  CHECK(statistics.overflowed_share() == 2.0 / 6);
}

TEST_CASE("what became 0 is a share of what was not, and magnitudes are those before, too") {
  // Two of three that were not 0 became 0, of five elements.
  const std::vector<float> before = {0.0f, 0.0f, 0x1p-12f, -0x1p-13f, 2.5f};
  const std::vector<float> after = {0.0f, 0.0f, 0.0f, -0.0f, 2.5f};
  InspectedValue value = value_of(after);
  value.before = before;
  value.format = "f8e4m3";
  const ValueStatistics statistics = statistics_of(value);
  CHECK(statistics.flushed == 2);
  CHECK(statistics.zeros == 4);
  CHECK(statistics.flushed_share() == 2.0 / 3);
  CHECK(statistics.overflowed_share() == 0.0);
  CHECK(statistics.first_exponent == 1);
  CHECK(statistics.exponents == std::vector<std::int64_t>{1});
  CHECK(statistics.first_exponent_before == -13);
  REQUIRE(statistics.exponents_before.size() == 15);
  CHECK(statistics.exponents_before[0] == 1);
  CHECK(statistics.exponents_before[1] == 1);
  CHECK(statistics.exponents_before[14] == 1);
  CHECK(ValueStatistics().flushed_share() == 0.0);
}

TEST_CASE("under one scale the greatest number is the largest, under blocks none is") {
  // The scale 1/4: 448 / 4 = 112 is the largest, and 120 the number that would follow.
  const std::vector<float> before = {500.0f, 121.0f, 115.0f, 112.0f, 1.0f};
  const std::vector<float> after = {112.0f, 112.0f, 112.0f, 112.0f, 1.0f};
  InspectedValue value = value_of(after);
  value.before = before;
  const auto saturated = [&](const char* format) {
    value.format = format;
    return statistics_of(value).saturated;
  };
  CHECK(saturated("f8e4m3 scaled tensor f8e8m0 saturate") ==
        1);  // 121 is less than an eighth above
  CHECK(saturated("f8e4m3 scaled delayed 3 f8e8m0 saturate") == 1);
  CHECK(saturated("f8e4m3 scaled block 32 f8e8m0 saturate") == 0);
  CHECK(saturated("f8e4m3 saturate") == 0);  // 448 is none of them
  // Far below, where numbers are whole steps apart, the greatest one is no largest.
  const std::vector<float> small_before = {1.4f, 0.9f}, small_after = {1.0f, 1.0f};
  value.before = small_before;
  value.values = small_after;
  CHECK(saturated("f8e4m3 scaled delayed 3 f8e8m0 saturate") == 0);
}

TEST_CASE("samples ask for a number of steps or a share of the time") {
  const auto refusal = [](const ValueSamplingOptions& options) {
    return message_of([&] { ValueSampling sampling(options); });
  };
  CHECK(refusal({.every = -1}) == "sample values: every is -1 steps; give 0 or more");
  CHECK(refusal({.share_of_time = 1.5}) ==
        "sample values: share_of_time is 1.5; give a number from 0 to 1");
  CHECK(refusal({.every = 0, .share_of_time = 0}) ==
        "sample values: every and share_of_time are both 0; give a number of steps, or a share of "
        "the time, as 0.02");
}

TEST_CASE("globs of a running program are those of rules") {
  const char* const globs[] = {"**",    "*",           "fc?",        "h/*/fc",     "h/**",
                               "{a,b}", "h/{0,1}/fc*", "**/fc",      "{fc*,h/**}", "a{b",
                               "",      "?*",          "fc1",        "{,x}fc1",    "*c1",
                               "**c*",  "h/*",         "{h/*,?}/fc", "***",        "h/*/{fc,proj}"};
  const char* const names[] = {"",         "a",   "b",    "fc1", "fc", "h/0/fc",  "h/1/fc2",
                               "h/1/a/fc", "a{b", "xfc1", "h/",  "/",  "h/0/proj"};
  int matched = 0;
  for (const char* glob : globs)
    for (const char* name : names) {
      CAPTURE(std::string(glob));
      CAPTURE(std::string(name));
      CHECK(glob_matches(std::string_view(glob), std::string_view(name)) ==
            description::glob_matches(glob, name));
      matched += glob_matches(std::string_view(glob), std::string_view(name));
    }
  CHECK(matched > 50);
}

TEST_CASE("a value without anything in it has no exponents") {
  const ValueStatistics statistics = statistics_of(value_of({0.0f, kNan}));
  CHECK(statistics.exponents.empty());
  CHECK(statistics.least == 0.0);
  CHECK(statistics.greatest == 0.0);
}

}  // namespace
}  // namespace halftone
