// SPDX-License-Identifier: Apache-2.0
// Under `accumulate ordered` a whole training run has the same bits everywhere (P21, N1).
#include <doctest/doctest.h>

#include <cstdio>
#include <deque>
#include <string>

#include "artifacts.hpp"
#include "laws/pair.hpp"

namespace halftone::tests {

TEST_CASE("20 ordered steps of the quickstart's network equal reference, CPU and simulated chips") {
  constexpr int kSteps = 20;
  struct Case {
    const char* model;
    const manifest::ArtifactImage* image;
  };
  const Case cases[] = {{"digits", &halftone_artifact_digits},
                        {"digits_bf16", &halftone_artifact_digits_bf16},
                        {"digits_f16", &halftone_artifact_digits_f16},
                        {"digits_tf32", &halftone_artifact_digits_tf32}};
  const char* const chips[] = {"sm_75", "sm_80", "sm_90a"};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.model));
    // No clause of the reference's model says `ordered`: the reference always is.
    Pair pair(c.model, *c.image, "x86-64", 16);
    std::deque<Trainer> trainers;
    for (const char* chip : chips)
      trainers.emplace_back(pair.artifact, Device::simulated(chip), pair.setup(1));
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      pair.draw();
      const auto expected = pair.reference.step(pair.state, pair.inputs);
      pair.trainer.step(pair.named_inputs());
      REQUIRE(pair.trainer.updated() == expected.finite);
      pair.state = expected.state;
      for (Trainer& trainer : trainers) {
        trainer.step(pair.named_inputs());
        REQUIRE(trainer.updated() == expected.finite);
        REQUIRE(bits(trainer.stats().grad_norm) == bits(expected.norm));
      }
    }
    for (const auto& [name, values] : pair.state.parameters) {
      CAPTURE(name);
      CHECK(first_difference(pair.trainer.parameter(name), values) == -1);
      for (const Trainer& trainer : trainers)
        CHECK(first_difference(trainer.parameter(name), values) == -1);
    }
    std::printf(
        "%s: %d ordered steps with the bits of the reference on the CPU, sm_75, sm_80 and sm_90a\n",
        c.model, kSteps);
  }
}

}  // namespace halftone::tests
