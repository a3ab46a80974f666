// SPDX-License-Identifier: Apache-2.0
// Runs of fewer rows on a driver: what is copied, launched and captured for them, and for how long
// it stays.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

#include "fake_driver.hpp"
#include "halftone/error.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Trainer;
using Calls = std::vector<std::string>;

namespace {

Trainer trainer_on(const halftone::Device& device, std::int64_t batch) {
  return {device, {.batch = batch, .seed = 1}};
}

void step_of(Trainer& trainer, std::size_t rows) {
  trainer.step(Floats(rows * 3, 0.5f), Floats(rows * 2, -0.25f));
}

Calls calls_of_step(fake::Log& log, Trainer& trainer, std::size_t rows) {
  log.calls.clear();
  step_of(trainer, rows);
  return std::exchange(log.calls, {});
}

std::ptrdiff_t count(const Calls& calls, const std::string& begin) {
  return std::ranges::count_if(calls, [&](auto& call) { return call.starts_with(begin); });
}

}  // namespace

TEST_CASE("fewer rows are copied and launched alone, and captured once") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log, {.steps_in_flight = 100}), 4);
  step_of(trainer, 4);
  CHECK(count(calls_of_step(*log, trainer, 3), "begin_capture") == 1);
  CHECK(log->graph == Calls{"copy 4", "launch line_forward 3 x 32", "launch line_loss 3 x 32",
                            "launch line_loss_backward 3 x 32", "launch line_backward 2 x 32",
                            "launch line_check 1 x 32", "launch line_update 2 x 32"});
  const auto steps = [](std::size_t rows) {
    return Calls{"copy_in_staged " + std::to_string(rows * 12),
                 "copy_in_staged " + std::to_string(rows * 8),
                 "launch_graph",
                 "copy_out 4",
                 "copy_out 4",
                 "record"};
  };
  for (const std::size_t rows : {3, 4, 3, 3, 4}) {
    CHECK(calls_of_step(*log, trainer, rows) == steps(rows));
  }
  (void)calls_of_step(*log, trainer, 1);
  log->calls.clear();
  CHECK(trainer.output("prediction").size() == 2);
  CHECK(log->calls == Calls{"copy_out 8", "synchronise"});
}

TEST_CASE("a few numbers of rows stay captured, and no graph goes that a step in flight runs") {
  constexpr std::size_t kMost = 40;
  for (const int steps_in_flight : {1, 4, 16}) {
    CAPTURE(steps_in_flight);
    const auto log = std::make_shared<fake::Log>();
    Trainer trainer = trainer_on(
                fake::device(log, {.steps_in_flight = steps_in_flight, .late = true}), kMost),
            cpu = trainer_on(halftone::Device::cpu(), kMost);
    int most = 0;
    for (std::size_t round = 0; round < 2; ++round) {
      for (std::size_t rows = kMost; rows > 0; --rows) {
        for (Trainer* each : {&trainer, &cpu}) step_of(*each, rows);
        most = std::max(most, log->live["graph"]);
      }
    }
    CHECK(most > 8);
    CHECK(most <= 1 + 8 + 1 + steps_in_flight);
    CHECK(copy(trainer.parameter("fc.weight")) == copy(cpu.parameter("fc.weight")));
    log->calls.clear();
    for (std::size_t rows = 1; rows <= 8; ++rows) step_of(trainer, rows);
    CHECK(count(log->calls, "begin_capture") == 0);
  }
}

TEST_CASE("what must be zero between launches stays so, whatever rows come between") {
  for (const bool separate : {false, true}) {
    Trainer trainer = trainer_on(
        fake::device(std::make_shared<fake::Log>(), {.separate_buffers = separate}), 200);
    // A counter for each row: 1024 bytes, 256, 512. The fake driver ends the program otherwise.
    for (const std::size_t rows : {200, 3, 200, 70, 3, 129, 200}) step_of(trainer, rows);
    CHECK(trainer.updated());
  }
}

TEST_CASE(
    "a step that the driver refuses leaves the rows of the forward before it to a diagnosis") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log), 4);
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  const auto refused_step = [&] {
    log->calls.clear();
    log->fail_at = 1;
    CHECK_THROWS_AS(trainer.step(std::span(kFeatures).first(3), std::span(kTarget).first(2)),
                    halftone::Error);
    log->fail_at = 0;
  };
  Floats spoiled = kFeatures;
  spoiled[4] = std::numeric_limits<float>::infinity();  // of the second row
  trainer.forward(spoiled, kTarget);
  refused_step();
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->element == 4);
  trainer.forward(kFeatures, kTarget);
  refused_step();
  // The refused step's inputs have taken the place of those that a backward pass would read.
  CHECK(message_of([&] { trainer.backward(kPredictionGradient); }) ==
        "backward: the trainer has not done forward() directly before; call forward, backward, "
        "check and update in this order");
  trainer.forward(kFeatures, kTarget);
  trainer.backward(kPredictionGradient);
  CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
}

TEST_CASE("fewer rows run the kernels for all sizes where those for the planned took over") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = trainer_on(fake::device(log, {.jit = halftone::Jit::background}), 4),
          cpu = trainer_on(halftone::Device::cpu(), 4);
  const auto step_both = [&](std::size_t rows) {
    log->calls.clear();
    for (Trainer* each : {&trainer, &cpu}) step_of(*each, rows);
    CHECK(copy(trainer.parameter("fc.weight")) == copy(cpu.parameter("fc.weight")));
  };
  step_both(3);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!trainer.stats().variant.ends_with("from the next step on")) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
  CHECK(std::ranges::count(log->loaded,
                           "#define HALFTONE_SYMBOL_batch 4LL\n#line 1\ntext of line_check") == 0);
  step_both(3);  // the exchange, which is not for it
  CHECK(count(log->calls, "load ") == 8);
  CHECK(count(log->calls, "begin_capture") == 0);
  CHECK(trainer.stats().variant == "sm_80, specialised for batch 4");
  for (const std::size_t rows : {4, 3, 2, 4, 3}) {
    step_both(rows);
    CHECK(count(log->calls, "load ") == 0);
    CHECK(count(log->calls, "unload") == 0);
  }
}
