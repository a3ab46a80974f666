// SPDX-License-Identifier: Apache-2.0
// How many elements shapes may have, and arithmetic of extents that overflows nowhere.
#pragma once

#include <cstdint>

namespace halftone::description {

/// Of a dimension, and of the product of a shape's extents and factors. D4
inline constexpr std::int64_t kMostOfShape = std::int64_t{1} << 40;

/// In the place of what no shape may have.
inline constexpr std::int64_t kBeyondShapes = kMostOfShape + 1;

/// What is beyond kMostOfShape, in either direction, is one more than that; so it may be multiplied
/// by a step of windows, and added to as many.
constexpr std::int64_t bounded_extent(std::int64_t extent) {
  return extent > kBeyondShapes ? kBeyondShapes : extent < -kBeyondShapes ? -kBeyondShapes : extent;
}

/// Likewise bounded, where nothing is taken from them that would bring what is beyond back.
constexpr std::int64_t sum_of_extents(std::int64_t a, std::int64_t b) {
  return bounded_extent(bounded_extent(a) + bounded_extent(b));
}
constexpr std::int64_t product_of_extents(std::int64_t a, std::int64_t b) {
  a = bounded_extent(a);
  b = bounded_extent(b);
  const std::int64_t left = a < 0 ? -a : a, right = b < 0 ? -b : b;
  if (left == 0 || right <= kBeyondShapes / left) return a * b;
  return (a < 0) == (b < 0) ? kBeyondShapes : -kBeyondShapes;
}

}  // namespace halftone::description
