// SPDX-License-Identifier: Apache-2.0
// F1 to F4 of docs/spec/precision.md, by tables of what every code stands for: no arithmetic on
// codes. A tf32 value's code is the upper 19 bits of its f32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace formats {

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

class Format {
 public:
  Format(std::string name, int exponent_bits, int mantissa_bits, bool has_infinity = true)
      : name(std::move(name)),
        exponent_bits_(exponent_bits),
        mantissa_bits_(mantissa_bits),
        has_infinity_(has_infinity) {
    const std::uint32_t beyond = code_beyond();
    for (std::uint32_t code = 0; code <= beyond; ++code) magnitudes_.push_back(value_of(code));
  }

  /// The values of codes 0 up to the one behind the largest number's, which counts as the value
  /// after it.
  [[nodiscard]] const std::vector<double>& magnitudes() const { return magnitudes_; }
  /// Infinity's, or where there is none the only NaN's.
  [[nodiscard]] std::uint32_t code_beyond() const {
    return has_infinity_ ? ((1u << exponent_bits_) - 1) << mantissa_bits_ : nan_code();
  }
  [[nodiscard]] std::uint32_t sign_code() const { return 1u << (exponent_bits_ + mantissa_bits_); }
  /// F3.
  [[nodiscard]] std::uint32_t nan_code() const { return sign_code() - 1; }

  [[nodiscard]] std::uint32_t round(float x, bool toward_zero) const {
    if (std::isnan(x)) return nan_code();
    const double magnitude = std::fabs(static_cast<double>(x));
    std::uint32_t code = code_beyond();
    if (!std::isinf(x)) {
      const auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
      code = round_from(static_cast<std::uint32_t>(above - magnitudes_.begin()) - 1, magnitude,
                        toward_zero);
    }
    return code != nan_code() && std::signbit(x) ? code | sign_code() : code;
  }

  /// F2 where `below` is the code of the largest value not above a finite `magnitude`.
  [[nodiscard]] std::uint32_t round_from(std::uint32_t below, double magnitude,
                                         bool toward_zero) const {
    const std::uint32_t beyond = code_beyond();
    if (toward_zero) return std::min(below, beyond - 1);
    if (below == beyond) return beyond;
    const double down = magnitude - magnitudes_[below], up = magnitudes_[below + 1] - magnitude;
    return down < up || (down == up && below % 2 == 0) ? below : below + 1;
  }

  /// F4.
  [[nodiscard]] float widen(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_code() - 1);
    float value = NAN;
    if (magnitude < code_beyond()) value = static_cast<float>(magnitudes_[magnitude]);
    if (magnitude == code_beyond() && has_infinity_) value = INFINITY;
    return code & sign_code() ? -value : value;
  }

  std::string name;

 private:
  [[nodiscard]] double value_of(std::uint32_t code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits_);
    const double fraction = std::ldexp(code & ((1u << mantissa_bits_) - 1), -mantissa_bits_);
    const int bias = (1 << (exponent_bits_ - 1)) - 1;
    return exponent == 0 ? std::ldexp(fraction, 1 - bias)
                         : std::ldexp(1.0 + fraction, exponent - bias);
  }

  int exponent_bits_, mantissa_bits_;
  bool has_infinity_;
  std::vector<double> magnitudes_;
};

inline const Format& f16() {
  static const Format format("f16", 5, 10);
  return format;
}
inline const Format& bf16() {
  static const Format format("bf16", 8, 7);
  return format;
}
inline const Format& tf32() {
  static const Format format("tf32", 8, 10);
  return format;
}
/// Called as MLIR calls them.
inline const Format& f8e4m3() {
  static const Format format("f8E4M3FN", 4, 3, false);
  return format;
}
inline const Format& f8e5m2() {
  static const Format format("f8E5M2", 5, 2);
  return format;
}

}  // namespace formats
