// SPDX-License-Identifier: Apache-2.0
// P91: states of the optimizer in the host's memory, from the hand-made artifact, whose update sees
// them and leaves them as they are: what is asked of a driver, and that any of it may fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "changed_artifact.hpp"
#include "failing_calls.hpp"
#include "fake_driver.hpp"
#include "halftone/stages.hpp"
#include "host_memory.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace host_memory;
using namespace worked_example;
using models::line::Trainer;

namespace {

ChangedArtifact artifact(bool in_host = true) {
  return ChangedArtifact([in_host](auto& manifest) { keep_states(manifest, in_host); });
}

}  // namespace

TEST_CASE("states in the host's memory are fetched and put back in the graph that updates") {
  const auto log = std::make_shared<fake::Log>();
  const ChangedArtifact changed = artifact();
  Trainer trainer(changed.artifact(), fake::device(log), {.batch = 5, .seed = 1});
  CHECK(count(log->calls, "allocate_host " + std::to_string(kStateBytes)) == 1);
  trainer.step(kSomeFeatures, kSomeTarget);
  const std::string fetch = "copy_in_staged " + std::to_string(kStateBytes / 2);
  const std::string put_back = "copy_out " + std::to_string(kStateBytes / 2);
  const std::vector<std::string>& graph = log->graph;
  CHECK(count(graph, fetch) == 2);
  CHECK(count(graph, put_back) == 2);
  const auto at = [&](const std::string& call) { return std::ranges::find(graph, call); };
  const auto forward = std::ranges::find_if(
      graph, [](const std::string& call) { return call.starts_with("launch line_forward"); });
  CHECK(at(fetch) < forward);  // beside it
  trainer.forward(kSomeFeatures, kSomeTarget);
  CHECK(count(log->graph, fetch) == 0);
  trainer.backward();
  CHECK(count(log->graph, fetch) == 0);
  trainer.check();
  trainer.update();
  CHECK(count(log->graph, fetch) == 2);
}

TEST_CASE("states in the host's memory begin, persist and are saved as others") {
  std::vector<std::string> files;
  for (bool in_host : {false, true}) {
    for (bool others_early : {false, true}) {
      const ChangedArtifact changed = artifact(in_host);
      Trainer trainer(changed.artifact(),
                      fake::device(std::make_shared<fake::Log>(), {.others_early = others_early}),
                      {.batch = 5, .seed = 1});
      for (int step = 0; step < 3; ++step) trainer.step(kSomeFeatures, kSomeTarget);
      files.push_back(saved(trainer));
      CHECK(trainer.stats().host_bytes == (in_host ? kStateBytes : 0));
      CHECK(trainer.stats().peak_bytes_predicted == trainer.stats().peak_bytes_measured);
    }
  }
  std::string initial(sizeof kInitial, '\0');
  std::memcpy(initial.data(), &kInitial, sizeof kInitial);
  CHECK(files.front().find(initial) != std::string::npos);
  for (const std::string& other : files) CHECK(other == files.front());
}

TEST_CASE("what a trainer takes of either memory is known before, and a CPU has one") {
  const ChangedArtifact in_host = artifact(true), on_device = artifact(false);
  const halftone::StageMemory apart = planned(in_host, fake::device()),
                              whole = planned(on_device, fake::device()),
                              of_cpu = planned(in_host, halftone::Device::cpu());
  CHECK(apart.host == kStateBytes);
  CHECK(apart.bytes() == whole.bytes() - kStateBytes);
  CHECK(whole.host == 0);
  CHECK(of_cpu.host == 0);
  CHECK(of_cpu.bytes() == whole.bytes());
}

TEST_CASE("a run's facts tell what lies in the host's memory from what the device holds") {
  const ChangedArtifact changed = artifact();
  const Trainer trainer(changed.artifact(), fake::device(), {.batch = 5, .seed = 1});
  const Held bytes = held(trainer, "optimizer_state in the host's memory");
  CHECK(bytes.of_role == kStateBytes);
  CHECK(bytes.of_others == trainer.stats().peak_bytes_measured);
}

TEST_CASE("a device without enough memory is told what a rule could take off it") {
  for (bool in_host : {false, true}) {
    const auto log = std::make_shared<fake::Log>();
    // The first allocation of the device's memory.
    log->fail_at = in_host ? 3 : 2;
    log->failure = {halftone::DriverStatus::Kind::out_of_memory, "full", ""};
    const ChangedArtifact changed = artifact(in_host);
    const std::string message = message_of(
        [&] { Trainer(changed.artifact(), fake::device(log), {.batch = 5, .seed = 1}); });
    CAPTURE(message);
    REQUIRE(log->calls[log->fail_at - 1].starts_with("allocate arena"));
    const bool advises =
        message.find(
            "bind smaller sizes, free memory, or place the 256 bytes of the optimizer's "
            "states in the host's memory by a rule (P91)") != std::string::npos;
    CHECK(advises == !in_host);
    CHECK(log->is_clean());
  }
}

TEST_CASE("any call that fails about states in the host's memory ends in one sentence") {
  const auto use_all = [](const halftone::Device& device) { use(artifact(), device); };
  for (bool checks_launches : {false, true}) {
    const auto calls = check_failing_calls(
        use_all, {.separate_buffers = checks_launches, .checks_launches = checks_launches});
    CHECK(count(calls, "wait") > 0);
  }
}
