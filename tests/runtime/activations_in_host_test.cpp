// SPDX-License-Identifier: Apache-2.0
// P98: activations that stay in the host's memory between the passes, from the hand-made artifact:
// what is asked of a driver, where they lie, beside states and in stages, too, and that any of it
// may fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "changed_artifact.hpp"
#include "failing_calls.hpp"
#include "fake_driver.hpp"
#include "halftone/stages.hpp"
#include "host_memory.hpp"
#include "line_artifact.hpp"
#include "worked_example.hpp"

using namespace host_memory;
using namespace worked_example;
using models::line::Trainer;

namespace {

constexpr std::int64_t kBytes = 5 * 2 * 4;  // of 5 rows, of each of both
constexpr std::int64_t kSlots = 2 * 64;

/// The operation leaves an activation, which is rounded to the prediction, and another launch one
/// of the target; the loss's gradient reads both. The slot of the former serves the loss in
/// between.
void keep_activations(halftone::manifest::Manifest& manifest, bool in_host) {
  using namespace halftone::manifest;
  constexpr std::int32_t kLinear = 8, kCast = 9, kTarget = 1, kPrediction = 4, kErrors = 5;
  Program& program = manifest.programs[0];
  const auto add = [&](const std::string& name, std::int32_t slot = -1) {
    const auto index = static_cast<std::int32_t>(program.buffers.size());
    if (slot < 0) {
      slot = static_cast<std::int32_t>(program.slots.size());
      program.slots.emplace_back();
    }
    Buffer buffer = program.buffers[kPrediction];
    buffer.name = name;
    buffer.role = Role::activation;
    buffer.slot = slot;
    program.buffers.push_back(buffer);
    program.slots[static_cast<std::size_t>(slot)].tenants.push_back(index);
    return index;
  };
  const std::int32_t fc = add("%fc", in_host ? program.buffers[kErrors].slot : -1);
  const std::int32_t target = add("%target");
  auto& forward = program.phases[static_cast<std::size_t>(Phase::forward)];
  forward[0].kernel = kLinear;
  forward[0].arguments.back() = {fc, 0};
  forward.push_back({kCast, {{fc, 0}, {kPrediction, 0}}});
  forward.push_back({kCast, {{kTarget, 0}, {target, 0}}});
  auto& readers = program.phases[static_cast<std::size_t>(Phase::loss_backward)][0].arguments;
  readers[0].buffer = fc;
  readers[1].buffer = target;
  if (!in_host) return;
  readers[0].buffer = add("%fc.back");
  readers[1].buffer = add("%target.back");
  program.stays = {{fc, readers[0].buffer}, {target, readers[1].buffer}};
}

using Manifests = std::vector<halftone::manifest::Manifest>;

/// For the CPU as it is, and for chips so.
Manifests manifests(bool in_host) {
  halftone::manifest::Manifest of_cpu = hand_made::manifest(), of_chips = of_cpu;
  of_cpu.targets = {"cpu"};
  of_cpu.cuda.clear();
  of_chips.targets = {"sm_80"};
  keep_activations(of_cpu, false);
  keep_activations(of_chips, in_host);
  return {of_cpu, of_chips};
}

ChangedArtifact artifact(bool in_host = true) { return ChangedArtifact(manifests(in_host)); }

/// A state in the host's memory in both stages, and activations in the second.
ChangedArtifact artifact_of_stages(bool in_host) {
  const std::vector<std::string> stages = {"whole", "apart"};
  Manifests all;
  for (const std::string& stage : stages) {
    for (auto& manifest : manifests(in_host && stage == "apart")) {
      manifest.stages = stages;
      manifest.during = {stage};
      keep_states(manifest, in_host);
      all.push_back(manifest);
    }
  }
  return ChangedArtifact(all);
}

}  // namespace

TEST_CASE("P98: activations leave behind their last use and are back for the next, in one graph") {
  const auto log = std::make_shared<fake::Log>();
  const ChangedArtifact kept = artifact();
  Trainer trainer(kept.artifact(), fake::device(log), {.batch = 5, .seed = 1});
  CHECK(count(log->calls, "allocate_host " + std::to_string(kSlots)) == 1);
  const std::string out = "copy_out " + std::to_string(kBytes),
                    in = "copy_in_staged " + std::to_string(kBytes);
  const auto at = [&](const std::string& start) {
    return std::ranges::find_if(log->graph,
                                [&](const std::string& call) { return call.starts_with(start); });
  };
  trainer.step(kSomeFeatures, kSomeTarget);
  CHECK(count(log->graph, out) == 2);
  CHECK(count(log->graph, in) == 2);
  CHECK(at("launch line_cast") < at(out));
  CHECK(std::find(at(out) + 1, log->graph.end(), out) < at("launch line_loss"));
  CHECK(at(out) < at(in));
  CHECK(std::find(at(in) + 1, log->graph.end(), in) < at("launch line_loss_backward"));
  trainer.forward(kSomeFeatures, kSomeTarget);
  CHECK(count(log->graph, out) == 2);
  trainer.backward();
  CHECK(count(log->graph, out) == 0);
  CHECK(count(log->graph, in) == 2);
  CHECK(std::find(at(in) + 1, log->graph.end(), in) < at("launch line_loss_backward"));
  trainer.step(Floats(6, 0.5f), Floats(4, -1.0f));  // 2 rows
  CHECK(count(log->graph, "copy_out 16") == 2);
  CHECK(count(log->graph, "copy_in_staged 16") == 2);
}

