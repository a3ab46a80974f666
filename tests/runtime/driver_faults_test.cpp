// SPDX-License-Identifier: Apache-2.0
// Every call of a driver fails once: each time one sentence, nothing left behind, and after a fault
// that the device does not survive the same answer for ever.
#include <doctest/doctest.h>

#include "failing_calls.hpp"
#include "fake_driver.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using halftone::DriverStatus;
using models::line::Predictor, models::line::Trainer;

namespace {

/// Everything that a trainer and a predictor can do.
void use(const halftone::Device& device) {
  Trainer trainer(device, {.batch = 5, .seed = 1});
  const Floats features(15, 1.0f), target(10, 2.0f), gradient(10, 0.5f);
  trainer.step(features, target);
  trainer.accumulate(features, target);
  trainer.step(features, target);
  trainer.forward(features);
  trainer.backward(gradient);
  trainer.accumulate_gradients();
  trainer.forward(features, target);
  trainer.backward();
  trainer.check();
  trainer.update();
  trainer.set_parameter("fc.bias", kBias);
  trainer.set_learning_rate(0.1f);
  (void)trainer.diagnose();
  (void)trainer.gradient("fc.weight");
  (void)trainer.stats();
  Predictor predictor(device, {.batch = 5});
  predictor.copy_parameters(trainer);
  predictor.predict(features);
}

}  // namespace

TEST_CASE("an allocation that fails, whichever it is, ends in one sentence and leaks nothing") {
  for (bool separate : {false, true}) {
    const auto whole = std::make_shared<fake::Log>();
    use(fake::device(whole, {.separate_buffers = separate}));
    int failures = 0;
    for (std::size_t k = 1; k <= whole->calls.size(); ++k) {
      const std::string& call = whole->calls[k - 1];
      if (!call.starts_with("allocate ")) continue;
      CAPTURE(call);
      const auto log = std::make_shared<fake::Log>();
      log->fail_at = k;
      log->failure = {DriverStatus::Kind::out_of_memory, "full", ""};
      const std::string message =
          message_of([&] { use(fake::device(log, {.separate_buffers = separate})); });
      const std::string bytes = call.substr(call.rfind(' ') + 1);
      CHECK(message.find(": model 'line' with batch 5 needs " + bytes +
                         " bytes of memory in one piece, which the device 'fake:0' does not have; "
                         "bind smaller sizes or free memory") != std::string::npos);
      CHECK(log->is_clean());
      ++failures;
    }
    // Trainer (arena or 19 buffers, the kept loss scale, one or two workspaces), sum, diagnosis
    // (arena or 12 buffers, a workspace) and predictor (arena or 3 buffers).
    CHECK(failures == (separate ? 39 : 7));
  }
}

TEST_CASE("micro-batches without memory end in a sentence, and training goes on") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer(fake::device(log), {.batch = 5});
  const Floats features(15), target(10);
  trainer.step(features, target);
  log->fail_at = log->calls.size() + 1;
  log->failure = {DriverStatus::Kind::out_of_memory, "full", ""};
  CHECK(message_of([&] { trainer.accumulate(features, target); }) ==
        "trainer: model 'line' with batch 5 needs 256 bytes of memory in one piece, which the "
        "device 'fake:0' does not have; bind smaller sizes or free memory");
  trainer.step(features, target);
  CHECK(trainer.updated());
  trainer.accumulate(features, target);
  trainer.step(features, target);
  CHECK(trainer.updated());
}

TEST_CASE("every call that fails ends in one sentence with the driver's words and leaks nothing") {
  for (bool checks_launches : {false, true})
    CHECK(check_failing_calls(use, {.checks_launches = checks_launches}).size() > 100);
}

TEST_CASE("a device that is lost at any call says so from then on, and another one goes on") {
  const auto check = [](const std::string& message, const halftone::Device& device) {
    CHECK(message.find(" failed on 'fake:1': the device fell off the bus; the device 'fake:1' "
                       "cannot be used any more") != std::string::npos);
    CHECK(message_of([&] {
            use(device);
          }).starts_with("trainer: device 'fake:1' failed before and cannot be used any more ("));
  };
  fail_each_call(use, {.name = "fake:1"},
                 {DriverStatus::Kind::sticky, "the device fell off the bus", ""}, check);
  CHECK(message_of([&] { use(fake::device()); }) == "no error");
}

