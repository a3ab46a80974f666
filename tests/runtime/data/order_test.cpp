// SPDX-License-Identifier: Apache-2.0
#include "data/order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

using namespace halftone::data;

namespace {

std::vector<std::int64_t> all_of(std::int64_t rows, std::uint64_t seed, std::int64_t epoch) {
  const Order order(rows, seed, epoch);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < rows; ++i) all.push_back(order[i]);
  return all;
}

/// Pearson's statistic of counts that should all be equal. It is compared with quantiles of the
/// chi-squared distribution at 1 - 1e-6.
double chi_squared(const std::vector<std::int64_t>& counts) {
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const double expected = static_cast<double>(sum) / static_cast<double>(counts.size());
  double statistic = 0.0;
  for (const std::int64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    statistic += off * off / expected;
  }
  return statistic;
}

}  // namespace

TEST_CASE("an order has every row once, for any number of rows") {
  for (std::int64_t rows = 1; rows <= 300; ++rows) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      std::vector<std::int64_t> all = all_of(rows, seed, 7);
      std::ranges::sort(all);
      for (std::int64_t i = 0; i < rows; ++i) REQUIRE(all[static_cast<std::size_t>(i)] == i);
    }
  }
  const std::int64_t many = (std::int64_t{1} << 62) + 12345;  // no row of such a number is kept
  const Order order(many, 1, 0);
  CHECK(order[0] != order[1]);
  CHECK(order[many - 1] < many);
}

TEST_CASE("seeds and epochs make orders of their own, to the highest bit") {
  const auto order = all_of(1000, 1, 0);
  CHECK(order == all_of(1000, 1, 0));
  CHECK(order != all_of(1000, 2, 0));
  CHECK(order != all_of(1000, 1, 1));
  CHECK(order != all_of(1000, 1 + (std::uint64_t{1} << 63), 0));
  CHECK(order != all_of(1000, 1, std::int64_t{1} << 32));
}

TEST_CASE("all permutations of a few rows are equally frequent") {
  // Of 5, 23, 119 and 719 degrees of freedom.
  constexpr struct {
    std::int64_t rows;
    double most;
  } kCases[] = {{3, 37.5}, {4, 71.2}, {5, 207.5}, {6, 913.9}};
  for (const auto& [rows, most] : kCases) {
    std::map<std::vector<std::int64_t>, std::int64_t> seen;
    std::size_t permutations = 1;
    for (std::int64_t i = 2; i <= rows; ++i) permutations *= static_cast<std::size_t>(i);
    for (std::int64_t epoch = 0; epoch < 200 * static_cast<std::int64_t>(permutations); ++epoch)
      ++seen[all_of(rows, 11, epoch)];
    std::vector<std::int64_t> counts;
    for (const auto& [order, count] : seen) counts.push_back(count);
    CAPTURE(rows);
    CHECK(counts.size() == permutations);
    CHECK(chi_squared(counts) < most);
  }
}

TEST_CASE("each row comes to each place, and behind each other, equally often") {
  constexpr std::int64_t kRows = 11, kEpochs = 22000;
  std::vector<std::int64_t> places(kRows * kRows), pairs(kRows * kRows);
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = all_of(kRows, 5, epoch);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto row = static_cast<std::size_t>(order[i]);
      ++places[i * kRows + row];
      if (i > 0) ++pairs[static_cast<std::size_t>(order[i - 1]) * kRows + row];
    }
  }
  std::erase(pairs, 0);  // none follows itself
  CHECK(pairs.size() == kRows * (kRows - 1));
  CHECK(chi_squared(places) < 182.4);  // of 100 degrees of freedom
  CHECK(chi_squared(pairs) < 194.3);   // of 109
}

TEST_CASE("in orders of many rows any row comes behind any other equally often") {
  constexpr std::size_t kRows = 2000, kBins = 20;
  std::vector<std::int64_t> pairs(kBins * kBins);
  for (std::int64_t epoch = 0; epoch < 300; ++epoch) {
    const auto order = all_of(kRows, 6, epoch);
    for (std::size_t i = 1; i < kRows; ++i) {
      const auto bin = [&](std::size_t at) {
        return static_cast<std::size_t>(order[at]) * kBins / kRows;
      };
      ++pairs[bin(i - 1) * kBins + bin(i)];
    }
  }
  CHECK(chi_squared(pairs) < 548.1);  // of 399
}

TEST_CASE("exactly as many rows are drawn as are wanted, and rows that are added move few") {
  const auto of_1000 = drawn_rows(1000, 200, 3), of_1100 = drawn_rows(1100, 220, 3);
  CHECK(std::ranges::count(of_1000, true) == 200);
  CHECK(std::ranges::count(of_1100, true) == 220);
  CHECK(of_1000 != drawn_rows(1000, 200, 4));
  int moved = 0;
  for (std::size_t i = 0; i < of_1000.size(); ++i) moved += of_1000[i] != of_1100[i];
  CHECK(moved <= 20);  // drawn anew it would be 320
}
