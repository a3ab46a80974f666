// SPDX-License-Identifier: Apache-2.0
// The parts of a clause that are numbers: the first and last contractions, copies of a repeat and
// elements (P60).
#pragma once

#include <cstdint>

namespace halftone::description {

/// 0 is a part that is not stated; the others must all fit.
struct Bounds {
  std::int64_t first = 0, last = 0;             ///< so many contractions, in the order of the nodes
  std::int64_t depth_from = 0, depth_end = 0;   ///< copies from..end-1 of the outermost repeat
  std::int64_t at_least = 0, smaller_than = 0;  ///< elements of the largest parameter

  bool operator==(const Bounds&) const = default;
  constexpr bool stated() const { return !(*this == Bounds{}); }
};

/// Where a layer, or a parameter as the layers that read it, stands; -1: nowhere, and no bound of
/// that fits.
struct Place {
  std::int64_t before = -1, behind = -1;  ///< contractions before it and behind it
  std::int64_t depth = -1;                ///< the number of its copy
  std::int64_t elements = -1;
};

constexpr bool fits(const Bounds& bounds, const Place& at) {  // P60
  const auto below = [](std::int64_t is, std::int64_t end) { return is >= 0 && is < end; };
  if (bounds.first != 0 && !below(at.before, bounds.first)) return false;
  if (bounds.last != 0 && !below(at.behind, bounds.last)) return false;
  if (bounds.depth_end != 0 &&
      !(at.depth >= bounds.depth_from && below(at.depth, bounds.depth_end))) {
    return false;
  }
  if (bounds.smaller_than != 0 && !below(at.elements, bounds.smaller_than)) return false;
  return bounds.at_least == 0 || at.elements >= bounds.at_least;
}

/// What is wrong with bounds in any model; null when all is well.
constexpr const char* bounds_fault(const Bounds& is) {
  if (is.first < 0 || is.last < 0) return "first or last so many layers, but not 1 or more";
  if (is.depth_from < 0 || is.depth_end < 0 ||
      (is.depth_from >= is.depth_end && (is.depth_from != 0 || is.depth_end != 0))) {
    return "a depth whose end is not above its begin, which is 0 or more";
  }
  if (is.at_least < 0 || is.smaller_than < 0) return "a number of elements, but not 1 or more";
  if (is.smaller_than != 0 && is.at_least >= is.smaller_than) {
    return "at_least what smaller_than excludes";
  }
  return nullptr;
}

}  // namespace halftone::description