TEST_CASE("of two devices in one process the one that fails is named, and the other trains on") {
  const auto log = std::make_shared<fake::Log>();
  const halftone::Device first = fake::device(log, {.name = "fake:0"}),
                         second = fake::device(std::make_shared<fake::Log>(), {.name = "fake:1"});
  Trainer a(first, {.batch = 2, .seed = 1}), b(second, {.batch = 2, .seed = 1}),
      alone(fake::device(), {.batch = 2, .seed = 1});
  for (int step = 0; step < 12; ++step) {
    if (step == 6) log->fail_at = log->calls.size() + 4;
    if (step == 6) log->failure = {DriverStatus::Kind::sticky, "an illegal address", ""};
    const std::string message = message_of([&] { a.step(kFeatures, kTarget); });
    CHECK((message == "no error") == (step < 6));
    if (step >= 6) CHECK(message.find("device 'fake:0'") != std::string::npos);
    b.step(kFeatures, kTarget);
    alone.step(kFeatures, kTarget);
  }
  CHECK(copy(b.parameter("fc.weight")) == copy(alone.parameter("fc.weight")));
}

TEST_CASE("a launch that is refused while a graph is captured leaves the stream as it was") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer(fake::device(log), {.batch = 2, .seed = 1});
  // Page-locked memory, four events, begin_capture, the kept copy, and this.
  log->fail_at = log->calls.size() + 8;
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) ==
        "launch: kernel 'line_forward' failed on 'fake:0': the fake says no");
  CHECK(log->live["graph"] == 0);
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(log->live["graph"] == 1);
}

TEST_CASE("after a fault that the device does not survive everything on it says so") {
  const auto log = std::make_shared<fake::Log>();
  const halftone::Device device = fake::device(log);
  Trainer trainer = make_trainer();
  trainer = Trainer(device, {.batch = 2, .seed = 1});
  Trainer neighbour(device, {.batch = 2, .seed = 1});
  trainer.step(kFeatures, kTarget);
  log->calls.clear();
  // Two inputs, the graph, two outcomes, the record, and this, where errors come to light.
  log->fail_at = 7;
  log->failure = {DriverStatus::Kind::sticky, "an illegal address", ""};
  trainer.step(kFeatures, kTarget);
  CHECK(message_of([&] { trainer.wait(); }) ==
        "launch: the kernels of forward, loss, loss_backward, backward, check, update failed on "
        "'fake:0': an illegal address; the device 'fake:0' cannot be used any more; start the "
        "process again, with HALFTONE_CHECK_LAUNCHES=1 to learn which kernel");
  const std::string after =
      " device 'fake:0' failed before and cannot be used any more (the kernels of forward, loss, "
      "loss_backward, backward, check, update: an illegal address); start the process again";
  const std::size_t calls = log->calls.size();
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) == "write:" + after);
  CHECK(message_of([&] { (void)trainer.parameter("fc.bias"); }) == "read:" + after);
  CHECK(message_of([&] { (void)neighbour.stats(); }) == "read:" + after);
  CHECK(message_of([&] { Trainer(device, {.batch = 2}); }) == "trainer:" + after);
  CHECK(log->calls.size() == calls);  // the driver is not asked again
  Trainer elsewhere(fake::device(), {.batch = 2});
  elsewhere.step(kFeatures, kTarget);
  CHECK(elsewhere.updated());
}

TEST_CASE("where launches are checked an error is the kernel's own") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer(fake::device(log, {.checks_launches = true}), {.batch = 2, .seed = 1});
  trainer.step(kFeatures, kTarget);
  log->calls.clear();
  trainer.step(kFeatures, kTarget);
  // Behind the wait for the step before and two inputs.
  CHECK(std::vector(log->calls.begin() + 3, log->calls.begin() + 8) ==
        std::vector<std::string>{"copy 4", "launch line_forward 2 x 32", "synchronise",
                                 "launch line_loss 2 x 32", "synchronise"});
  log->calls.clear();
  log->fail_at = 8;
  log->failure = {DriverStatus::Kind::sticky, "an illegal address", ""};
  CHECK(message_of([&] {
          trainer.step(kFeatures, kTarget);
        }).find("launch: kernel 'line_loss' failed on 'fake:0': an illegal address") == 0);
}

TEST_CASE("a kernel that the driver names is the one that the sentence names") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer(fake::device(log), {.batch = 2, .seed = 1});
  trainer.step(kFeatures, kTarget);
  log->calls.clear();
  log->fail_at = 3;
  log->failure = {DriverStatus::Kind::sticky, "out of bounds", "line_check"};
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) ==
        "launch: kernel 'line_check' failed on 'fake:0': out of bounds; the device 'fake:0' cannot "
        "be used any more; start the process again");
}

TEST_CASE("a text that does not compile is named, with what the compiler says") {
  const auto log = std::make_shared<fake::Log>();
  log->refused_text = "text of line_update";
  CHECK(message_of([&] { Trainer(fake::device(log), {.batch = 2}); }) ==
        "compile: line_update is refused; no");
  CHECK(log->is_clean());
}
