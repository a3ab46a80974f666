// SPDX-License-Identifier: Apache-2.0
// Whether one variant's losses are above another's by more than seeds make.
#pragma once

#include <cstddef>
#include <span>

#include "halftone/bisect.hpp"

namespace halftone {

/// The t that Student's distribution of so many degrees of freedom, 1 at least, is below with this
/// probability, from 0.5 on (Abramowitz and Stegun, 26.7.3 and 26.7.4).
[[nodiscard]] double student_quantile(double probability, std::size_t degrees);

/// Of pairs of one seed each. A pair whose second loss is not finite is left out. The bounds are
/// infinite where fewer than two pairs are finite.
[[nodiscard]] Difference difference_of(std::span<const double> losses,
                                       std::span<const double> others, double confidence);

}  // namespace halftone
