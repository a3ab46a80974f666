// SPDX-License-Identifier: Apache-2.0
// docs/spec/precision.md, F1 to F4, from the definition: a format is a list of numbers, and
// rounding picks one of two neighbours by their distances, which double holds exactly.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace oracle {

class Format {
 public:
  /// `code_shift`: how far the code lies to the left in what kernels store (13 for tf32 in a
  /// float). Without infinity the only NaN stands in its place.
  Format(int exponent_bits, int mantissa_bits, int code_shift, std::uint32_t nan,
         bool has_infinity = true)
      : shift_(code_shift),
        sign_(1u << (exponent_bits + mantissa_bits)),
        infinity_(has_infinity ? ((1u << exponent_bits) - 1) << mantissa_bits : nan),
        nan_(nan),
        has_infinity_(has_infinity) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (std::uint32_t code = 0; code <= infinity_; ++code) {
      const int exponent = static_cast<int>(code >> mantissa_bits);
      const double fraction = code & ((1u << mantissa_bits) - 1), whole = 1u << mantissa_bits;
      numbers_.push_back(std::ldexp(exponent == 0 ? fraction : whole + fraction,
                                    std::max(exponent, 1) - bias - mantissa_bits));
    }
  }

  /// What is stored of x. `below`: a code whose number is not above |x|, to start the search from;
  /// it is left at the last such code. numbers_ ends in the power of two that would follow the
  /// largest finite number, which decides where nearest_even begins to round to infinity.
  std::uint32_t round(float x, bool toward_zero, std::uint32_t& below) const {
    if (std::isnan(x)) return nan_;
    const double magnitude = std::fabs(static_cast<double>(x));
    const std::uint32_t sign = std::signbit(x) ? sign_ : 0;
    if (std::isinf(x)) return has_infinity_ ? (sign | infinity_) << shift_ : nan_;
    while (below + 1 < infinity_ && numbers_[below + 1] <= magnitude) ++below;
    const double down = magnitude - numbers_[below], up = numbers_[below + 1] - magnitude;
    const bool rounds_up = !toward_zero && (up < down || (up == down && below % 2 == 1));
    if (!has_infinity_ && below + rounds_up == nan_) return nan_;
    return (sign | (below + rounds_up)) << shift_;
  }
  std::uint32_t round(float x, bool toward_zero = false) const {
    const double magnitude = std::min(std::fabs(static_cast<double>(x)), numbers_[infinity_ - 1]);
    std::uint32_t below = 0;
    if (!std::isnan(x))
      below = static_cast<std::uint32_t>(
          std::upper_bound(numbers_.begin(), numbers_.end() - 1, magnitude) - numbers_.begin() - 1);
    return round(x, toward_zero, below);
  }

  /// The number that a code stands for.
  double read(std::uint32_t stored) const {
    const std::uint32_t code = stored >> shift_, magnitude = code & ~sign_;
    double number = magnitude < infinity_ ? numbers_[magnitude] : HUGE_VAL;
    if (magnitude > infinity_ || (magnitude == infinity_ && !has_infinity_)) number = NAN;
    return code & sign_ ? -number : number;
  }

  bool is_nan(std::uint32_t stored) const { return std::isnan(read(stored)); }
  /// How many codes there are.
  std::uint32_t codes() const { return 2 * sign_; }
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  int shift_;
  std::uint32_t sign_, infinity_, nan_;
  bool has_infinity_;
  std::vector<double> numbers_;
};

inline const Format& f16() {
  static const Format format(5, 10, 0, 0x7fff);
  return format;
}
inline const Format& bf16() {
  static const Format format(8, 7, 0, 0x7fff);
  return format;
}
inline const Format& tf32() {
  static const Format format(8, 10, 13, 0x7fffffff);
  return format;
}
inline const Format& f8e4m3() {
  static const Format format(4, 3, 0, 0x7f, false);
  return format;
}
inline const Format& f8e5m2() {
  static const Format format(5, 2, 0, 0x7f);
  return format;
}

}  // namespace oracle
