// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits: generated code, fused and unfused, equals the reference to the last bit, with
// saturation and without, to the nearest and toward zero; what is not saturated is found out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

float largest(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::fabs(value));
  return most;
}

}  // namespace

TEST_CASE("steps in floats of 8 bits equal the declared reference") {
  check_steps(kArtifacts, tested_variants(), {1, 5, 37, 300}, 3);
}

TEST_CASE("fused kernels give the bits of unfused ones in floats of 8 bits") {
  for (const LinkedArtifact& unfused : kUnfusedArtifacts) {
    CAPTURE(std::string(unfused.name));
    Pair fused = make_pair(find_artifact(unfused.name), tested_variant, 37);
    Trainer trainer(Artifact::linked(*unfused.image), fused.device, fused.setup(1));
    CHECK(launches(trainer) > launches(fused.trainer));
    check_equal_steps(fused, trainer);
  }
}

TEST_CASE("what exceeds a float that saturates becomes its largest number, and the step is taken") {
  Pair pair = make_pair(find_artifact("float8_stated"), tested_variant, 1);
  float activation = 0, gradient = 0;
  for (int step = 0; step < 8; ++step) {
    pair.draw();
    const auto forward = pair.reference.forward(pair.state, pair.inputs);
    const auto gradients = pair.reference.backward(forward);
    activation = std::max(activation, largest(forward.values[pair.reference.find("fc")]));
    gradient = std::max(gradient, largest(gradients[pair.reference.find("mix")]));
    check_step(pair);
    CHECK(pair.trainer.updated());
  }
  CHECK(activation == 448);  // of f8e4m3
  CHECK(gradient == 57344);  // of f8e5m2
}

TEST_CASE("an infinite input becomes the largest number where every operand saturates") {
  for (const char* name : {"float8_rounded_twice", "float8_half"})
    for (const float infinity : {INFINITY, -INFINITY}) {
      CAPTURE(std::string(name));
      CAPTURE(infinity);
      Pair pair = make_pair(find_artifact(name), tested_variant, 5);
      pair.draw();
      pair.spoil(infinity);
      check_step(pair);
      CHECK(pair.trainer.updated());
    }
}

TEST_CASE("what exceeds f8e4m3 without saturation is NaN, and the step is skipped and explained") {
  Pair pair = make_pair(find_artifact("float8_overflowing"), tested_variant, 37);
  pair.draw();
  check_step(pair);
  CHECK_FALSE(pair.trainer.updated());
  const auto diagnosis = pair.trainer.diagnose();
  REQUIRE(diagnosis.has_value());
  CHECK(diagnosis->layer == "fc");
}

}  // namespace halftone::tests
