// SPDX-License-Identifier: Apache-2.0
// The functions as 16-bit formats see them: a code is widened, the recipe runs, its result is
// rounded to the format. Judged over all codes against long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "halftone/reference/rounding.hpp"
#include "layers/gelu.hpp"
#include "layers/silu.hpp"
#include "recipes.hpp"

namespace halftone::reference {

struct NarrowCase {
  const char* name;
  float (*function)(float);
  long double (*oracle)(long double);
  double bound_bf16, bound_f16;  ///< ulps from the correctly rounded result
};

/// 1 / (1 + exp(-x)), without an overflow of its own.
inline long double logistic(long double x) { return 1 / (1 + std::exp(-x)); }

/// max(x, 0) - |x| * F(-|x|), so that a zero has the sign that D24, D25 and D32 give it.
inline long double activated(long double x, long double of_minus_magnitude) {
  if (std::isnan(x)) return x;
  const long double tail = std::isinf(x) ? 0.0L : std::fabs(x) * of_minus_magnitude;
  return x < 0 ? -tail : (x > 0 ? x : 0.0L) - tail;
}

// A result that is a little off can fall on the other side of a middle, but not further.
inline constexpr double kFaithful = 1.0;

// Others than kFaithful: what JAX's exhaustive tables have for its functions. Rounded to 16 bits at
// once, functions with a narrow recipe take it (N10).
inline constexpr NarrowCase kNarrowCases[] = {
    {"exp", recipe::narrow::exp, [](long double x) { return std::exp(x); }, 1.0, 1.0},
    {"log", recipe::log, [](long double x) { return std::log(x); }, kFaithful, kFaithful},
    {"tanh", recipe::narrow::tanh, [](long double x) { return std::tanh(x); }, 0.5, kFaithful},
    {"erf", recipe::erf, [](long double x) { return std::erf(x); }, 0.5, kFaithful},
    {"sigmoid", recipe::narrow::sigmoid, logistic, 2.5, 2.0},
    {"rsqrt", recipe::rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0.5, kFaithful},
    {"gelu_erf", recipe::narrow::gelu_erf,
     [](long double x) { return activated(x, std::erfc(std::fabs(x) * std::sqrt(0.5L)) / 2); },
     kFaithful, kFaithful},
    {"gelu_tanh", recipe::narrow::gelu_tanh,
     [](long double x) {
       const long double c = std::sqrt(2 / std::acos(-1.0L));
       return activated(x, logistic(-std::fabs(2 * c * (x + 0.044715L * x * x * x))));
     },
     kFaithful, kFaithful},
    {"silu", recipe::narrow::silu,
     [](long double x) { return activated(x, logistic(-std::fabs(x))); }, kFaithful, kFaithful},
};

struct NarrowError {
  double exact_ulp = 0;           ///< largest distance from the exact value
  double rounded_ulp = 0;         ///< largest distance from the correctly rounded one
  std::uint32_t at = 0;           ///< the code of that input
  std::uint32_t not_nearest = 0;  ///< codes whose result is not the correctly rounded one
};

/// The spacing of the format at x.
inline long double spacing(description::Element format, long double x) {
  const bool is_half = format == description::Element::f16;
  const int smallest = is_half ? -14 : -126, digits = is_half ? 10 : 7;
  const int exponent = x == 0 || std::isinf(x) ? smallest : std::ilogb(x);
  return std::ldexp(1.0L, std::max(exponent, smallest) - digits);
}

/// x rounded to the format, ties to even.
inline long double nearest(description::Element format, long double x) {
  if (std::isinf(x) || std::isnan(x)) return x;
  const long double place = spacing(format, x), rounded = std::nearbyint(x / place) * place;
  const long double beyond = format == description::Element::f16 ? 0x1p+16L : 0x1p+128L;
  const bool overflows = std::fabs(rounded) >= beyond;
  return std::copysign(overflows ? std::numeric_limits<long double>::infinity() : rounded, x);
}

/// In spacings of the format at `wanted`; infinity where one of the two is NaN, infinite or of the
/// other sign and the other is not.
inline double distance(description::Element format, float got, long double wanted) {
  if (std::isnan(got) && std::isnan(wanted)) return 0;
  if (got == wanted && std::signbit(got) == std::signbit(wanted)) return 0;
  const bool differs = std::isnan(got) || std::isnan(wanted) || std::isinf(wanted) ||
                       std::signbit(got) != std::signbit(wanted);
  if (differs) return std::numeric_limits<double>::infinity();
  // An infinity stands one spacing past the largest value.
  const long double beyond = format == description::Element::f16 ? 0x1p+16L : 0x1p+128L;
  const long double value = std::isinf(got) ? std::copysign(beyond, wanted) : got;
  return static_cast<double>(std::fabs(value - wanted) / spacing(format, wanted));
}

/// Over all codes.
inline NarrowError error_of(const NarrowCase& c, description::Element format) {
  NarrowError error;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const float x = decode(format, static_cast<std::uint16_t>(code));
    const float got = round({format}, c.function(x));
    const long double exact = c.oracle(x), wanted = nearest(format, exact);
    const double from_wanted = distance(format, got, wanted);
    if (from_wanted > 0) ++error.not_nearest;
    if (from_wanted > error.rounded_ulp) {
      error.rounded_ulp = from_wanted;
      error.at = code;
    }
    if (!std::isinf(wanted))
      error.exact_ulp = std::max(error.exact_ulp, distance(format, got, exact));
  }
  return error;
}

}  // namespace halftone::reference
