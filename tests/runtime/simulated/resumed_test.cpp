// SPDX-License-Identifier: Apache-2.0
// A run that is saved on a simulated chip goes on there and on the CPU as the one that never
// stopped, to the bit: a loss scale that moves, draws, and states.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "artifacts.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/device.hpp"
#include "halftone/trainer.hpp"
#include "inputs.hpp"
#include "ordered_cpu.hpp"

using namespace simulated;
using halftone::Device, halftone::Trainer;
using halftone::manifest::ArtifactImage;

namespace {

/// What the steps to come depend on, and what was skipped.
std::vector<std::uint32_t> shown(const Trainer& trainer) {
  std::vector<std::uint32_t> all;
  const auto add = [&](std::span<const float> values) {
    for (const std::uint32_t word : bits(values)) all.push_back(word);
  };
  for (const std::string& name : trainer.parameter_names()) add(trainer.parameter(name));
  for (const std::string& name : trainer.state_names()) add(trainer.state(name));
  const halftone::Statistics stats = trainer.stats();
  add(std::array{stats.loss_scale, stats.grad_norm, stats.losses[0].value});
  all.push_back(static_cast<std::uint32_t>(stats.steps));
  all.push_back(static_cast<std::uint32_t>(stats.skipped_steps));
  return all;
}

}  // namespace

TEST_CASE("a run saved on a simulated chip goes on there and on the CPU, to the bit") {
  struct Case {
    const char* model;
    const ArtifactImage* image;
    const char* chip;
    int stops_at;
  };
  const Case cases[] = {{"digits_f16", &halftone_artifact_digits_f16, "sm_75", 3},
                        {"dropout", &halftone_artifact_dropout, "sm_80", 2},
                        {"state_average", &halftone_artifact_state_average, "sm_80", 1}};
  constexpr std::int64_t kBatch = 6;
  constexpr int kSteps = 6, kSpoiled = 2;
  const halftone::tests::ScratchFolder scratch;
  const std::string file = scratch / "run.safetensors";
  for (const Case& c : cases) {
    CAPTURE(c.model);
    const Artifact artifact = Artifact::linked(*c.image);
    const halftone::Binding batch{"batch", kBatch};
    const auto setup = [&](std::uint64_t seed) {
      return halftone::Setup{.model = "", .bindings = std::span(&batch, 1), .seed = seed};
    };
    const Device chip = Device::simulated(c.chip), cpu = halftone::tests::ordered_cpu(artifact);
    Trainer straight(artifact, chip, setup(3)), there(artifact, chip, setup(4)),
        here(artifact, cpu, setup(5));
    Inputs inputs(artifact, kBatch, 7);
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      inputs.draw();
      if (step == kSpoiled) inputs.spoil();
      if (step == c.stops_at) {
        straight.save(file, {.background = true});
        straight.finish_saving();
        for (Trainer* each : {&there, &here}) {
          each->step(inputs.named());  // all of which is replaced
          CHECK(each->resume(file).steps == step);
        }
      }
      straight.step(inputs.named());
      if (step < c.stops_at) continue;
      for (Trainer* each : {&there, &here}) {
        each->step(inputs.named());
        CHECK(shown(*each) == shown(straight));
      }
    }
    CHECK(straight.stats().skipped_steps >= 1);
  }
}
