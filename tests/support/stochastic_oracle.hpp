// SPDX-License-Identifier: Apache-2.0
// F6 of docs/spec/precision.md in whole numbers: which neighbour of x a word of random bits
// chooses.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace halftone::tests {

/// A format's bits of mantissa without the leading one, the exponent of its least normal number,
/// its largest number and what is beyond that (F1, F2).
struct Neighbours {
  int mantissa, least;
  double largest;
  float beyond;

  /// |x| = significand * 2^exponent, of which the format drops `digits`: the larger neighbour where
  /// what is dropped, times 2^24, exceeds the upper 24 bits of `word` times 2^digits.
  [[nodiscard]] float choose(std::uint32_t word, float x) const {
    using Wide = unsigned __int128;
    if (std::isnan(x)) return std::numeric_limits<float>::quiet_NaN();
    if (std::isinf(x)) return std::copysign(beyond, x);
    const std::uint32_t code = std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
    const int field = static_cast<int>(code >> 23), exponent = std::max(field, 1) - 127 - 23;
    const std::uint32_t significand = (code & 0x7fffffu) | (field > 0 ? 0x800000u : 0u);
    const int digits = std::max(exponent + 23, least) - mantissa - exponent;
    const int shift = std::min(digits, 90);  // with more no word is below but one of 24 zeros
    const Wide whole = Wide{1} << shift, kept = significand / whole, dropped = significand % whole;
    const bool up = (dropped << 24) > Wide{word >> 8} << shift;
    const auto chosen = static_cast<double>(static_cast<std::uint64_t>(kept) + (up ? 1 : 0));
    const double result = std::ldexp(chosen, exponent + digits);
    return std::copysign(result > largest ? beyond : static_cast<float>(result), x);
  }

  /// What the share of x between its neighbours is of their distance, and that distance.
  [[nodiscard]] double place(float x) const {
    return std::ldexp(1.0, std::max(std::ilogb(x), least) - mantissa);
  }
  [[nodiscard]] double share(float x) const {
    const double places = std::fabs(static_cast<double>(x)) / place(x);
    return places - std::floor(places);
  }
};

inline constexpr float kNothingBeyond = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinityBeyond = std::numeric_limits<float>::infinity();

// F1, by hand.
inline constexpr Neighbours kInBf16{7, -126, 0x1.fep127, kInfinityBeyond},
    kInF16{10, -14, 65504, kInfinityBeyond}, kInF16Saturating{10, -14, 65504, 65504},
    kInTf32{10, -126, 0x1.ffcp127, kInfinityBeyond}, kInF8e4m3{3, -6, 448, kNothingBeyond},
    kInF8e4m3Saturating{3, -6, 448, 448}, kInF8e5m2{2, -14, 57344, kInfinityBeyond},
    kInF8e5m2Saturating{2, -14, 57344, 57344}, kInF6e3m2{2, -2, 28, 28}, kInF6e2m3{3, 0, 7.5, 7.5},
    kInF4e2m1{1, 0, 6, 6};

}  // namespace halftone::tests
