// SPDX-License-Identifier: Apache-2.0
// Every declared rounding survives fusion: an artifact whose every operation is a kernel of its own
// gives the bits of the fused one, in everything that can be read, over training steps.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
TEST_CASE("recomputed activations have the bits of saved ones (P16)") {
  std::int64_t launched[2] = {};
  for (const LinkedArtifact& other : kRecomputingArtifacts) {
    CAPTURE(std::string(other.name));
    Pair pair("every_layer", *find_artifact("every_layer").image, tested_variant, 37);
    Trainer trainer(Artifact::linked(*other.image), pair.device, pair.setup(1));
    check_equal_steps(pair, trainer);
    launched[&other - kRecomputingArtifacts] = launches(trainer);
  }
  CHECK(launched[0] > launched[1]);  // what is computed again takes launches
}

TEST_CASE("fused kernels give the bits of unfused ones") {
  for (const LinkedArtifact& unfused : kUnfusedArtifacts) {
    CAPTURE(std::string(unfused.name));
    Pair fused(std::string(unfused.name), *find_artifact(unfused.name).image, tested_variant, 37);
    const auto plain = Artifact::linked(*unfused.image);
    Trainer trainer(plain, fused.device, fused.setup(1));
    CHECK(launches(trainer) > launches(fused.trainer));
    check_equal_steps(fused, trainer);
  }
}

}  // namespace halftone::tests
