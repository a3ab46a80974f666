// SPDX-License-Identifier: Apache-2.0
// Whether random models have all that the lists of kinds, encodings and optimizers have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halftone::tests {

/// Draws `count` models and says what none of the valid ones has; 0 where nothing is missing.
int check_coverage(std::uint64_t seed, std::size_t count);

}  // namespace halftone::tests
