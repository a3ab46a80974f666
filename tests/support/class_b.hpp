// SPDX-License-Identifier: Apache-2.0
// N8, N13, N14 and N17: the results that a contraction may store when its f32 sum is not the
// ordered chain N1. One interval per element, derived from its operands alone: the reference has no
// part in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include "halftone/reference/rounding.hpp"

namespace halftone::tests {

/// How a contraction's f32 partial sums are rounded.
enum class Sums {
  nearest,      ///< in any order, each product and sum to the nearest f32 or exact: unit 2^-24
  toward_zero,  ///< in any order, each to one of its neighbours, as tensor cores: unit 2^-23
  flushed,   ///< as `nearest`, but operands and results below 2^-126 are zeros, as in AMX's tiles
             ///< and pairs of bf16
  kept,      ///< N13: of each 8-bit product and each sum of 16 of them 14 digits: unit 2^-13
  promoted,  ///< N14: parts of 128 as `kept`, which are added as `nearest`
  factored,  ///< N17: likewise of codes, each part times two factors; operands are numbers
};

/// What one element of a contraction may be.
struct ClassB {
  double sum = 0;           ///< Σ a*b
  double magnitudes = 0;    ///< Σ |a||b|
  double error = 0;         ///< of the f32 sum before it is stored: γ_k Σ|a||b| and underflow
  float low = 0, high = 0;  ///< the ends of what may be stored, themselves included; both NaN if
                            ///< the result is NaN

  [[nodiscard]] bool holds(float stored) const {
    if (std::isnan(low)) return std::isnan(stored);
    return low <= stored && stored <= high;
  }
};

/// Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, lemma 3.1: what n factors
/// (1 + d), |d| <= u, can add up to. Throws std::domain_error from n*u = 1 on.
[[nodiscard]] inline double gamma_bound(std::size_t n, double u) {
  const double nu = static_cast<double>(n) * u;
  if (!(nu < 1)) throw std::domain_error("a contraction this long has no bound; use a shorter one");
  return nu / (1 - nu);
}

namespace class_b_detail {

// log2 of the last binary digit of x, finite and not 0.
inline int last_place(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) & 0x7fffffff, field = bits >> 23;
  const std::uint32_t significand = (bits & 0x7fffff) | (field == 0 ? 0 : 0x800000);
  return static_cast<int>(std::max(field, 1u)) - 150 + std::countr_zero(significand);
}

inline bool is_subnormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL; }

// The f32 next to x, or x.
inline float at_least(double x) {
  const float nearest = static_cast<float>(x);
  return nearest >= x ? nearest : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

inline float at_most(double x) { return -at_least(-x); }

}  // namespace class_b_detail

/// The error of a sum of k products, as a multiple of Σ|a||b|.
[[nodiscard]] inline double sum_error(std::size_t k, Sums sums) {
  const auto kept = [](std::size_t n) { return gamma_bound(n + (n + 15) / 16, 0x1p-13); };
  switch (sums) {
    case Sums::kept:
      return kept(k);
    case Sums::promoted:
    case Sums::factored: {
      constexpr std::size_t kPart = 128;
      // Both operands' numbers, both factors' product and the part's.
      const std::size_t of_factors = sums == Sums::factored ? 4 : 0;
      const double of_parts = kept(std::min(k, kPart));
      return of_parts + gamma_bound((k + kPart - 1) / kPart + of_factors, 0x1p-24) * (1 + of_parts);
    }
    case Sums::toward_zero:
      return gamma_bound(k, 0x1p-23);
    default:
      return gamma_bound(k, 0x1p-24);
  }
}

/// N8 for the element Σ a[i]*b[i], or N13, N14 or N17. The operands are as the contraction reads
/// them: rounded to its compute formats and widened. Throws std::domain_error when a partial sum
/// may overflow f32.
[[nodiscard]] inline ClassB class_b(std::span<const float> a, std::span<const float> b,
                                    reference::RoundTo store, Sums sums) {
  using class_b_detail::at_least, class_b_detail::at_most, class_b_detail::is_subnormal,
      class_b_detail::last_place;
  if (a.size() != b.size()) throw std::invalid_argument("operands differ in length; pass equal k");
  const bool flushes = sums == Sums::flushed;
  ClassB bound;
  int place = 128;  // of which every product is a multiple
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_zero = flushes && (is_subnormal(a[i]) || is_subnormal(b[i]));
    const double product = is_zero ? a[i] * 0.0 * b[i] : static_cast<double>(a[i]) * b[i];  // exact
    bound.sum += product;
    if (!std::isfinite(product) || product == 0) continue;
    bound.magnitudes += std::fabs(product);
    place = std::min(place, last_place(a[i]) + last_place(b[i]));
  }
  // Where every partial sum has at most 24 digits above a place of f32 none is ever rounded, and
  // where that place is one of normal numbers none is flushed. Of 8 bits 13 digits are kept of all;
  // numbers say nothing of digits of codes.
  const bool has_factors = sums == Sums::factored;
  const bool is_of_8_bits = sums == Sums::kept || sums == Sums::promoted || has_factors;
  const int digits = is_of_8_bits ? 13 : 24;
  if (has_factors || place < (flushes ? -126 : -149) ||
      bound.magnitudes > std::ldexp(1.0, place + digits)) {
    const double unit = is_of_8_bits ? 0x1p-13 : sums == Sums::toward_zero ? 0x1p-23 : 0x1p-24;
    const double k = static_cast<double>(a.size());
    bound.error = sum_error(a.size(), sums) * bound.magnitudes  //
                  + k * (flushes ? 2 : unit) * 0x1p-126         // results below 2^-126
                  + (k + 2) * 0x1p-53 * bound.magnitudes;       // the doubles here
  }
  if (!(bound.magnitudes + bound.error <= std::numeric_limits<float>::max())) {
    throw std::domain_error("a partial sum may overflow f32; use smaller operands");
  }
  const bool is_finite = std::isfinite(bound.sum);
  const double error = is_finite ? bound.error : 0;
  bound.low = reference::round(store, at_least(bound.sum - error));
  bound.high = reference::round(store, at_most(bound.sum + error));
  return bound;
}

}  // namespace halftone::tests
