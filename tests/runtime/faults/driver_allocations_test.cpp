// SPDX-License-Identifier: Apache-2.0
// Every allocation fails once in the life of a trainer on a driver: what the driver made has an
// owner at every moment, and a trainer that is left between two steps says so.
#include <doctest/doctest.h>

#include "../fake_driver.hpp"
#include "../staged_artifact.hpp"
#include "../worked_example.hpp"
#include "faults.hpp"
#include "life.hpp"
#include "spared_driver.hpp"

namespace halftone::tests {

TEST_CASE("on a driver every allocation fails once, and nothing that it made is left") {
  for (const bool separate_buffers : {false, true}) {
    const auto log = std::make_shared<fake::Log>();
    const fake::Options options{.separate_buffers = separate_buffers,
                                .wrapped = [](std::unique_ptr<Driver> driver) {
                                  return std::make_unique<SparedDriver>(std::move(driver));
                                }};
    const auto device = [&] { return fake::device(log, options); };
    Life plain(device);
    (void)plain.run(nullptr);
    const auto made = log->live;
    const std::int64_t held = log->held_bytes;
    Outcomes outcomes;
    std::string other;
    {
      const Injector injector{.arm = [](int at) { arm(Fault::allocation, at); },
                              .disarm = [] { return disarm(); },
                              .call = [] { return std::string(failed_call()); }};
      Life life(device);
      outcomes = life.run(&injector);
      other = difference(life.said(), plain.said());
    }
    for (const std::string& wrong : outcomes.wrong) MESSAGE(wrong);
    CHECK(outcomes.wrong.empty());
    CHECK(other == "");
    CHECK(log->live == made);
    CHECK(log->held_bytes == held);
    MESSAGE("allocations refused " << outcomes.refused << ", done without " << outcomes.harmless
                                   << ", that left the trainer between two steps "
                                   << outcomes.torn);
    CHECK(outcomes.refused > 1000);
  }
}

TEST_CASE("where an allocation fails a stage is entered as a whole, or not at all") {
  const StagedArtifact staged = hand_made::three_stages();
  const auto make = [&] {
    const fake::Options options{.wrapped = [](std::unique_ptr<Driver> driver) {
      return std::make_unique<SparedDriver>(std::move(driver));
    }};
    return models::line::Trainer(staged.artifact(),
                                 fake::device(std::make_shared<fake::Log>(), options),
                                 {.batch = 2, .seed = 1});
  };
  auto trainer = make(), plain = make();
  const auto step = [&] {
    for (auto* each : {&trainer, &plain}) {
      each->step(worked_example::kFeatures, worked_example::kTarget);
    }
    CHECK(trainer.loss("error") == plain.loss("error"));
  };
  int refused = 0;
  for (const std::string stage : {"predict", "correct", "warmup", "predict"}) {
    CAPTURE(stage);
    for (int at = 1;; ++at) {
      CAPTURE(at);
      const std::string before = trainer.stage();
      bool is_refused = false;
      arm(Fault::allocation, at);
      try {
        trainer.enter(stage);
      } catch (const std::bad_alloc&) {
        is_refused = true;
      }
      const bool failed = disarm();
      CHECK(trainer.stage() == (is_refused ? before : stage));
      if (failed && !is_refused) trainer.enter(before);
      step();
      if (!failed) break;
      refused += is_refused ? 1 : 0;
    }
    plain.enter(stage);
    step();
  }
  CHECK(refused > 10);
}

}  // namespace halftone::tests
