// SPDX-License-Identifier: Apache-2.0
// Numbers of a Description as a step computes with them: rounded to f32 (F2). All of it works
// while compiling, too.
#pragma once

namespace halftone::description {

/// The least double that does not round to a finite f32: halfway between the largest one and 2^128.
inline constexpr double kInfiniteInF32 = 0x1.ffffffp127;

constexpr bool is_finite_in_f32(double value) {
  return value < kInfiniteInF32 && value > -kInfiniteInF32;
}

constexpr bool is_not_negative_in_f32(double value) {  // and finite
  return value >= 0 && value < kInfiniteInF32;
}

constexpr bool is_positive_in_f32(double value) {  // and finite
  return value > 0x1p-150 && value < kInfiniteInF32;
}

/// At least 0 and below 1.
constexpr bool is_fraction_in_f32(double value) {
  return value >= 0 && is_finite_in_f32(value) && static_cast<float>(value) < 1;
}

/// A positive finite number whose reciprocal is finite, too.
constexpr bool is_divisor_in_f32(double value) {
  return is_positive_in_f32(value) && static_cast<float>(value) > 0x1p-128f;
}

}  // namespace halftone::description
