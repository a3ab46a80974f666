// SPDX-License-Identifier: Apache-2.0
// P98 on simulated chips: trainers whose activations stay in the host's memory between the passes
// take the steps of those that keep them on the device, to the bit, and need less of it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/stages.hpp"
#include "halftone/trainer.hpp"
#include "laws/own_pair.hpp"
#include "simulation.hpp"

namespace halftone::tests {

namespace {

using Devices = Device (*)(const std::string& chip);
Device launch_by_launch(const std::string& chip) { return simulated(chip); }

/// One trainer whose activations stay in the host's memory, and one that keeps them.
struct Both {
  Both(const std::string& name, Devices device, const std::string& chip, std::int64_t batch)
      : pair(make_pair(find_artifact(name + "_in_host"), "x86-64-v3", batch)),
        host(pair.artifact, device(chip), pair.setup(1)),
        kept(Artifact::linked(*find_artifact(name + "_in_device").image), device(chip),
             pair.setup(1)) {}

  template <class Act>
  void each(Act act) {
    for (Trainer* trainer : {&host, &kept}) act(*trainer);
  }

  void compare() {
    for (const manifest::Parameter& parameter : pair.artifact.manifest().parameters) {
      const std::string& name = parameter.name;
      CAPTURE(name);
      CHECK(first_difference(host.parameter(name), kept.parameter(name)) == -1);
      if (parameter.trained)
        CHECK(first_difference(host.gradient(name), kept.gradient(name)) == -1);
    }
    CHECK(host.stats().skipped_steps == kept.stats().skipped_steps);
  }

  Pair pair;
  Trainer host, kept;
};

/// What of its training's programs for chips stays.
std::size_t count_stays(const Artifact& artifact) {
  std::size_t count = 0;
  for (const manifest::Manifest& manifest : artifact.manifests())
    for (const manifest::Program& program : manifest.programs) count += program.stays.size();
  return count;
}

void check(const std::string& name, Devices device) {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    Both both(name, device, chip, 6);
    CHECK(count_stays(both.pair.artifact) > 0);
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      both.pair.draw();
      if (step == 2) both.pair.spoil(INFINITY);
      both.each([&](Trainer& trainer) {
        if (step == 3)
          for (int i = 0; i < 2; ++i) trainer.accumulate(both.pair.named_inputs());
        trainer.step(both.pair.named_inputs());
        CHECK(trainer.updated() == (step != 2));
      });
      both.compare();
    }
    both.pair.draw();
    both.each([&](Trainer& trainer) {
      trainer.forward(both.pair.named_inputs());
      trainer.backward();
      trainer.check();
      trainer.update();
    });
    both.compare();
  }
}

}  // namespace

TEST_CASE("P98: steps, micro-batches and passes apart have the bits of activations on the device") {
  check("layers", in_graphs);
  check("layers", launch_by_launch);
}

TEST_CASE("P98: so have losses in chunks of rows") {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    const std::vector<Binding> bindings = {{"batch", 3}, {"time", 5}};
    const auto trainer_of = [&](const std::string& memory) {
      return Trainer(Artifact::linked(*find_artifact("chunks_in_" + memory).image), in_graphs(chip),
                     {.model = "", .bindings = bindings, .seed = 3});
    };
    Trainer host = trainer_of("host"), kept = trainer_of("device");
    CHECK(count_stays(Artifact::linked(*find_artifact("chunks_in_host").image)) > 0);
    for (int step = 0; step < 3; ++step) {
      std::vector<std::int32_t> tokens, next;
      for (int i = 0; i < 15; ++i) {
        tokens.push_back((7 * i + 11 * step) % 50);
        next.push_back((5 * i + 3 * step + 1) % 50);
      }
      for (Trainer* trainer : {&host, &kept}) {
        trainer->step(std::vector<NamedValues>{{"tokens", std::span<const std::int32_t>(tokens)},
                                               {"next", std::span<const std::int32_t>(next)}});
      }
      for (const std::string& name : host.parameter_names()) {
        CAPTURE(name);
        CHECK(first_difference(host.parameter(name), kept.parameter(name)) == -1);
      }
    }
  }
}

TEST_CASE("P98: gradients that a caller gives, and runs of fewer rows, find them likewise") {
  for (const char* chip : {"sm_75", "sm_90a"}) {
    CAPTURE(std::string(chip));
    Both both("layers", in_graphs, chip, 6);
    both.pair.draw();
    std::vector<float> gradient(30);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] = 0.125f * static_cast<float>(i % 7) - 0.25f;
    both.each([&](Trainer& trainer) {
      trainer.forward(both.pair.named_inputs());
      trainer.backward(std::vector<NamedValues>{{"y", std::span<const float>(gradient)}});
      trainer.check();
      trainer.update();
    });
    both.compare();

    Pair fewer = make_pair(find_artifact("layers_in_host"), "x86-64-v3", 2, 5);
    fewer.draw();
    for (int step = 0; step < 2; ++step) {
      both.each([&](Trainer& trainer) { trainer.step(fewer.named_inputs()); });
      both.compare();
      both.pair.draw();
      both.each([&](Trainer& trainer) { trainer.step(both.pair.named_inputs()); });
      both.compare();
    }
  }
}

TEST_CASE("P98: stages whose activations stay and stages whose do not lie in one memory") {
  Both both("stages", in_graphs, "sm_90a", 5);
  CHECK(count_stays(both.pair.artifact) > 0);
  for (const std::string stage : {"full", "predict", "warmup", "full", "correct", "predict"}) {
    CAPTURE(stage);
    for (int step = 0; step < 2; ++step) {
      both.pair.draw();
      both.each([&](Trainer& trainer) {
        trainer.enter(stage);
        trainer.step(both.pair.named_inputs());
      });
      both.compare();
    }
  }
}

TEST_CASE("P98: the device holds less, the host what stays, and a CPU one memory as before") {
  Both both("layers", in_graphs, "sm_90a", 6);
  const Statistics host = both.host.stats(), kept = both.kept.stats();
  CHECK(host.peak_bytes_measured == host.peak_bytes_predicted);
  CHECK(kept.host_bytes == 0);
  CHECK(host.host_bytes > 0);
  const Artifact other = Artifact::linked(*find_artifact("layers_in_device").image);
  const auto plan = [&](const Artifact& artifact, const Device& device) {
    return plan_stages(artifact, device, both.pair.setup(1)).front();
  };
  const Device chip = in_graphs("sm_90a"), cpu = Device::cpu("x86-64-v3");
  const StageMemory stays = plan(both.pair.artifact, chip), lies = plan(other, chip);
  CHECK(stays.bytes() < lies.bytes());  // of the arena, which the simulator takes apart
  CHECK(stays.host == host.host_bytes);
  CHECK(lies.host == 0);
  CHECK(plan(both.pair.artifact, cpu).host == 0);
  CHECK(plan(both.pair.artifact, cpu).bytes() == plan(other, cpu).bytes());
}

}  // namespace halftone::tests
