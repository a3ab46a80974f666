// SPDX-License-Identifier: Apache-2.0
// P68, P69, P86, P91 on simulated chips: steps with drawn states of 16 bits or in blocks, masters
// with a remainder and states in the host's memory have the CPU's bits, which laws compare with the
// reference.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/stages.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulated/checkpoint_of.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

/// Four steps, the third of which is skipped, on the CPU and on a chip; of `micro_batches` each.
void check_on_chips(const char* artifact, Device (*device)(const std::string& chip),
                    int micro_batches = 1) {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    Pair pair = make_pair(find_artifact(artifact), "x86-64-v3", 6);
    Trainer trainer(pair.artifact, device(chip), pair.setup(1));
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      pair.draw();
      if (step == 2) pair.spoil(INFINITY);
      for (Trainer* each : {&pair.trainer, &trainer}) {
        for (int i = 1; i < micro_batches; ++i) each->accumulate(pair.named_inputs());
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

void check_on_chips(const char* artifact) {
  check_on_chips(artifact, [](const std::string& chip) { return simulated(chip); });
}

}  // namespace

TEST_CASE("states and masters of 16 bits have the CPU's bits on a chip") {
  check_on_chips("held_states_on_chips");
}

TEST_CASE("P86: states in blocks have the CPU's bits on a chip") {
  check_on_chips("blocks_on_chips");
}

TEST_CASE("P91: states in the host's memory have the CPU's bits on a chip") {
  check_first_steps(std::span(&find_artifact("parts_on_chips"), 1), "x86-64-v3");
  check_on_chips("parts_on_chips");
  check_on_chips("parts_on_chips", in_graphs);
  check_on_chips("parts_on_chips", in_graphs, 3);
}

TEST_CASE("P91: a checkpoint goes on where states lie elsewhere, and memory says where they do") {
  Pair pair = make_pair(find_artifact("parts_on_chips"), "x86-64-v3", 6);
  Trainer trainer(pair.artifact, in_graphs("sm_90a"), pair.setup(1));
  const std::string file =
      std::filesystem::temp_directory_path() / ("halftone_parts_" + std::to_string(getpid()));
  pair.draw();
  for (int step = 0; step < 2; ++step) pair.trainer.step(pair.named_inputs());
  pair.trainer.save(file);
  trainer.step(pair.named_inputs());
  trainer.resume(file);
  for (Trainer* each : {&pair.trainer, &trainer}) each->step(pair.named_inputs());
  CHECK(checkpoint_of(trainer) == checkpoint_of(pair.trainer));
  trainer.save(file);
  pair.trainer.resume(file);
  for (Trainer* each : {&pair.trainer, &trainer}) each->step(pair.named_inputs());
  CHECK(checkpoint_of(trainer) == checkpoint_of(pair.trainer));
  std::remove(file.c_str());

  // adamw's three moments with amsgrad, their scales and the average, of every trained element.
  const std::int64_t elements = pair.artifact.manifest().trained_elements;
  const std::int64_t host = trainer.stats().host_bytes;
  CHECK(host >= 3 * elements + 3 * elements / 32 * 4 + 4 * elements);
  CHECK(host < 3 * elements + 3 * elements / 32 * 4 + 4 * elements + 7 * 64);
  CHECK(pair.trainer.stats().host_bytes == 0);
  const std::vector<StageMemory> planned =
      plan_stages(pair.artifact, in_graphs("sm_90a"), pair.setup(1));
  const std::vector<StageMemory> of_cpu =
      plan_stages(pair.artifact, Device::cpu("x86-64-v3"), pair.setup(1));
  CHECK(planned[0].host == host);
  CHECK(of_cpu[0].host == 0);
  CHECK(of_cpu[0].bytes() == planned[0].bytes() + host);
}

TEST_CASE("U18: adafactor has the CPU's bits on a chip") { check_on_chips("adafactor_on_chips"); }

}  // namespace halftone::tests
