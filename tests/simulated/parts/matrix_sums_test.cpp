// SPDX-License-Identifier: Apache-2.0
// Sums of matrix products against integers: inputs are small multiples of powers of two, so that
// every sum is known.
#include "matrix_sums.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace halftone::simulator;

namespace {

constexpr AccumulatorFormat kFloat = AccumulatorFormat::f32, kHalf = AccumulatorFormat::f16;

// One element of d for a row of `a` and a column of `b`.
float sum_of(const std::vector<float>& a, const std::vector<float>& b, float c,
             const SumRules& rules) {
  float d = 0;
  multiply_add(a.data(), b.data(), &c, &d, 1, 1, static_cast<int>(a.size()), rules);
  return d;
}

// The integer sum of terms, each cut towards zero to a multiple of 2^drop, where 2^drop is the last
// of `kept` places of the largest; then cut to `places` significant places.
std::int64_t cut(std::int64_t x, int drop) {
  return drop <= 0 ? x : x / (std::int64_t{1} << drop) * (std::int64_t{1} << drop);
}
int places_of(std::int64_t x) { return std::bit_width(static_cast<std::uint64_t>(x < 0 ? -x : x)); }
std::int64_t pessimistic(std::int64_t c, const std::vector<std::int64_t>& products, int block,
                         int kept, int places) {
  std::int64_t sum = c;
  for (std::size_t start = 0; start < products.size(); start += block) {
    int largest = places_of(sum);
    for (int i = 0; i < block; ++i) largest = std::max(largest, places_of(products[start + i]));
    std::int64_t next = cut(sum, largest - kept);
    for (int i = 0; i < block; ++i) next += cut(products[start + i], largest - kept);
    sum = cut(next, places_of(next) - places);
  }
  return sum;
}

}  // namespace

TEST_CASE("the exact sum loses nothing before its one rounding") {
  // 2^24 + 1 + 1 - 2^24 would lose the ones in f32.
  CHECK(sum_of({1, 1, 1, 1}, {0x1p24f, 1, 1, -0x1p24f}, 0, {}) == 2.0f);
  CHECK(sum_of({0x1p12f, 1}, {0x1p12f, 1}, 0.5f, {}) == 0x1p24f + 2);  // 2^24 + 1.5 ties nowhere
  CHECK(sum_of({1, 1}, {2048, 1}, 0, {.accumulator = kHalf}) == 2048.0f);  // a tie to even in f16
  CHECK(sum_of({1, 1}, {2048, 1}, 2, {.accumulator = kHalf}) == 2052.0f);
}

TEST_CASE("the truncating sum drops what lies below the largest term") {
  const SumRules rules = truncating_rules(2, kFloat);
  CHECK(rules.block == 8);
  CHECK(sum_of({1, 1, 1, 1}, {0x1p24f, 1, 1, -0x1p24f}, 0, rules) == 0.0f);
  CHECK(sum_of({1, 1, 1}, {1, -0x1p-24f, -0x1p-24f}, 0, rules) == 1.0f);
  CHECK(sum_of({1, 1}, {0x1p23f, 1.5f}, 0, rules) == 0x1p23f + 1);
  CHECK(sum_of({1, 1}, {-0x1p23f, -1.5f}, 0, rules) == -(0x1p23f + 1));
  CHECK(sum_of({1}, {3}, 0x1p-140f, rules) == 3.0f);
  CHECK(sum_of({0, 0}, {1, 1}, 0, rules) == 0.0f);
  CHECK(truncating_rules(1, kFloat).kept_bits == 14);
  CHECK(sum_of({1, 1}, {0x1p14f, 1}, 0, truncating_rules(1, kFloat)) == 0x1p14f);
  CHECK(sum_of({1, 1}, {4096, 3}, 0, truncating_rules(2, kHalf)) == 4096.0f);
}

TEST_CASE("random sums equal integer arithmetic in both modes") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(-2047, 2047), scale(0, 9);
  for (const int bytes : {4, 2, 1})
    for (int trial = 0; trial < 2000; ++trial) {
      CAPTURE(bytes);
      CAPTURE(trial);
      std::vector<float> a, b;
      std::vector<std::int64_t> products;
      std::int64_t exact = value(random) * (std::int64_t{1} << scale(random));
      const std::int64_t c = exact;
      for (int i = 0; i < 32; ++i) {
        const int x = value(random), y = value(random), s = scale(random);
        a.push_back(std::ldexp(static_cast<float>(x), s - 5));
        b.push_back(static_cast<float>(y));
        products.push_back(static_cast<std::int64_t>(x) * y * (1 << s));
        exact += products.back();
      }
      const float start = std::ldexp(static_cast<float>(c), -5);
      CHECK(sum_of(a, b, start, {}) ==
            static_cast<float>(std::ldexp(static_cast<double>(exact), -5)));
      const SumRules rules = truncating_rules(bytes, kFloat);
      const double wanted =
          static_cast<double>(pessimistic(c, products, 16 / bytes, bytes == 1 ? 14 : 24, 24));
      CHECK(sum_of(a, b, start, rules) == std::ldexp(wanted, -5));
    }
}

TEST_CASE("infinities and NaN pass through both modes") {
  for (const SumRules& rules :
       {SumRules{}, truncating_rules(2, kFloat), truncating_rules(2, kHalf)}) {
    CHECK(sum_of({1, INFINITY}, {1, 1}, 0, rules) == INFINITY);
    CHECK(sum_of({1, 1}, {1, 1}, -INFINITY, rules) == -INFINITY);
    const float nan = sum_of({INFINITY, INFINITY}, {1, -1}, 0, rules);
    CHECK(std::bit_cast<std::uint32_t>(nan) == 0x7fffffffu);
    CHECK(std::bit_cast<std::uint32_t>(sum_of({0}, {INFINITY}, 0, rules)) == 0x7fffffffu);
  }
  CHECK(sum_of({256}, {256}, 0, {.accumulator = kHalf}) == INFINITY);
}

TEST_CASE("a whole product has every row and column in its place") {
  constexpr int kM = 16, kN = 24, kK = 8;
  std::vector<float> a(kM * kK), b(kK * kN), c(kM * kN), d(kM * kN);
  for (int i = 0; i < kM * kK; ++i) a[i] = static_cast<float>(i % 13 - 6);
  for (int i = 0; i < kK * kN; ++i) b[i] = static_cast<float>(i % 17 - 8);
  for (int i = 0; i < kM * kN; ++i) c[i] = static_cast<float>(i);
  for (const bool truncating : {false, true}) {
    multiply_add(a.data(), b.data(), c.data(), d.data(), kM, kN, kK, {.truncating = truncating});
    int wrong = 0;
    for (int m = 0; m < kM; ++m)
      for (int n = 0; n < kN; ++n) {
        int sum = m * kN + n;
        for (int k = 0; k < kK; ++k) sum += ((m * kK + k) % 13 - 6) * ((k * kN + n) % 17 - 8);
        wrong += d[m * kN + n] != static_cast<float>(sum);
      }
    CHECK(wrong == 0);
  }
}
