// SPDX-License-Identifier: Apache-2.0
// P68, P69, P86 on simulated chips: steps with drawn states of 16 bits or in blocks and masters
// with a remainder have the CPU's bits, which laws compare with the reference.
#include <doctest/doctest.h>

#include <string>

#include "artifacts.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulated/checkpoint_of.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

/// Four steps, the third of which is skipped, on the CPU and on a chip.
void check_on_chips(const char* artifact) {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    Pair pair = make_pair(find_artifact(artifact), "x86-64-v3", 6);
    Trainer trainer(pair.artifact, simulated(chip), pair.setup(1));
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      pair.draw();
      if (step == 2) pair.spoil(INFINITY);
      for (Trainer* each : {&pair.trainer, &trainer}) {
        each->step(pair.named_inputs());
        REQUIRE(each->updated() == (step != 2));
      }
      for (const std::string& name : trainer.parameter_names()) {
        CAPTURE(name);
        CHECK(first_difference(trainer.parameter(name), pair.trainer.parameter(name)) == -1);
      }
      CHECK(checkpoint_of(trainer) == checkpoint_of(pair.trainer));
    }
  }
}

}  // namespace

TEST_CASE("states and masters of 16 bits have the CPU's bits on a chip") {
  check_on_chips("held_states_on_chips");
}

TEST_CASE("P86: states in blocks have the CPU's bits on a chip") {
  check_on_chips("blocks_on_chips");
}

TEST_CASE("U18: adafactor has the CPU's bits on a chip") { check_on_chips("adafactor_on_chips"); }

}  // namespace halftone::tests
