// SPDX-License-Identifier: Apache-2.0
// P98: an activation that stays in the host's memory between the passes, from the hand-made
// artifact: what is asked of a driver, where it lies, and that any of it may fail.
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

constexpr std::int64_t kBytes = 5 * 2 * 4;  // of 5 rows
constexpr std::int64_t kSlot = 64;

/// The operation leaves an activation, which is rounded to the prediction, and which the loss's
/// gradient reads; its slot serves the loss in between.
void keep_activation(halftone::manifest::Manifest& manifest, bool in_host) {
  using namespace halftone::manifest;
  constexpr std::int32_t kLinear = 8, kCast = 9, kErrors = 5;
  Program& program = manifest.programs[0];
  const auto add = [&](const std::string& name) {
    const auto index = static_cast<std::int32_t>(program.buffers.size());
    Buffer buffer = program.buffers[4];
    buffer.name = name;
    buffer.role = Role::activation;
    program.buffers.push_back(buffer);
    return index;
  };
  const auto in_own_slot = [&](std::int32_t buffer) {
    program.buffers[static_cast<std::size_t>(buffer)].slot =
        static_cast<std::int32_t>(program.slots.size());
    program.slots.push_back({{buffer}});
  };
  const std::int32_t fc = add("%fc");
  std::int32_t read = fc;
  if (in_host) {
    const std::int32_t shared = program.buffers[kErrors].slot;
    program.buffers[static_cast<std::size_t>(fc)].slot = shared;
    program.slots[static_cast<std::size_t>(shared)].tenants.push_back(fc);
    read = add("%fc.back");
    program.stays = {{fc, read}};
  }
  in_own_slot(read);
  auto& forward = program.phases[static_cast<std::size_t>(Phase::forward)];
  const Argument prediction = forward[0].arguments.back();
  forward[0].kernel = kLinear;
  forward[0].arguments.back() = {fc, 0};
  forward.push_back({kCast, {{fc, 0}, prediction}});
  program.phases[static_cast<std::size_t>(Phase::loss_backward)][0].arguments[0] = {read, 0};
}

/// For the CPU as it is, and for chips so.
ChangedArtifact artifact(bool in_host = true) {
  halftone::manifest::Manifest of_cpu = hand_made::manifest(), of_chips = of_cpu;
  of_cpu.targets = {"cpu"};
  of_cpu.cuda.clear();
  of_chips.targets = {"sm_80"};
  keep_activation(of_cpu, false);
  keep_activation(of_chips, in_host);
  return ChangedArtifact(std::vector{of_cpu, of_chips});
}

}  // namespace

TEST_CASE("P98: an activation leaves behind its last use and is back for the next, in one graph") {
  const auto log = std::make_shared<fake::Log>();
  const ChangedArtifact kept = artifact();
  Trainer trainer(kept.artifact(), fake::device(log), {.batch = 5, .seed = 1});
  CHECK(count(log->calls, "allocate_host " + std::to_string(kSlot)) == 1);
  const std::string out = "copy_out " + std::to_string(kBytes),
                    in = "copy_in_staged " + std::to_string(kBytes);
  const auto at = [&](const std::string& start) {
    return std::ranges::find_if(log->graph,
                                [&](const std::string& call) { return call.starts_with(start); });
  };
  trainer.step(kSomeFeatures, kSomeTarget);
  CHECK(count(log->graph, out) == 1);
  CHECK(at("launch line_cast") < at(out));
  CHECK(at(out) < at("launch line_loss"));
  CHECK(at("copy_out") < std::ranges::find(log->graph, in));
  CHECK(std::find(at(out), log->graph.end(), in) < at("launch line_loss_backward"));
  trainer.forward(kSomeFeatures, kSomeTarget);
  CHECK(count(log->graph, out) == 1);
  trainer.backward();
  CHECK(count(log->graph, out) == 0);
  CHECK(at(in) < at("launch line_loss_backward"));
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
  CHECK(apart.host == kSlot);
  CHECK(whole.host == 0);
  CHECK(of_cpu.host == 0);
  Trainer trainer(in_host.artifact(), fake::device(), {.batch = 5, .seed = 1});
  CHECK(trainer.stats().host_bytes == kSlot);
  CHECK(trainer.stats().peak_bytes_predicted == trainer.stats().peak_bytes_measured);
  const Held bytes = held(trainer, "activation in the host's memory");
  CHECK(bytes.of_role == kSlot);
  CHECK(bytes.of_others == trainer.stats().peak_bytes_measured);
}

TEST_CASE("P98: any call that fails about such an activation ends in one sentence") {
  const auto use_all = [](const halftone::Device& device) { use(artifact(), device); };
  for (bool checks_launches : {false, true}) {
    const auto calls = check_failing_calls(
        use_all, {.separate_buffers = checks_launches, .checks_launches = checks_launches});
    CHECK(count(calls, "wait") > 0);
  }
}
