// SPDX-License-Identifier: Apache-2.0
// The processor's products of pairs of bf16 against sums by hand and against the formula.
#include <doctest/doctest.h>
#include <immintrin.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "pair_sum.hpp"

#define WITH_PAIRS __attribute__((target("avx512f,avx512bf16")))

using halftone::tests::pairs::pair_sum;

namespace {

std::uint32_t bf16(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }
float widened(std::uint32_t code) { return std::bit_cast<float>(code << 16); }

std::uint32_t bits(float value) {
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
}

/// A word with the factor of the product that is added first in its upper half.
std::uint32_t word(float first, float second) { return bf16(first) << 16 | bf16(second); }

/// sum + a0 * b0 + a1 * b1 in the last of 16 lanes; the others have zeros.
WITH_PAIRS float sum_of(float sum, std::uint32_t a, std::uint32_t b) {
  constexpr __mmask16 kLast = 0x8000;
  const __m512 start = _mm512_maskz_mov_ps(kLast, _mm512_set1_ps(sum));
  const __m512i left = _mm512_maskz_set1_epi32(kLast, static_cast<int>(a)),
                right = _mm512_set1_epi32(static_cast<int>(b));
  alignas(64) float sums[16];
  _mm512_store_ps(sums, _mm512_dpbf16_ps(start, reinterpret_cast<__m512bh>(left),
                                         reinterpret_cast<__m512bh>(right)));
  return sums[15];
}

float sum_of(float sum, float a0, float b0, float a1, float b1) {
  return sum_of(sum, word(a0, a1), word(b0, b1));
}

}  // namespace

TEST_CASE("the product of the upper halves joins the sum first, then that of the lower halves") {
  CHECK(sum_of(1, 2, 3, 5, 7) == 42);
  // 2^24 + 1 is 2^24 (to even), twice; in one step it would be 2^24 + 2.
  CHECK(sum_of(0x1p24f, 1, 1, 1, 1) == 0x1p24f);
  CHECK(sum_of(0x1p24f, 1, 1, -0x1p12f, 0x1p12f) == 0);
  CHECK(sum_of(0x1p24f, -0x1p12f, 0x1p12f, 1, 1) == 1);
}

TEST_CASE("products are exact, and a sum is rounded once for each") {
  constexpr float kOne = 1.0078125f;  // 1 + 2^-7, whose square has 15 digits
  CHECK(sum_of(0x1p10f, kOne, kOne, 0, 0) == 0x1p10f + 1 + 0x1p-6f + 0x1p-14f + 0.0f);
  CHECK(sum_of(-1, kOne, kOne, 0, 0) == 0x1p-6f + 0x1p-14f);
}

TEST_CASE("subnormal factors and sums are zeros, whatever MXCSR says") {
  const unsigned mode = _mm_getcsr();
  for (const unsigned other : {0x1f80u, 0x7f80u}) {  // to the nearest, toward zero; no flush
    _mm_setcsr(other);
    CHECK(sum_of(0, 0x1p-130f, 0x1p40f, 0, 0) == 0.0f);
    CHECK(sum_of(0, 0x1p-70f, 0x1p-60f, 0, 0) == 0.0f);
    CHECK(sum_of(0, 0x1p-70f, 0x1p-56f, 0, 0) == 0x1p-126f);
    CHECK(sum_of(0x1p-130f, 0, 0, 0, 0) == 0.0f);
    CHECK(sum_of(-0x1p-126f, 0x1.8p-70f, 0x1p-56f, 0, 0) == 0.0f);  // 2^-127 is left
    CHECK(sum_of(0, 0x1.8p-63f, 0x1p-63f, -0x1p-63f, 0x1p-63f) == 0.0f);
    CHECK(sum_of(0x1p12f, 0x1p-6f, 0x1p-6f, 0, 0) == 0x1p12f);  // a tie, to even
    CHECK((_mm_getcsr() & ~0x3fu) == other);                    // but for exceptions
  }
  _mm_setcsr(mode);
}

TEST_CASE("infinities and NaN are what IEEE 754 makes of them, after subnormals are zeros") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(sum_of(0, infinity, 2, 0, 0) == infinity);
  CHECK(std::isnan(sum_of(0, infinity, 0, 0, 0)));
  CHECK(std::isnan(sum_of(0, infinity, 0x1p-130f, 0, 0)));
  CHECK(std::isnan(sum_of(-infinity, infinity, 1, 0, 0)));
  CHECK(sum_of(0, 0x1p127f, 2, 0, 0) == infinity);
}

TEST_CASE("random bits of every kind give what the formula does") {
  std::mt19937 random(3);
  for (int round = 0; round < 300000; ++round) {
    auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    float start = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto near = [&](std::uint32_t exponents) {  // of exponents that meet
      a = (a & 0x83ff83ff) | exponents;
      b = (b & 0x83ff83ff) | exponents;
    };
    if (round % 3 == 1) near(0x3c003c00);
    if (round % 3 == 2) near(0x1f001f00);
    if (round % 3 != 0)
      start = pair_sum(std::array{widened(a >> 16)}, std::array{widened(b & 0xffff)});
    const float wanted = pair_sum(std::array{widened(a >> 16), widened(a & 0xffff)},
                                  std::array{widened(b >> 16), widened(b & 0xffff)}, start);
    const float got = sum_of(start, a, b);
    if (bits(got) == bits(wanted)) continue;
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(start);
    CHECK(bits(got) == bits(wanted));
  }
}
