// SPDX-License-Identifier: Apache-2.0
// Directed rounding. In f32 each operation gives its exact value as a double and the double's
// error, whose sign says which neighbour is asked for: Handbook of Floating-Point Arithmetic, 2nd
// edition, 4.3 (2Sum) and 4.4 (products by fma). In f64, where such an error may underflow, the
// processor's own mode is set.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "decode.hpp"

namespace halftone::simulator {

/// Numbered as Rounding is.
enum class Direction : std::uint8_t { nearest, zero, up, down };

inline Direction direction_of(const Decoder& d) {
  if (d.has_any({"rz", "rzi"})) return Direction::zero;
  if (d.has_any({"rm", "rmi"})) return Direction::down;
  if (d.has_any({"rp", "rpi"})) return Direction::up;
  return Direction::nearest;
}

template <class T>
T canonical_nan() {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(0x7fffffffu);
  else
    return std::numeric_limits<T>::quiet_NaN();
}

/// .ftz: subnormals are zeros of their sign.
template <class T>
[[gnu::always_inline]] inline T flushed(T x) {
  return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T{0}, x) : x;
}

/// The value sum + error; the error is smaller than half of sum's last place.
struct Exact {
  double sum, error;
};

inline Exact two_sum(double a, double b) {
  const double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}

/// The sum with its last bit set where it is not exact: rounding it again, to fewer bits by two at
/// least, is rounding the exact value.
inline double odd(Exact value) {
  if (value.error == 0 || !std::isfinite(value.sum) || value.error != value.error) return value.sum;
  const auto bits = std::bit_cast<std::uint64_t>(value.sum);
  if ((bits & 1) != 0) return value.sum;
  const bool away = (value.error > 0) == (value.sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

// The operations. run(): nearest. exact(): of operands that came from f32 or narrower formats.
// is_plus_zero(): whether a result of zero is positive in all directions.

struct SignedZero {
  template <class... T>
  static bool is_plus_zero(T...) {
    return true;  // or the sign that every direction gives
  }
};
template <class T>
bool are_plus_zeros(T a, T b) {
  return a == 0 && !std::signbit(a) && b == 0 && !std::signbit(b);
}

struct Sum {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return a + b;
  }
  static Exact exact(double a, double b) { return two_sum(a, b); }
  template <class T>
  static bool is_plus_zero(T a, T b) {
    return are_plus_zeros(a, b);
  }
};
struct Difference {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return a - b;
  }
  static Exact exact(double a, double b) { return two_sum(a, -b); }
  template <class T>
  static bool is_plus_zero(T a, T b) {
    return are_plus_zeros(a, -b);
  }
};
struct Product : SignedZero {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return a * b;
  }
  static Exact exact(double a, double b) { return {a * b, 0}; }
};
struct FusedSum {
  [[gnu::always_inline]] static float run(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
  }
  [[gnu::always_inline]] static double run(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
  static Exact exact(double a, double b, double c) { return two_sum(a * b, c); }
  template <class T>
  static bool is_plus_zero(T a, T b, T c) {
    return (a == 0 || b == 0) && are_plus_zeros(a * b, c);
  }
};
struct Division : SignedZero {
  template <class T>
  [[gnu::always_inline]] static T run(T a, T b) {
    return a / b;
  }
  static Exact exact(double a, double b) { return {a / b, error(a / b, a, b)}; }
  static double error(double nearest, double a, double b) {
    if (!std::isfinite(nearest) || b == 0 || !std::isfinite(b)) return 0;
    return std::fma(-nearest, b, a) / b;
  }
};
struct Reciprocal : SignedZero {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return 1 / a;
  }
  static Exact exact(double a) { return Division::exact(1, a); }
};
struct SquareRoot : SignedZero {
  template <class T>
  [[gnu::always_inline]] static T run(T a) {
    return std::sqrt(a);
  }
  static Exact exact(double a) { return {std::sqrt(a), error(std::sqrt(a), a)}; }
  static double error(double nearest, double a) {
    if (!std::isfinite(nearest) || nearest == 0) return 0;
    return std::fma(-nearest, nearest, a);
  }
};

/// The neighbour of `nearest` in a direction, when the exact value lies off by `error`.
template <class T>
T toward(Direction direction, T nearest, double error) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (direction == Direction::zero)
    direction = std::signbit(nearest) ? Direction::up : Direction::down;
  if (direction == Direction::down && error < 0) return std::nextafter(nearest, -kInfinity);
  if (direction == Direction::up && error > 0) return std::nextafter(nearest, kInfinity);
  return nearest;
}

/// A double and its error to f32.
inline float to_f32(Direction direction, Exact value) {
  const float nearest = static_cast<float>(odd(value));
  const double error = (odd(value) - static_cast<double>(nearest));
  return toward(direction, nearest, std::isnan(error) ? 0 : error);
}

/// Sums of zeros and sums that cancel are -0 downwards, but for +0 + +0.
template <class F, class T, class... Rest>
T exact_zero(Direction direction, T nearest, T a, Rest... rest) {
  if (direction != Direction::down || F::is_plus_zero(a, rest...)) return nearest;
  return -T{0};
}

template <class F, class... Rest>
float directed(Direction direction, float a, Rest... rest) {
  const float nearest = F::run(a, rest...);
  if (direction == Direction::nearest || std::isnan(nearest)) return nearest;
  const Exact value = F::exact(static_cast<double>(a), static_cast<double>(rest)...);
  if (value.sum == 0) return exact_zero<F>(direction, nearest, a, rest...);
  return to_f32(direction, value);
}

template <class F, class... T>
double directed(Direction direction, double a, T... rest) {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  const int before = std::fegetround();
  // volatile keeps the operation between the two calls.
  volatile double operands[] = {a, rest...};
  volatile double result = 0;
  std::fesetround(kModes[static_cast<std::size_t>(direction)]);
  if constexpr (sizeof...(T) == 0) result = F::run(double{operands[0]});
  if constexpr (sizeof...(T) == 1) result = F::run(double{operands[0]}, double{operands[1]});
  if constexpr (sizeof...(T) == 2)
    result = F::run(double{operands[0]}, double{operands[1]}, double{operands[2]});
  std::fesetround(before);
  return result;
}

}  // namespace halftone::simulator
