// SPDX-License-Identifier: Apache-2.0
// P66 on simulated chips: a run through stages has the CPU's bits, which laws compare with the
// reference, in all that a checkpoint holds.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulated/checkpoint_of.hpp"
#include "simulation.hpp"

namespace halftone::tests {

TEST_CASE("a run through stages has the CPU's bits on a chip") {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    Pair pair = make_pair(find_artifact("stages_on_chips"), "x86-64-v3", 5);
    Trainer trainer(pair.artifact, simulated(chip), pair.setup(1));
    const std::int64_t bytes = trainer.stats().peak_bytes_measured;
    int visit = 0;
    for (const std::string stage : {"full", "predict", "warmup", "full", "correct", "predict"}) {
      CAPTURE(visit);
      CAPTURE(stage);
      for (int step = 0; step < 2; ++step) {
        CAPTURE(step);
        pair.draw();
        const bool spoils = visit == 3 && step == 0;
        if (spoils) pair.spoil(INFINITY);
        for (Trainer* each : {&pair.trainer, &trainer}) {
          each->enter(stage);
          each->step(pair.named_inputs());
          REQUIRE(each->updated() == !spoils);
        }
        CHECK(trainer.stats().loss_scale == pair.trainer.stats().loss_scale);
      }
      for (const std::string& name : trainer.parameter_names()) {
        CAPTURE(name);
        CHECK(first_difference(trainer.parameter(name), pair.trainer.parameter(name)) == -1);
      }
      CHECK(checkpoint_of(trainer) == checkpoint_of(pair.trainer));
      ++visit;
    }
    CHECK(trainer.stats().peak_bytes_measured == bytes);
  }
}

}  // namespace halftone::tests
