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

namespace {

/// The normal distribution's share below x.
double share_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("a truncated normal has the distribution's shares between its ends") {
  const std::vector<float> uniform = drawn(2000, {Initializer::Kind::uniform, 0, 1}, 7, "w");
  struct Case {
    double mean, deviation, low, high;
  };
  for (const Case& c : {Case{0, 1, -2, 2}, Case{0.5, 0.02, 0.25, 0.51}, Case{1, 2, -40, 0},
                        Case{0, 0.5, 2.5, 4}, Case{3, 1, -9, -4}}) {
    CAPTURE(c.low);
    const std::vector<float> values = drawn(
        2000, {Initializer::Kind::truncated_normal, c.mean, c.deviation, c.low, c.high}, 7, "w");
    // Of the tail that has the digits.
    const double side = c.low > c.mean ? -1 : 1;
    const auto place = [&](double value) { return side * (value - c.mean) / c.deviation; };
    double a = share_below(place(c.low)), b = share_below(place(c.high));
    if (side < 0) std::swap(a, b);
    for (std::size_t e = 0; e < values.size(); ++e) {
      CAPTURE(e);
      CHECK(values[e] >= static_cast<float>(c.low));
      CHECK(values[e] <= static_cast<float>(c.high));
      const double share = (share_below(place(values[e])) - a) / (b - a);
      const double rounding = 0x1p-22 * (1 + std::abs(place(values[e]))) *
                              std::max(std::abs(values[e]) / c.deviation, 1.0) / (b - a);
      CHECK(std::abs(share - (uniform[e] + 0x1p-25)) <= std::min(rounding, 1e-3));
    }
  }
  CHECK(drawn(2, {Initializer::Kind::truncated_normal, 3, 0, -2, 2}, 7, "w") ==
        std::vector<float>{2, 2});
}

TEST_CASE("a truncated normal has the variance that scipy.stats.truncnorm(-2, 2).var() says") {
  constexpr std::size_t n = 100000;
  const auto values = drawn(n, {Initializer::Kind::truncated_normal, 0, 1, -2, 2}, 7, "w");
  double mean = 0, variance = 0;
  for (float v : values) mean += v / n;
  for (float v : values) variance += v * v / n;
  CHECK(std::abs(mean) < 5 * std::sqrt(0.7737413 / n));
  CHECK(std::abs(variance - 0.7737413) < 5 * std::sqrt(1.2 / n));
}

TEST_CASE("an orthogonal weight is Q of the QR decomposition whose R has a positive diagonal") {
  struct Case {
    std::size_t rows, columns;
  };
  for (const auto& [rows, columns] : {Case{5, 5}, Case{4, 9}, Case{12, 3}, Case{1, 6}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    std::vector<float> q(rows * columns);
    initialize(q, {Initializer::Kind::orthogonal, 1.5}, 3, "w", static_cast<std::int64_t>(rows));
    const std::vector<float> a = drawn(rows * columns, {Initializer::Kind::normal, 0, 1}, 3, "w");
    const std::size_t count = std::min(rows, columns), size = std::max(rows, columns);
    const auto product = [&](const std::vector<float>& x, std::size_t i,
                             const std::vector<float>& y, std::size_t j) {
      const auto at = [&](std::size_t v, std::size_t e) {
        return rows <= columns ? v * columns + e : e * columns + v;
      };
      double sum = 0;
      for (std::size_t e = 0; e < size; ++e) sum += double{x[at(i, e)]} * y[at(j, e)];
      return sum;
    };
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        CHECK(product(q, i, q, j) == doctest::Approx(i == j ? 2.25 : 0).epsilon(1e-6));
        if (j < i) CHECK(std::abs(product(q, i, a, j)) < 1e-5);  // R has nothing below its diagonal
      }
      CHECK(product(q, i, a, i) > 0);
    }
  }
}
