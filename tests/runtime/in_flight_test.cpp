// SPDX-License-Identifier: Apache-2.0
// Steps that are on their way while the host goes on: on a driver that does nothing until somebody
// waits, inputs are the caller's again, outcomes are counted, and errors name what went wrong.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "changed_artifact.hpp"
#include "fake_driver.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using halftone::DriverStatus;
using models::line::Trainer;

namespace {

Floats with_infinity() {
  Floats features = kFeatures;
  features[3] = std::numeric_limits<float>::infinity();
  return features;
}

Trainer late_trainer(const halftone::Device& device) {
  Trainer trainer(device, {.batch = 2, .seed = 1});
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  return trainer;
}

}  // namespace

TEST_CASE("what a step was given may change as soon as it returned") {
  Trainer trainer = late_trainer(fake::device(std::make_shared<fake::Log>(), {.late = true}));
  Floats features = kFeatures, target = kTarget;
  trainer.step(features, target);
  std::ranges::fill(features, 7.0f);
  std::ranges::fill(target, 7.0f);
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
}

TEST_CASE("steps that nobody asked about are counted when somebody does") {
  for (int steps_in_flight : {1, 2, 4, 64}) {
    CAPTURE(steps_in_flight);
    Trainer trainer = late_trainer(fake::device(
        std::make_shared<fake::Log>(), {.steps_in_flight = steps_in_flight, .late = true}));
    const Floats spoiled = with_infinity();
    for (int step = 0; step < 12; ++step) {
      trainer.step(step % 3 == 1 ? spoiled : kFeatures, kTarget);
    }
    CHECK(trainer.updated());
    CHECK(trainer.stats().steps == 12);
    CHECK(trainer.stats().skipped_steps == 4);
    trainer.step(spoiled, kTarget);
    trainer.forward(kFeatures, kTarget);
    CHECK_FALSE(trainer.updated());  // of the step, whatever ran since
    CHECK(trainer.stats().skipped_steps == 5);
  }
}

TEST_CASE("steps in flight draw each by their own counters") {
  const ChangedArtifact drawing(hand_made::let_draw);
  for (int steps_in_flight : {1, 3, 64}) {
    CAPTURE(steps_in_flight);
    Trainer trainer(drawing.artifact(),
                    fake::device(std::make_shared<fake::Log>(),
                                 {.steps_in_flight = steps_in_flight, .late = true}),
                    {.batch = 2, .seed = 5});
    (void)hand_made::take_counters();
    std::vector<hand_made::Counters> expected;
    for (std::uint32_t step = 0; step < 5; ++step) {
      trainer.accumulate(kFeatures, kTarget);
      trainer.step(kFeatures, kTarget);
      expected.insert(expected.end(), {{5, 0, step, 0}, {5, 0, step, 1}});
    }
    trainer.wait();
    CHECK(hand_made::take_counters() == expected);
  }
}

TEST_CASE("asking what an update came to before there was one is refused") {
  CHECK(message_of([] { (void)late_trainer(fake::device()).updated(); }) ==
        "updated: the trainer has not done an update; call step() first");
}

TEST_CASE("the patience ends with an error although steps are in flight") {
  // The first step that the host knows to sit at the floor is the oldest of those in flight; from
  // then on each is waited for.
  Trainer trainer = late_trainer(
      fake::device(std::make_shared<fake::Log>(), {.steps_in_flight = 2, .late = true}));
  const Floats spoiled = with_infinity();
  trainer.step(spoiled, kTarget);
  trainer.step(spoiled, kTarget);
  CHECK(message_of([&] { trainer.step(spoiled, kTarget); }) ==
        "step: the loss scale is at its floor 1 and 3 steps in a row were skipped there; the first "
        "value that is not finite: input 'features': element 3 is inf");
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(trainer.stats().floored == 0);
}

TEST_CASE("an error of the patience that comes late is thrown once, by whoever waits") {
  Trainer trainer = late_trainer(
      fake::device(std::make_shared<fake::Log>(), {.steps_in_flight = 8, .late = true}));
  const Floats spoiled = with_infinity();
  for (int step = 0; step < hand_made::kPatience; ++step) trainer.step(spoiled, kTarget);
  CHECK(trainer.stats().skipped_steps == 3);  // which tells, and does not throw
  CHECK(message_of([&] { trainer.wait(); }).find("step: the loss scale is at its floor 1") == 0);
  trainer.wait();
}

TEST_CASE("a fault that comes to light later names the kernel, its layers and the device") {
  const ChangedArtifact changed([](auto& manifest) {
    for (auto& phase : manifest.programs[0].phases) {
      for (auto& launch : phase) launch.fused = "fc, error";
    }
  });
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer(changed.artifact(), fake::device(log, {.name = "fake:3"}), {.batch = 2});
  for (int step = 0; step < 4; ++step) trainer.step(kFeatures, kTarget);
  log->calls.clear();
  log->fail_at = 1;  // the wait for the oldest
  log->failure = {DriverStatus::Kind::sticky, "out of bounds", "line_backward"};
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) ==
        "launch: kernel 'line_backward' (fc, error) failed on 'fake:3': out of bounds; the device "
        "'fake:3' cannot be used any more; start the process again");
  CHECK(message_of([&] { trainer.wait(); }) ==
        "launch: device 'fake:3' failed before and cannot be used any more (kernel 'line_backward' "
        "(fc, error): out of bounds); start the process again");
}

TEST_CASE("without page-locked memory a step says so, and the next one can go on") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = late_trainer(fake::device(log));
  log->calls.clear();
  log->fail_at = 1;
  log->failure = {DriverStatus::Kind::out_of_memory, "full", ""};
  // Four slots of 64 bytes for the outcome, and three buffers that the host may give.
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) ==
        "trainer: 1024 bytes of page-locked host memory failed on 'fake:0': full; free memory of "
        "fake:0");
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
}
