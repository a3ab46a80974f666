// SPDX-License-Identifier: Apache-2.0
// How many elements shapes may have, and arithmetic of extents that overflows nowhere.
#pragma once

#include <cstdint>

namespace halftone::description {

/// Of a dimension, and of the product of a shape's extents and factors. D4
inline constexpr std::int64_t kMostOfShape = std::int64_t{1} << 40;

namespace detail {
inline constexpr std::int64_t kBeyond = kMostOfShape + 1;
constexpr std::int64_t bounded(std::int64_t extent) {
  return extent > kBeyond ? kBeyond : extent < -kBeyond ? -kBeyond : extent;
}
}  // namespace detail

/// What is beyond kMostOfShape, in either direction, is one more than that.
constexpr std::int64_t sum_of_extents(std::int64_t a, std::int64_t b) {
  return detail::bounded(detail::bounded(a) + detail::bounded(b));
}
constexpr std::int64_t product_of_extents(std::int64_t a, std::int64_t b) {
  a = detail::bounded(a);
  b = detail::bounded(b);
  const std::int64_t left = a < 0 ? -a : a, right = b < 0 ? -b : b;
  if (left == 0 || right <= detail::kBeyond / left) return a * b;
  return (a < 0) == (b < 0) ? detail::kBeyond : -detail::kBeyond;
}

}  // namespace halftone::description
