// SPDX-License-Identifier: Apache-2.0
#include "initialize.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "halftone/manifest/checksum.hpp"
#include "philox.hpp"

using namespace halftone;
using manifest::Initializer;

TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
  // Random123 1.14, tests/kat_vectors.
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

namespace {

std::vector<float> drawn(std::size_t count, Initializer initializer, std::uint64_t seed,
                         std::string_view name) {
  std::vector<float> values(count);
  initialize(values, initializer, seed, name);
  return values;
}

constexpr Initializer kUniform{Initializer::Kind::uniform, -2.0, 1.0};
constexpr Initializer kNormal{Initializer::Kind::normal, 3.0, 0.5};

}  // namespace

TEST_CASE("XXH3-64 of nothing is the published value") {
  CHECK(manifest::hash_of(std::string_view{}) == 0x2d06800538d394c2);
}

TEST_CASE("a uniform element is the documented formula of one Philox block") {
  const std::uint64_t seed = 0x123456789abcdef0, stream = manifest::hash_of(std::string_view("w"));
  const std::vector<float> values = drawn(10, kUniform, seed, "w");
  for (std::uint32_t e = 0; e < values.size(); ++e) {
    const auto words = philox4x32(
        {e, 0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
        {0x9abcdef0, 0x12345678});
    CHECK(values[e] == static_cast<float>(-2.0 + 3.0 * ((words[0] >> 8) / 16777216.0)));
  }
}

TEST_CASE("values depend on seed, name and index, and on nothing else") {
  const auto values = drawn(100, kUniform, 1, "fc.weight");
  CHECK(values == drawn(100, kUniform, 1, "fc.weight"));
  CHECK(values != drawn(100, kUniform, 2, "fc.weight"));
  CHECK(values != drawn(100, kUniform, 1 + (std::uint64_t{1} << 32), "fc.weight"));
  CHECK(values != drawn(100, kUniform, 1, "fc.bias"));
  const auto longer = drawn(200, kUniform, 1, "fc.weight");
  CHECK(std::equal(values.begin(), values.end(), longer.begin()));
}

TEST_CASE("uniform and normal draws have the moments of their distributions") {
  // Means and variances of n draws lie within 5 standard errors of the distribution's.
  constexpr std::size_t n = 100000;
  struct Case {
    Initializer initializer;
    double mean, variance, fourth;  // fourth central moment
  };
  const Case cases[] = {{kUniform, -0.5, 9.0 / 12.0, 81.0 / 80.0},
                        {kNormal, 3.0, 0.25, 3 * 0.0625}};
  for (const Case& c : cases) {
    const auto values = drawn(n, c.initializer, 7, "w");
    double mean = 0, variance = 0;
    for (float v : values) mean += v / n;
    for (float v : values) variance += (v - c.mean) * (v - c.mean) / n;
    CHECK(std::abs(mean - c.mean) < 5 * std::sqrt(c.variance / n));
    CHECK(std::abs(variance - c.variance) <
          5 * std::sqrt((c.fourth - c.variance * c.variance) / n));
  }
  const auto [low, high] = std::ranges::minmax(drawn(n, kUniform, 7, "w"));
  CHECK(low >= -2.0f);
  CHECK(high <= 1.0f);
}

TEST_CASE("a constant initialiser writes its value") {
  CHECK(drawn(3, {Initializer::Kind::constant, 0.25, 0.0}, 1, "b") ==
        std::vector<float>{0.25f, 0.25f, 0.25f});
}
