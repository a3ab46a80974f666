// SPDX-License-Identifier: Apache-2.0
// Sums by AVX512-BF16 are the chain N1 where nothing is flushed (decisions/0073).
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

TEST_CASE("steps of numbers that are not tiny equal the reference to the last bit") {
  check_steps(kArtifacts, {tested_variant}, {1, 5, 37}, 3);
}

}  // namespace halftone::tests
