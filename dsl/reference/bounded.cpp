// SPDX-License-Identifier: Apache-2.0
// Functions of Bounded: how an argument's error reaches the result, plus the recipe's own error.
#include "halftone/reference/bounded.hpp"

#include <algorithm>
#include <cmath>

#include "numerics.hpp"

namespace halftone::reference {
namespace {

// The recipes stay within this many units in the last place of the correctly rounded result
// (docs/numerics.md).
constexpr double kRecipeUlps = 2;
constexpr double kLargestUlp = 0x1p-23;  // relative to the result

// The argument of x's interval that is nearest to zero, where bell-shaped derivatives are largest.
double nearest_to_zero(Bounded x) {
  return x.value > 0 ? std::max(x.value - x.error, 0.0) : std::min(x.value + x.error, 0.0);
}

Bounded recipe_result(double value, double inherited) {
  return Bounded::rounded(value,
                          inherited + kRecipeUlps * kLargestUlp * (std::fabs(value) + inherited));
}

}  // namespace

Bounded sqrt(Bounded x) {
  const double root = std::sqrt(x.value);
  return Bounded::rounded(root, root - std::sqrt(std::max(x.value - x.error, 0.0)));
}

Bounded absolute(Bounded x) {
  x.value = std::fabs(x.value);
  return x;
}

Bounded floor(Bounded x) {
  const double low = std::floor(x.value - x.error), high = std::floor(x.value + x.error);
  x.value = std::floor(x.value);
  x.error = std::max(x.value - low, high - x.value);
  return x;
}

Bounded exp(Bounded x) {
  const double value = std::exp(x.value);
  return recipe_result(value, value * std::expm1(x.error));
}

Bounded expm1(Bounded x) {
  return recipe_result(std::expm1(x.value), std::exp(x.value) * std::expm1(x.error));
}

Bounded log(Bounded x) {
  Bounded::require_decided(x.value > x.error);
  const double value = std::log(x.value);
  return recipe_result(value, -std::log1p(-x.error / x.value));
}

Bounded log1p(Bounded x) {
  const double sum = 1 + x.value;
  Bounded::require_decided(sum > x.error);
  return recipe_result(std::log1p(x.value), -std::log1p(-x.error / sum));
}

Bounded sin(Bounded x) { return recipe_result(std::sin(x.value), x.error); }
Bounded cos(Bounded x) { return recipe_result(std::cos(x.value), x.error); }

namespace {

// Of a base above zero: monotone in base and exponent, so farthest off in a corner.
double farthest_power(Bounded x, Bounded y) {
  const double value = std::pow(x.value, y.value);
  double off = 0;
  for (const double base : {x.value - x.error, x.value + x.error}) {
    for (const double exponent : {y.value - y.error, y.value + y.error})
      off = std::max(off, std::fabs(std::pow(base, exponent) - value));
  }
  return off;
}

}  // namespace

// Another base is 0 as it is, below an exponent above 0; or it has a whole exponent that is known,
// and is not near zero where that is negative.
Bounded pow(Bounded x, Bounded y) {
  const double value = std::pow(x.value, y.value), size = std::fabs(x.value);
  if (size + x.error == 0 && y.value > y.error) return {};
  if (x.value > x.error) return recipe_result(value, farthest_power(x, y));
  Bounded::require_decided(y.error == 0 && std::floor(y.value) == y.value &&
                           (y.value >= 0 || size > x.error));
  const double most = std::pow(size + x.error, y.value);
  if (size <= x.error) return recipe_result(value, std::fabs(value) + most);
  Bounded magnitude = x;
  magnitude.value = size;
  return recipe_result(value, farthest_power(magnitude, y));
}

Bounded tanh(Bounded x) {
  const double slope = 1 - std::pow(std::tanh(nearest_to_zero(x)), 2);
  return recipe_result(std::tanh(x.value), slope * x.error);
}

Bounded erf(Bounded x) {
  const double slope = 2 / std::sqrt(std::acos(-1.0)) * std::exp(-std::pow(nearest_to_zero(x), 2));
  return recipe_result(std::erf(x.value), slope * x.error);
}

Bounded sigmoid(Bounded x) {
  const double at = sigmoid(nearest_to_zero(x));
  return recipe_result(sigmoid(x.value), at * (1 - at) * x.error);
}

namespace {

// What a function's narrow recipe is off by at most, and a derivative's in either grade near its
// root; of the smallest results that bf16 has, the first.
Bounded graded(double value, double inherited, Grade grade, double of_cancellation) {
  constexpr double kFullUlps = 8, kNarrow = 0x1p-13;
  const double relative = grade == Grade::full ? kFullUlps * kLargestUlp : kNarrow;
  return Bounded::rounded(value,
                          inherited + relative * (std::fabs(value) + inherited) + of_cancellation);
}

constexpr double kOfCancellation = 0x1p-22;

}  // namespace

Bounded exp(Bounded x, Grade grade) {
  const double value = std::exp(x.value);
  return grade == Grade::full ? exp(x) : graded(value, value * std::expm1(x.error), grade, 0);
}

Bounded tanh(Bounded x, Grade grade) {
  const Bounded full = tanh(x);
  return grade == Grade::full ? full : graded(full.value, full.error, grade, 0);
}

Bounded sigmoid(Bounded x, Grade grade) {
  const Bounded full = sigmoid(x);
  return grade == Grade::full ? full : graded(full.value, full.error, grade, 0);
}

// No slope of gelu or silu is above 1.13, none of their derivatives' above 0.9.
#define HALFTONE_GRADED(function, slope, of_cancellation)                             \
  Bounded function(Bounded x, Grade grade) {                                          \
    return graded(function(x.value, grade), slope * x.error, grade, of_cancellation); \
  }
HALFTONE_GRADED(gelu_erf, 1.13, 0)
HALFTONE_GRADED(gelu_tanh, 1.13, 0)
HALFTONE_GRADED(silu, 1.13, 0)
HALFTONE_GRADED(gelu_erf_derivative, 0.9, kOfCancellation)
HALFTONE_GRADED(gelu_tanh_derivative, 0.9, kOfCancellation)
HALFTONE_GRADED(silu_derivative, 0.9, kOfCancellation)
#undef HALFTONE_GRADED

Bounded rsqrt(Bounded x) {
  Bounded::require_decided(x.value > x.error);
  const double value = 1 / std::sqrt(x.value);
  return recipe_result(value, 1 / std::sqrt(x.value - x.error) - value);
}

// Minimum and maximum move by no more than their operands do, whichever is chosen.
Bounded minimum(Bounded a, Bounded b) {
  Bounded result = a.value < b.value ? a : b;
  result.error = std::max(a.error, b.error);
  return result;
}

Bounded maximum(Bounded a, Bounded b) { return -minimum(-a, -b); }

Bounded row_maximum(std::span<const Bounded> values) {
  Bounded result = values[0];
  for (const Bounded& value : values) result = maximum(result, value);
  return result;
}

}  // namespace halftone::reference
