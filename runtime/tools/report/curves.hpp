// SPDX-License-Identifier: Apache-2.0
// Long series as few points.
#pragma once

#include <span>
#include <vector>

#include "run_file.hpp"

namespace halftone::tools {

/// Of every one of `columns` equal parts of [first, last] the first, least, greatest and last
/// finite value, in their order: drawn in so many pixels they give the picture of all (M4: Jugel et
/// al., VLDB 2014). Values that are not finite are kept, since a line has a gap there.
[[nodiscard]] std::vector<Point> thinned(std::span<const Point> points, std::int64_t first,
                                         std::int64_t last, int columns);

/// The greater one of two in the middle. Reorders the values, of which there must be some.
[[nodiscard]] double median_of(std::span<double> values);

enum class Middle { mean, median };

/// Of `parts` groups of neighbours, each at its middle step; what is not finite is left out.
[[nodiscard]] std::vector<Point> smoothed(std::span<const Point> points, std::size_t parts,
                                          Middle middle);

}  // namespace halftone::tools
