// SPDX-License-Identifier: Apache-2.0
// Operands for contractions of every kind that strains a bound, legitimate orders of their f32
// sums, and mutants that are no such sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "halftone/reference/rounding.hpp"

namespace halftone::reference::tests {

using description::Element;
using description::Rounding;
using Row = std::span<const float>;

inline constexpr std::size_t kRows = 8, kColumns = 8;

/// One contraction. a is (kRows, k), b (kColumns, k); exact_* are before rounding to `compute`.
struct Contraction {
  std::size_t k;
  Element compute;
  std::vector<float> exact_a, exact_b, a, b;

  Row row(std::size_t i) const { return Row(a).subspan(i * k, k); }
  Row column(std::size_t j) const { return Row(b).subspan(j * k, k); }
};

enum class Operands { uniform, same_sign, wide, cancelling, integers };
inline constexpr Operands kOperands[] = {Operands::uniform, Operands::same_sign, Operands::wide,
                                         Operands::cancelling, Operands::integers};

inline float drawn(Operands operands, std::mt19937& random) {
  const auto between = [&](float low, float high) {
    return low + (high - low) * (static_cast<float>(random() >> 8) * 0x1p-24f);
  };
  switch (operands) {
    case Operands::same_sign:
      return between(0, 1);
    case Operands::wide:
      return std::exp2(between(-10, 4)) * (random() % 2 == 0 ? 1.0f : -1.0f);
    case Operands::integers:  // every sum of theirs is exact in f32
      return static_cast<float>(random() % 4);
    default:
      return between(-1, 1);
  }
}

inline std::vector<float> rounded(const std::vector<float>& values, RoundTo to) {
  std::vector<float> result;
  for (const float value : values) result.push_back(round(to, value));
  return result;
}

inline Contraction contraction(Operands operands, std::size_t k, Element compute) {
  std::mt19937 random(static_cast<unsigned>(k) * 8 + static_cast<unsigned>(operands));
  Contraction result{k, compute, {}, {}, {}, {}};
  for (std::size_t e = 0; e < kRows * k; ++e) result.exact_a.push_back(drawn(operands, random));
  for (std::size_t e = 0; e < kColumns * k; ++e) result.exact_b.push_back(drawn(operands, random));
  if (operands == Operands::cancelling) {  // the second half takes the first away, nearly
    for (std::size_t e = 0; e < kRows * k; ++e) {
      if (e % k >= k / 2 + k % 2) result.exact_a[e] = -result.exact_a[e - k / 2];
    }
    for (std::size_t e = 0; e < kColumns * k; ++e) {
      if (e % k >= k / 2 + k % 2) result.exact_b[e] = result.exact_b[e - k / 2] * 1.001f;
    }
  }
  result.a = rounded(result.exact_a, {compute, Rounding::nearest_even});
  result.b = rounded(result.exact_b, {compute, Rounding::nearest_even});
  return result;
}

/// N1.
inline float chain(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

inline float reversed(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = a.size(); i-- > 0;) sum = std::fma(a[i], b[i], sum);
  return sum;
}

inline float pairwise(Row a, Row b) {
  if (a.size() == 1) return a[0] * b[0];
  const std::size_t half = a.size() / 2;
  return pairwise(a.first(half), b.first(half)) + pairwise(a.subspan(half), b.subspan(half));
}

template <std::size_t kParts>
float split(Row a, Row b) {
  float sum = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t first = part * a.size() / kParts, end = (part + 1) * a.size() / kParts;
    sum += chain(a.subspan(first, end - first), b.subspan(first, end - first));
  }
  return sum;
}

/// x, which is no f32 in general, without the digits past f32's.
inline float truncated(double x) {
  const float nearest = static_cast<float>(x);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(x) ? std::nextafter(nearest, 0.0f)
                                                                : nearest;
}

inline double product(Row a, Row b, std::size_t i) { return static_cast<double>(a[i]) * b[i]; }

/// As a tensor core: kWidth exact products in one rounding toward zero, then added to the rest.
template <std::size_t kWidth>
float blocks(Row a, Row b) {
  float sum = 0;
  for (std::size_t first = 0; first < a.size(); first += kWidth) {
    double block = 0;
    for (std::size_t i = first; i < std::min(first + kWidth, a.size()); ++i) {
      block += product(a, b, i);
    }
    sum = truncated(static_cast<double>(sum) + truncated(block));
  }
  return sum;
}

/// The longest way to a sum of neighbours: k roundings, all toward zero.
inline float truncated_chain(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum = truncated(static_cast<double>(sum) + truncated(product(a, b, i)));
  }
  return sum;
}

// Mutants of the chain. The element that loses something is one third into it.

inline float drops_one(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i != a.size() / 3) sum = std::fma(a[i], b[i], sum);
  }
  return sum;
}

inline float flips_one(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum = std::fma(i == a.size() / 3 ? -a[i] : a[i], b[i], sum);
  }
  return sum;
}

inline float misses_last(Row a, Row b) {
  return chain(a.first(a.size() - 1), b.first(b.size() - 1));
}

/// The accumulator is rounded to a narrow format after every kEvery-th product.
template <Element kFormat, std::size_t kEvery>
float narrow_accumulator(Row a, Row b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum = std::fma(a[i], b[i], sum);
    if ((i + 1) % kEvery == 0) sum = round({kFormat, Rounding::nearest_even}, sum);
  }
  return sum;
}

inline float zero(Row, Row) { return 0; }

}  // namespace halftone::reference::tests
