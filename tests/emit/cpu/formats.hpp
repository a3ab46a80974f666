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
  Format(std::string name, int exponent_bits, int mantissa_bits)
      : name(std::move(name)), exponent_bits_(exponent_bits), mantissa_bits_(mantissa_bits) {
    const std::uint32_t infinity = infinity_code();
    for (std::uint32_t code = 0; code <= infinity; ++code) magnitudes_.push_back(value_of(code));
  }

  /// The values of codes 0 up to infinity's, which counts as the value after the largest.
  [[nodiscard]] const std::vector<double>& magnitudes() const { return magnitudes_; }
  [[nodiscard]] std::uint32_t infinity_code() const {
    return ((1u << exponent_bits_) - 1) << mantissa_bits_;
  }
  [[nodiscard]] std::uint32_t sign_code() const { return 1u << (exponent_bits_ + mantissa_bits_); }
  /// F3.
  [[nodiscard]] std::uint32_t nan_code() const { return sign_code() - 1; }

  [[nodiscard]] std::uint32_t round(float x, bool toward_zero) const {
    if (std::isnan(x)) return nan_code();
    const double magnitude = std::fabs(static_cast<double>(x));
    std::uint32_t code = infinity_code();
    if (!std::isinf(x)) {
      const auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
      code = round_from(static_cast<std::uint32_t>(above - magnitudes_.begin()) - 1, magnitude,
                        toward_zero);
    }
    return code | (std::signbit(x) ? sign_code() : 0);
  }

  /// F2 where `below` is the code of the largest value not above a finite `magnitude`.
  [[nodiscard]] std::uint32_t round_from(std::uint32_t below, double magnitude,
                                         bool toward_zero) const {
    const std::uint32_t infinity = infinity_code();
    if (toward_zero) return std::min(below, infinity - 1);
    if (below == infinity) return infinity;
    const double down = magnitude - magnitudes_[below], up = magnitudes_[below + 1] - magnitude;
    return down < up || (down == up && below % 2 == 0) ? below : below + 1;
  }

  /// F4.
  [[nodiscard]] float widen(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_code() - 1);
    float value = NAN;
    if (magnitude < infinity_code()) value = static_cast<float>(magnitudes_[magnitude]);
    if (magnitude == infinity_code()) value = INFINITY;
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

}  // namespace formats
