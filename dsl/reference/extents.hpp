// SPDX-License-Identifier: Apache-2.0
// Shapes with every symbol bound.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/reference/evaluator.hpp"

namespace halftone::reference {

/// Outermost first; empty for a scalar.
using Extents = std::vector<std::int64_t>;

inline Extents bound(const description::Shape& shape, const Symbols& symbols) {
  Extents extents;
  for (const description::Dimension& dimension : shape) {
    std::int64_t extent = dimension.extent;
    if (!dimension.symbol.empty()) extent += dimension.factor * symbols.at(dimension.symbol);
    extents.push_back(extent);
  }
  return extents;
}

/// The number of elements.
inline std::int64_t count(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// The last extent, 1 for scalars.
inline std::int64_t columns(const Extents& extents) { return extents.empty() ? 1 : extents.back(); }

}  // namespace halftone::reference
