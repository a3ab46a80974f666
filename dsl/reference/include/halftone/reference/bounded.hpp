// SPDX-License-Identifier: Apache-2.0
// A double with a bound on how far the declared f32 result can be from it: running error analysis,
// operation by operation (N. Higham, Accuracy and Stability of Numerical Algorithms, 3.3).
// Tolerances of tests come from here.
#pragma once

#include <stdexcept>

namespace halftone::reference {

/// |value - declared result| <= error, for the same inputs. A constant's error is that of its
/// rounding to f32.
struct Bounded {
  double value = 0;
  double error = 0;

  constexpr Bounded() = default;
  constexpr Bounded(double exact) : value(exact) {  // NOLINT: formulas mix in plain constants
    const double off = exact - static_cast<double>(static_cast<float>(exact));
    error = off < 0 ? -off : off;
  }

  /// A rounded result: `inherited` from the operands plus one rounding of the largest value
  /// possible.
  static constexpr Bounded rounded(double value, double inherited) {
    constexpr double kUnitRoundoff = 0x1p-24, kHalfSmallest = 0x1p-150;
    Bounded result;
    result.value = value;
    const double magnitude = (value < 0 ? -value : value) + inherited;
    result.error = inherited + kUnitRoundoff * magnitude + kHalfSmallest;
    return result;
  }

  bool operator==(const Bounded& other) const { return value == other.value; }

  friend constexpr Bounded operator-(Bounded a) {
    a.value = -a.value;
    return a;
  }
  friend constexpr Bounded operator+(const Bounded& a, const Bounded& b) {
    return rounded(a.value + b.value, a.error + b.error);
  }
  friend constexpr Bounded operator-(const Bounded& a, const Bounded& b) { return a + -b; }
  friend constexpr Bounded operator*(const Bounded& a, const Bounded& b) {
    return rounded(a.value * b.value, product_error(a, b));
  }
  friend Bounded operator/(const Bounded& a, const Bounded& b) {
    const double quotient = a.value / b.value, divisor = magnitude(b) - b.error;
    require_decided(divisor > 0);
    return rounded(quotient, (a.error + (quotient < 0 ? -quotient : quotient) * b.error) / divisor);
  }
  friend constexpr Bounded fma(const Bounded& a, const Bounded& b, const Bounded& c) {
    return rounded(a.value * b.value + c.value, product_error(a, b) + c.error);
  }

  /// Throws std::domain_error when the declared result may compare otherwise, since then nothing
  /// bounds it.
  friend bool operator<(const Bounded& a, const Bounded& b) {
    const double distance = a.value < b.value ? b.value - a.value : a.value - b.value;
    require_decided(distance > a.error + b.error || a.error + b.error == 0);
    return a.value < b.value;
  }
  friend bool operator>(const Bounded& a, const Bounded& b) { return b < a; }
  friend bool operator<=(const Bounded& a, const Bounded& b) { return !(b < a); }

  static void require_decided(bool decided) {
    if (!decided)
      throw std::domain_error("rounding may decide a comparison or a quotient; use other inputs");
  }

 private:
  static constexpr double magnitude(const Bounded& a) { return a.value < 0 ? -a.value : a.value; }
  static constexpr double product_error(const Bounded& a, const Bounded& b) {
    return magnitude(a) * b.error + magnitude(b) * a.error + a.error * b.error;
  }
};

}  // namespace halftone::reference
