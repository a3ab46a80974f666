// SPDX-License-Identifier: Apache-2.0
// Differences of paired losses and their bounds, against tables and draws.
#include "bisect/difference.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace halftone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("quantiles of Student's distribution are those of the incomplete beta function") {
  struct Row {
    double probability;
    std::size_t degrees;
    double quantile;  // mpmath 1.3, by its regularized betainc and a root search
  };
  for (const Row& row :
       {Row{0.95, 1, 6.31375151468}, Row{0.95, 2, 2.91998558035}, Row{0.95, 3, 2.3533634348},
        Row{0.975, 4, 2.7764451052}, Row{0.99, 2, 6.96455673428}, Row{0.995, 11, 3.10580651554},
        Row{0.95, 30, 1.69726088659}, Row{0.9999, 5, 9.67756630088},
        Row{0.975, 200, 1.97189622363}}) {
    CAPTURE(row.probability);
    CAPTURE(row.degrees);
    CHECK(student_quantile(row.probability, row.degrees) ==
          doctest::Approx(row.quantile).epsilon(1e-10));
  }
}

TEST_CASE("a mean difference has bounds of its own deviation") {
  const std::vector<double> losses = {11, 22, 33, 44}, others = {10, 20, 30, 40};
  const Difference difference = difference_of(losses, others, 0.95);
  CHECK(difference.seeds == 4);
  CHECK(difference.failed == 0);
  CHECK(difference.mean == 2.5);
  // The deviation of 1, 2, 3, 4 is sqrt(5/3), that of the mean half of it.
  const double spread = 2.3533634348 * std::sqrt(5.0 / 3.0) / 2;
  CHECK(difference.low == doctest::Approx(2.5 - spread));
  CHECK(difference.high == doctest::Approx(2.5 + spread));
}

TEST_CASE("runs that failed are counted, and pairs whose other run failed are left out") {
  const std::vector<double> losses = {1, std::nan(""), 3, kInfinity, 5};
  const std::vector<double> others = {1, 1, 1, 1, kInfinity};
  const Difference difference = difference_of(losses, others, 0.9);
  CHECK(difference.seeds == 4);
  CHECK(difference.failed == 2);
  CHECK(difference.mean == 1.0);
  const Difference single = difference_of(std::vector<double>{2.0}, std::vector<double>{1.0}, 0.9);
  CHECK(single.mean == 1.0);
  CHECK(single.low == -kInfinity);
  CHECK(single.high == kInfinity);
}

TEST_CASE("a bound holds as often as it says") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.25, 2.0);
  constexpr int kRounds = 4000;
  int below = 0, above = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> losses(5), others(5);
    for (std::size_t i = 0; i < 5; ++i) losses[i] = noise(random);
    const Difference difference = difference_of(losses, others, 0.9);
    below += difference.low <= 0.25;
    above += difference.high >= 0.25;
  }
  // 0.9 of 4000, and four deviations of a binomial count.
  const double four = 4 * std::sqrt(kRounds * 0.9 * 0.1);
  CHECK(std::abs(below - 0.9 * kRounds) < four);
  CHECK(std::abs(above - 0.9 * kRounds) < four);
}

}  // namespace
}  // namespace halftone
