// SPDX-License-Identifier: Apache-2.0
// The recipes, and the formulas made of them, beside their oracle, the double functions of libm,
// and the distance between the two in f32 ulps.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "layers/gelu.hpp"
#include "layers/silu.hpp"
#include "recipes.hpp"

namespace halftone::reference {

struct RecipeCase {
  const char* name;
  float (*recipe)(float);
  double (*oracle)(double);
  double bound_ulp;  // what docs/spec/math.md promises over all inputs
};

inline double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline constexpr RecipeCase kRecipeCases[] = {
    {"exp", recipe::exp, [](double x) { return std::exp(x); }, 1.0},
    {"log", recipe::log, [](double x) { return std::log(x); }, 1.0},
    {"tanh", recipe::tanh, [](double x) { return std::tanh(x); }, 2.0},
    {"erf", recipe::erf, [](double x) { return std::erf(x); }, 1.5},
    {"sigmoid", recipe::sigmoid, logistic, 2.0},
    {"rsqrt", recipe::rsqrt, [](double x) { return 1.0 / std::sqrt(x); }, 1.5},
};

/// D24, D25, D32, in which recipes are steps. gelu subtracts 1 from 1 for negative x, so that its
/// error is one of |x|: bound_of_input is in units of |x| * 2^-24, beyond half an ulp.
struct FormulaCase {
  const char* name;
  float (*formula)(float);
  double (*oracle)(double);
  double bound_of_input;
};

inline constexpr FormulaCase kFormulaCases[] = {
    {"gelu erf", gelu_erf<float>,
     [](double x) { return x == -INFINITY ? NAN : x / 2 * std::erfc(-x * std::sqrt(0.5)); }, 4.0},
    {"gelu tanh", gelu_tanh<float>,
     [](double x) {
       const double c = std::sqrt(2 / std::acos(-1.0));
       return x == -INFINITY ? NAN : x * logistic(2 * c * (x + 0.044715 * x * x * x));
     },
     4.0},
    {"silu", silu<float>, [](double x) { return x == -INFINITY ? NAN : x * logistic(x); }, 4.0},
};

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

}  // namespace halftone::reference
