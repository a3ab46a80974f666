// SPDX-License-Identifier: Apache-2.0
// How far the narrow recipes of N10 are from exact, for any f32: judged against libm's double
// functions, in ulps of the format that a result is rounded to.
#pragma once

#include "narrow_recipes.hpp"
#include "recipe_error.hpp"

namespace halftone::reference {

/// What docs/spec/math.md promises.
inline constexpr double kNarrowUlps = 0.51;
inline constexpr double kNarrowNearRoot = 1;  ///< units of 2^-24

struct GradedCase {
  const char* name;
  float (*full)(float);
  float (*narrow)(float);
  double (*oracle)(double);
};

inline constexpr GradedCase kGradedCases[] = {
    {"exp", recipe::exp, recipe::narrow::exp, [](double x) { return std::exp(x); }},
    {"tanh", recipe::tanh, recipe::narrow::tanh, [](double x) { return std::tanh(x); }},
    {"sigmoid", recipe::sigmoid, recipe::narrow::sigmoid, logistic},
    {"gelu_erf", recipe::gelu_erf, recipe::narrow::gelu_erf, gelu_erf_oracle},
    {"gelu_tanh", recipe::gelu_tanh, recipe::narrow::gelu_tanh, gelu_tanh_oracle},
    {"silu", recipe::silu, recipe::narrow::silu, silu_oracle},
};

/// The worst of what was taken.
struct Worst {
  double error = 0;
  std::uint32_t input = 0;
  std::uint64_t not_nearest = 0;  ///< results further than half an ulp from exact

  void take(double off, std::uint32_t pattern) {
    not_nearest += off > 0.5 ? 1 : 0;
    if (off > error) error = off, input = pattern;
  }
  void join(const Worst& other) {
    if (other.error > error) error = other.error, input = other.input;
    not_nearest += other.not_nearest;
  }
};

/// Of round(format, value), in ulps of the format.
inline double rounded_error(description::Element format, float value, double exact) {
  const float got = round({format}, value);
  const bool overflows = std::isinf(got) && got == nearest(format, exact);
  return overflows ? 0 : distance(format, got, exact);
}

/// Of a derivative before it is multiplied and rounded: what is off beyond 0.01 ulp, in units of
/// 2^-24. An ulp here has no smallest exponent, since a gradient multiplies it; f16 is judged from
/// 2^-43 on, for gradients below 2^18, and bf16 from 2^-126.
inline double derivative_error(description::Element format, float got, double exact) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  const bool is_half = format == description::Element::f16;
  if (std::fabs(exact) < (is_half ? 0x1p-43 : 0x1p-126)) return std::fabs(got) * 0x1p+24;
  const double ulp = std::ldexp(1.0, std::ilogb(exact) - (is_half ? 10 : 7));
  return std::fmax(0, (std::fabs(got - exact) - 0.01 * ulp) * 0x1p+24);
}

/// Of both formats at once, f16 first.
struct WorstOfBoth {
  Worst of[2];

  void take(const GradedCase& c, std::uint32_t pattern) {
    const float x = std::bit_cast<float>(pattern), got = c.narrow(x);
    const double exact = c.oracle(x);
    of[0].take(rounded_error(description::Element::f16, got, exact), pattern);
    of[1].take(rounded_error(description::Element::bf16, got, exact), pattern);
  }
  void take(const DerivativeCase& c, std::uint32_t pattern) {
    const float x = std::bit_cast<float>(pattern), got = c.narrow(x);
    const double exact = c.oracle(x);
    of[0].take(derivative_error(description::Element::f16, got, exact), pattern);
    of[1].take(derivative_error(description::Element::bf16, got, exact), pattern);
  }
  void join(const WorstOfBoth& other) {
    of[0].join(other.of[0]);
    of[1].join(other.of[1]);
  }
};

}  // namespace halftone::reference
