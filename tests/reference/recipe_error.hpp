// SPDX-License-Identifier: Apache-2.0
// The recipes beside their oracle, the double functions of libm, and the distance between the two
// in f32 ulps.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "recipes.hpp"

namespace halftone::reference {

struct RecipeCase {
  const char* name;
  float (*recipe)(float);
  double (*oracle)(double);
  double bound_ulp;  // what docs/spec/math.md promises over all inputs
};

inline double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline const double kTwoRootsOfTwoOverPi = 2 * std::sqrt(2 / std::acos(-1.0));
inline double gelu_tanh_argument(double x) {
  return kTwoRootsOfTwoOverPi * (x + 0.044715 * x * x * x);
}

// max(x, 0) - |x| * F(-|x|), so that a zero has the sign that D24, D25 and D32 give it.
inline double activated(double x, double of_minus_magnitude) {
  if (std::isnan(x)) return x;
  const double tail = std::isinf(x) ? 0.0 : std::fabs(x) * of_minus_magnitude;
  return x < 0 ? -tail : (x > 0 ? x : 0.0) - tail;
}

inline double gelu_erf_oracle(double x) {
  return activated(x, 0.5 * std::erfc(std::fabs(x) * std::sqrt(0.5)));
}
inline double gelu_tanh_oracle(double x) {
  return activated(x, logistic(-std::fabs(gelu_tanh_argument(x))));
}
inline double silu_oracle(double x) { return activated(x, logistic(-std::fabs(x))); }

// F(x) + x F'(x), of which the second part vanishes far out, where x may be infinite; below zero
// there.
inline double derived(double share, double x, double slope) {
  const double sum = share + (slope == 0 ? 0.0 : x * slope);
  return sum == 0 ? -0.0 : sum;
}

inline double gelu_erf_derivative_oracle(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
  return derived(0.5 * std::erfc(-x * std::sqrt(0.5)), x, density);
}
inline double gelu_tanh_derivative_oracle(double x) {
  const double u = gelu_tanh_argument(x), both = logistic(u) * logistic(-u);
  return derived(logistic(u), x,
                 both == 0 ? 0.0 : both * kTwoRootsOfTwoOverPi * (1 + 3 * 0.044715 * x * x));
}
inline double silu_derivative_oracle(double x) {
  return derived(logistic(x), x, logistic(x) * logistic(-x));
}

inline constexpr RecipeCase kRecipeCases[] = {
    {"exp", recipe::exp, [](double x) { return std::exp(x); }, 1.0},
    {"log", recipe::log, [](double x) { return std::log(x); }, 1.0},
    {"tanh", recipe::tanh, [](double x) { return std::tanh(x); }, 2.0},
    {"erf", recipe::erf, [](double x) { return std::erf(x); }, 1.5},
    {"sigmoid", recipe::sigmoid, logistic, 2.0},
    {"rsqrt", recipe::rsqrt, [](double x) { return 1.0 / std::sqrt(x); }, 1.5},
    {"log1p", recipe::log1p, [](double x) { return std::log1p(x); }, 1.5},
    {"expm1", recipe::expm1, [](double x) { return std::expm1(x); }, 1.5},
    {"sin", recipe::sin, [](double x) { return std::sin(x); }, 1.5},
    {"cos", recipe::cos, [](double x) { return std::cos(x); }, 1.5},
    {"gelu_erf", recipe::gelu_erf, gelu_erf_oracle, 7.0},
    {"gelu_tanh", recipe::gelu_tanh, gelu_tanh_oracle, 4.0},
    {"silu", recipe::silu, silu_oracle, 4.0},
};

/// A derivative has a root, near which no f32 formula keeps its digits: within half of it the error
/// is judged in units of 2^-24, elsewhere in ulps.
struct DerivativeCase {
  const char* name;
  float (*full)(float);
  float (*narrow)(float);
  double (*oracle)(double);
  double root;
  double bound_ulp, bound_near_root;
};

inline constexpr DerivativeCase kDerivativeCases[] = {
    {"gelu_erf_derivative", recipe::gelu_erf_derivative, recipe::narrow::gelu_erf_derivative,
     gelu_erf_derivative_oracle, -0.7517915, 8.0, 2.0},
    {"gelu_tanh_derivative", recipe::gelu_tanh_derivative, recipe::narrow::gelu_tanh_derivative,
     gelu_tanh_derivative_oracle, -0.7524614, 8.0, 2.0},
    {"silu_derivative", recipe::silu_derivative, recipe::narrow::silu_derivative,
     silu_derivative_oracle, -1.2784645, 8.0, 2.0},
};

inline bool is_near_root(const DerivativeCase& derivative, double x) {
  return std::fabs(x - derivative.root) < 0.5;
}

// |got - expected| in units of the f32 spacing at expected; infinity when exactly one is NaN, when
// the sign of a zero is wrong, or when got is infinite and expected does not round to that infinity
// or the other way round.
inline double error_ulp(float got, double expected) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0.0 : kWrong;
  }
  if (std::signbit(got) != std::signbit(expected)) {
    return kWrong;
  }
  if (std::isinf(expected)) {
    return std::isinf(got) ? 0.0 : kWrong;
  }
  // The exponent field of a double, bounded below by that of the smallest normal f32.
  const int exponent =
      static_cast<int>((std::bit_cast<std::uint64_t>(expected) >> 52) & 0x7ff) - 1023;
  const int spacing = (exponent < -126 ? -126 : exponent) - 23;
  const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(spacing + 1023) << 52);
  const double beyond =
      exponent > 127 ? 0x1p+1023 : std::abs(expected);  // rounds to infinity with any f32 rounding
  if (std::isinf(got)) {
    return beyond >= 0x1.ffffffp+127 ? 0.0 : (0x1p+128 - std::abs(expected)) / unit;
  }
  return exponent > 127 ? kWrong : std::abs(static_cast<double>(got) - expected) / unit;
}

inline constexpr double kPowUlps = 1.25;  // as docs/spec/math.md promises

/// The largest error of pow over the pairs that were taken, and of how many the result is not the
/// nearest.
struct WorstPower {
  double ulp = 0;
  float x = 0, y = 0;
  std::uint64_t taken = 0, not_nearest = 0;
  void take(float base, float exponent) {
    const double exact = std::pow(static_cast<double>(base), static_cast<double>(exponent));
    const double error = error_ulp(recipe::pow(base, exponent), exact);
    ++taken;
    if (error > 0.5) ++not_nearest;
    if (error > ulp) ulp = error, x = base, y = exponent;
  }
};

/// Pairs of four kinds, `count` of each: of any bits; with results of all sizes; such, of bases
/// near one; of everyday numbers.
inline void take_powers(WorstPower& worst, std::uint64_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  const auto any = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); };
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
  };
  const auto reach = [&](float base) {
    worst.take(base, static_cast<float>(uniform(-150, 129) / std::log2(base)));
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    worst.take(any(), any());
    const float base = std::fabs(any());
    if (base > 0 && base < std::numeric_limits<float>::infinity() && base != 1) reach(base);
    const auto near =
        static_cast<float>(1 + std::ldexp(uniform(-0.4, 0.4), -static_cast<int>(random() % 23)));
    if (near != 1) reach(near);
    worst.take(static_cast<float>(uniform(0, 16)), static_cast<float>(uniform(-8, 8)));
  }
}

}  // namespace halftone::reference
