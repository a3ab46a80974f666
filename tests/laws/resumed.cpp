// SPDX-License-Identifier: Apache-2.0
// A trainer that is saved and resumed goes on as one that never stopped, to the bit: every model,
// stopped at random steps, resumed with another seed, another number of threads and after other
// steps.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kBatch = 6;
constexpr int kSteps = 12, kStops = 3;

/// What the steps to come depend on, and what was skipped.
std::vector<std::uint32_t> shown(Trainer& trainer) {
  std::vector<std::uint32_t> all;
  for (const std::string& name : trainer.parameter_names())
    for (const float value : trainer.parameter(name)) all.push_back(bits(value));
  const Statistics stats = trainer.stats();
  all.push_back(bits(stats.loss_scale));
  all.push_back(static_cast<std::uint32_t>(stats.steps));
  all.push_back(static_cast<std::uint32_t>(stats.skipped_steps));
  return all;
}

}  // namespace

TEST_CASE("a resumed run is the run that never stopped, for every model") {
  const std::string file =
      std::filesystem::temp_directory_path() / ("halftone_resumed_" + std::to_string(getpid()));
  std::mt19937 random(7);
  int resumed = 0;
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    for (int stop = 0; stop < kStops; ++stop) {
      const int stops_at = static_cast<int>(random() % kSteps);
      CAPTURE(stops_at);
      // Two that draw the same inputs: one is saved and goes on, one resumes.
      Pair straight(artifact.name, *artifact.image, tested_variant, kBatch),
          inputs(artifact.name, *artifact.image, tested_variant, kBatch);
      Trainer other(inputs.artifact, Device::cpu(tested_variant).with_threads(3), inputs.setup(2));
      for (int step = 0; step < kSteps; ++step) {
        inputs.draw();
        straight.draw();
        if (step == stops_at) {
          straight.trainer.save(file);
          if (stop > 0) other.step(inputs.named_inputs());
          REQUIRE(other.resume(file).steps == step);
        }
        straight.trainer.step(straight.named_inputs());
        if (step >= stops_at) other.step(inputs.named_inputs());
      }
      const bool same = shown(straight.trainer) == shown(other);
      CHECK(same);
      resumed += same;
    }
  }
  std::remove(file.c_str());
  MESSAGE("resumed to the bit " << resumed << " of " << kStops * int(std::size(kArtifacts)));
}

}  // namespace halftone::tests
