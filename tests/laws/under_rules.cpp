// SPDX-License-Identifier: Apache-2.0
// Class A for every test model in every format: the models that keep all in f32, under rules for
// bf16, f16 and tf32. Generated code, fused and unfused, equals the reference to the last bit.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

Pair pair_of(const LinkedArtifact& artifact, const std::string& variant, std::int64_t batch) {
  return {load_model(artifact.name, HALFTONE_MODELS_UNDER_RULES), *artifact.image, variant, batch};
}

bool is_large(Pair& pair) {
  return pair.trainer.parameter(pair.trainer.parameter_names().back()).size() > 100000;
}

}  // namespace

TEST_CASE("training steps equal the reference under rules for each format") {
  struct Run {
    std::string variant;
    std::int64_t batch;
  };
  const Run runs[] = {
      {tested_variant, 1}, {baseline_variant, 5}, {tested_variant, 37}, {tested_variant, 300}};
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const Run& run : runs) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(run.batch);
      Pair pair = pair_of(artifact, run.variant, run.batch);
      const int steps = is_large(pair) ? 1 : 3;
      for (int step = 0; step < steps; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
      }
    }
}

TEST_CASE("fused kernels give the bits of unfused ones under rules for each format") {
  for (const LinkedArtifact& unfused : kUnfusedArtifacts) {
    CAPTURE(std::string(unfused.name));
    const LinkedArtifact& artifact = find_artifact(unfused.name);
    Pair fused = pair_of(artifact, tested_variant, 37);
    Trainer trainer(Artifact::linked(*unfused.image), fused.device, fused.setup(1));
    CHECK(launches(trainer) > launches(fused.trainer));
    check_equal_steps(fused, trainer);
  }
}

}  // namespace halftone::tests