TEST_CASE("P98: what trains with activations in the host's memory trains as it does without") {
  for (const bool early : {false, true}) {
    for (const bool separate : {false, true}) {
      std::vector<Floats> left;
      for (const bool in_host : {false, true}) {
        const ChangedArtifact kept = artifact(in_host);
        Trainer trainer(kept.artifact(),
                        fake::device(std::make_shared<fake::Log>(),
                                     {.separate_buffers = separate, .others_early = early}),
                        {.batch = 5, .seed = 1});
        for (int step = 0; step < 3; ++step) trainer.step(kSomeFeatures, kSomeTarget);
        trainer.accumulate(kSomeFeatures, kSomeTarget);
        trainer.step(kSomeFeatures, kSomeTarget);
        const Floats few(6, 0.5f), few_targets(4, -1.0f);
        trainer.step(few, few_targets);
        trainer.forward(kSomeFeatures, kSomeTarget);
        trainer.backward();
        trainer.check();
        trainer.update();
        left.push_back(copy(trainer.parameter("fc.weight")));
        left.push_back(copy(trainer.parameter("fc.bias")));
      }
      CHECK(left[0] == left[2]);
      CHECK(left[1] == left[3]);
      CHECK(left[0] != Floats(left[0].size(), left[0].front()));
    }
  }
}

TEST_CASE("P98: what a trainer takes of either memory is known before, and told by its facts") {
  const ChangedArtifact in_host = artifact(true), on_device = artifact(false);
  const halftone::StageMemory apart = planned(in_host, fake::device()),
                              whole = planned(on_device, fake::device()),
                              of_cpu = planned(in_host, halftone::Device::cpu());
  CHECK(apart.host == kSlots);
  CHECK(whole.host == 0);
  CHECK(of_cpu.host == 0);
  Trainer trainer(in_host.artifact(), fake::device(), {.batch = 5, .seed = 1});
  CHECK(trainer.stats().host_bytes == kSlots);
  CHECK(trainer.stats().peak_bytes_predicted == trainer.stats().peak_bytes_measured);
  const Held bytes = held(trainer, "activation in the host's memory");
  CHECK(bytes.of_role == kSlots);
  CHECK(bytes.of_others == trainer.stats().peak_bytes_measured);
}

TEST_CASE("P98: states lie apart from what stays there, in whichever stages activations do") {
  std::vector<Floats> weights;
  std::vector<std::string> files;
  for (const bool in_host : {false, true}) {
    const auto log = std::make_shared<fake::Log>();
    const ChangedArtifact kept = artifact_of_stages(in_host);
    Trainer trainer(kept.artifact(), fake::device(log), {.batch = 5, .seed = 1});
    CHECK(count(log->calls, "allocate_host " + std::to_string(kStateBytes + kSlots)) ==
          (in_host ? 1 : 0));
    CHECK(trainer.stats().host_bytes == (in_host ? kStateBytes + kSlots : 0));
    for (const std::string stage : {"apart", "whole", "apart"}) {
      trainer.enter(stage);
      // In a graph of its own the update fetches what the others left.
      trainer.forward(kSomeFeatures, kSomeTarget);
      trainer.backward();
      trainer.check();
      trainer.update();
      trainer.step(kSomeFeatures, kSomeTarget);
    }
    weights.push_back(copy(trainer.parameter("fc.weight")));
    files.push_back(saved(trainer));
  }
  CHECK(weights[0] == weights[1]);
  CHECK(files[0] == files[1]);
}

TEST_CASE("P98: any call that fails about such activations ends in one sentence") {
  const auto use_all = [](const halftone::Device& device) { use(artifact(), device); };
  for (bool checks_launches : {false, true}) {
    const auto calls = check_failing_calls(
        use_all, {.separate_buffers = checks_launches, .checks_launches = checks_launches});
    CHECK(count(calls, "wait") > 0);
  }
}
