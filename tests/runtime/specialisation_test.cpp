// SPDX-License-Identifier: Apache-2.0
// HALFTONE_JIT=background: while steps run on the kernels for all sizes, those for the sizes in use
// are compiled, and take over between two steps; or a sentence says why not.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "fake_driver.hpp"
#include "halftone/error.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "stopping.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using halftone::DriverStatus, halftone::Jit;
using models::line::Predictor, models::line::Trainer;
using Calls = std::vector<std::string>;

namespace {

constexpr std::chrono::seconds kLongest{20};  // a test that waits so long has failed

/// What compiles waits here until it is let through.
class Gate {
 public:
  explicit Gate(fake::Log& log) {
    log.specialising = [this](const std::string&) {
      ++waiting_;
      while (!open_ && !halftone::MayStop::of_thread().stop_requested()) std::this_thread::yield();
      if (!open_) ++given_up_;
    };
  }
  void open() { open_ = true; }
  [[nodiscard]] int waiting() const { return waiting_; }
  [[nodiscard]] int given_up() const { return given_up_; }

 private:
  std::atomic<bool> open_ = false;
  std::atomic<int> waiting_ = 0, given_up_ = 0;
};

template <class Condition>
bool becomes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

template <class Program>
std::string variant_of(const Program& program) {
  if constexpr (requires { program.stats(); }) {
    return program.stats().variant;
  } else {
    return program.variant();
  }
}

/// Until the kernels are there, which the next step takes.
template <class Program>
bool gets_ready(const Program& program) {
  return becomes_true([&] { return variant_of(program).ends_with("from the next step on"); });
}

Trainer worked_trainer(const halftone::Device& device) {
  Trainer trainer(device, {.batch = 2, .seed = 1});
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  return trainer;
}

Calls step_of(fake::Log& log, Trainer& trainer) {
  log.calls.clear();
  trainer.step(kFeatures, kTarget);
  return std::exchange(log.calls, {});
}

std::ptrdiff_t count(const Calls& calls, const std::string& begin) {
  return std::ranges::count_if(calls, [&](auto& call) { return call.starts_with(begin); });
}

/// Weights and biases after each of some steps, without a word about specialisation.
std::vector<Floats> expected_course(int steps) {
  Trainer trainer = worked_trainer(fake::device());
  std::vector<Floats> course;
  for (int step = 0; step < steps; ++step) {
    trainer.step(kFeatures, kTarget);
    course.push_back(copy(trainer.parameter("fc.weight")));
  }
  return course;
}

/// Made before main(), so that exit() comes to it behind what the runtime does at exit.
struct BehindAll {
  ~BehindAll() {
    if (run) run();
  }
  void (*run)() = nullptr;
};
BehindAll behind_all;

Trainer* late_trainer = nullptr;

/// Ends the process: 0 where the step compiles nothing.
void step_late() {
  late_trainer->step(kFeatures, kTarget);
  const std::string variant = late_trainer->stats().variant;
  _exit(variant == "sm_80, not specialised for batch 2: the process ends" ? 0 : 1);
}

}  // namespace

TEST_CASE("kernels for the sizes in use take over between two steps, and no step waits") {
  const auto log = std::make_shared<fake::Log>();
  Gate gate(*log);
  Trainer trainer = worked_trainer(
      fake::device(log, {.steps_in_flight = 2, .late = true, .jit = Jit::background}));
  CHECK(trainer.stats().variant == "sm_80");
  CHECK(step_of(*log, trainer).back() == "record");
  CHECK(trainer.stats().variant == "sm_80, being specialised for batch 2");
  const Calls free = {"copy_in_staged 24", "copy_in_staged 16", "launch_graph",
                      "copy_out 4",        "copy_out 4",        "record"};
  Calls waiting = free;
  waiting.insert(waiting.begin(), "synchronise_event");
  for (int step = 0; step < 5; ++step) {
    CHECK(step_of(*log, trainer) == (step < 2 ? free : waiting));
  }
  gate.open();
  log->loaded.clear();
  // Nobody may ask: stats() would wait for the steps in flight, which are to be replaced.
  Calls exchange;
  CHECK(becomes_true([&] {
    exchange = step_of(*log, trainer);
    return count(exchange, "load ") > 0;
  }));
  CHECK(exchange.front() == "synchronise_event");  // for the oldest's slot, as ever
  CHECK(Calls(exchange.end() - 6, exchange.end()) == free);
  CHECK(count(exchange, "load ") == 8);
  CHECK(count(exchange, "find ") == 8);
  CHECK(count(exchange, "launch_graph") == 1);
  CHECK(count(exchange, "synchronise") == 1);
  CHECK(count(exchange, "unload") == 0);
  CHECK(std::ranges::count(log->loaded,
                           "#define HALFTONE_SYMBOL_batch 2LL\n#line 1\ntext of line_check") == 1);
  CHECK(log->graph.size() == 7);
  for (int step = 0; step < 3; ++step) CHECK(step_of(*log, trainer) == waiting);
  CHECK(trainer.stats().variant == "sm_80, specialised for batch 2");
}

TEST_CASE("every way of use is captured again at the exchange, and values are as without it") {
  const auto use = [](Trainer& trainer) {
    trainer.accumulate(kFeatures, kTarget);
    trainer.step(kFeatures, kTarget);
    trainer.forward(kFeatures, kTarget);
    trainer.backward(kPredictionGradient);
    trainer.check();
    trainer.update();
    return copy(trainer.parameter("fc.weight"));
  };
  const auto log = std::make_shared<fake::Log>();
  Gate gate(*log);
  Trainer trainer = worked_trainer(fake::device(log, {.jit = Jit::background})),
          plain = worked_trainer(fake::device());
  CHECK(use(trainer) == use(plain));
  gate.open();
  REQUIRE(gets_ready(trainer));
  const int graphs = log->live["graph"];
  log->calls.clear();
  CHECK(use(trainer) == use(plain));
  CHECK(count(log->calls, "begin_capture") == graphs);
  CHECK(log->live["graph"] == 2 * graphs);
  CHECK(trainer.stats().variant == "sm_80, specialised for batch 2");
}

TEST_CASE("a kernel that cannot be compiled for one size leaves those for all sizes") {
  const auto log = std::make_shared<fake::Log>();
  log->specialising = [](const std::string& text) {
    if (!text.ends_with("line_update")) return;
    throw halftone::Error({.operation = "compile",
                           .object = "NVRTC",
                           .cause = "is not on this machine",
                           .hint = "install it"});
  };
  Trainer trainer = worked_trainer(fake::device(log, {.jit = Jit::background}));
  const std::vector<Floats> course = expected_course(3);
  for (int step = 0; step < 3; ++step) {
    const Calls calls = step_of(*log, trainer);
    CHECK((step == 0 || count(calls, "load ") == 0));
    CHECK(copy(trainer.parameter("fc.weight")) == course[static_cast<std::size_t>(step)]);
    const std::string failure =
        "sm_80, not specialised for batch 2: compile: NVRTC is not on this machine; install it";
    CHECK(becomes_true([&] { return trainer.stats().variant == failure; }));
  }
}

TEST_CASE("whatever call of the exchange fails, the step goes on with the kernels for all sizes") {
  const std::vector<Floats> course = expected_course(4);
  std::size_t failures = 0;
  for (const auto kind : {DriverStatus::Kind::failed, DriverStatus::Kind::out_of_memory}) {
    for (std::size_t call = 1;; ++call, ++failures) {
      CAPTURE(call);
      const auto log = std::make_shared<fake::Log>();
      bool is_over = false;
      {
        Trainer trainer = worked_trainer(fake::device(log, {.jit = Jit::background}));
        trainer.step(kFeatures, kTarget);
        REQUIRE(gets_ready(trainer));
        log->calls.clear();
        log->fail_at = call;
        log->failure = {kind, "the fake says no", ""};
        // Modules and graphs of the exchange; behind them comes the step itself.
        try {
          trainer.step(kFeatures, kTarget);
        } catch (const halftone::Error&) {
          is_over = true;
        }
        if (!is_over) {
          const std::string variant = trainer.stats().variant;
          CAPTURE(variant);
          CHECK(variant.starts_with("sm_80, not specialised for batch 2: "));
          CHECK(variant.find("the fake says no") != variant.npos);
          CHECK(log->live["module"] == 8);
          CHECK(log->live["graph"] == 1);
          CHECK(copy(trainer.parameter("fc.weight")) == course[1]);
          for (int step = 2; step < 4; ++step) trainer.step(kFeatures, kTarget);
          CHECK(copy(trainer.parameter("fc.weight")) == course[3]);
        }
      }
      CHECK(log->is_clean());
      if (is_over) break;
    }
  }
  CHECK(failures == 2 * (8 + 8 + 9));  // modules, functions, begin, a copy, six kernels, end
}

TEST_CASE("a device that is lost at the exchange is an error of the step") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer = worked_trainer(fake::device(log, {.jit = Jit::background}));
  trainer.step(kFeatures, kTarget);
  REQUIRE(gets_ready(trainer));
  log->calls.clear();
  log->fail_at = 1;
  log->failure = {DriverStatus::Kind::sticky, "an illegal address", ""};
  const std::string message = message_of([&] { trainer.step(kFeatures, kTarget); });
  CAPTURE(message);
  CHECK(message.find("'fake:0' failed before and cannot be used any more") != message.npos);
  CHECK(message.find("an illegal address") != message.npos);
}

TEST_CASE("a trainer that goes gives up what is being compiled for it") {
  const auto log = std::make_shared<fake::Log>();
  Gate gate(*log);
  {
    Trainer trainer = worked_trainer(fake::device(log, {.jit = Jit::background}));
    trainer.step(kFeatures, kTarget);
    REQUIRE(becomes_true([&] { return gate.waiting() == 1; }));
  }
  CHECK(gate.waiting() == 1);  // and begins with no other text
  CHECK(gate.given_up() == 1);
  CHECK(log->is_clean());
}

TEST_CASE("a step while the process ends begins to compile nothing") {
  const pid_t child = fork();
  if (child == 0) {
    const halftone::Device device =
        fake::device(std::make_shared<fake::Log>(), {.jit = Jit::background});
    worked_trainer(device).step(kFeatures, kTarget);  // from here on exit() stops what compiles
    late_trainer = new Trainer(worked_trainer(device));
    behind_all.run = step_late;
    std::exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a trainer may go at any moment of it, and may be moved") {
  for (int steps = 0; steps < 40; ++steps) {
    const auto log = std::make_shared<fake::Log>();
    {
      Trainer first = worked_trainer(fake::device(log, {.late = true, .jit = Jit::background}));
      for (int step = 0; step < steps % 8; ++step) first.step(kFeatures, kTarget);
      if (steps >= 20) {
        CHECK(becomes_true([&] { return variant_of(first).find("being") == std::string::npos; }));
      }
      Trainer second = std::move(first);
      for (int step = 0; step < steps % 5; ++step) second.step(kFeatures, kTarget);
    }
    CHECK(log->is_clean());
  }
}

TEST_CASE("two trainers and a predictor of one device are each specialised for their own size") {
  const auto log = std::make_shared<fake::Log>();
  const halftone::Device device = fake::device(log, {.jit = Jit::background});
  Trainer two = worked_trainer(device), three(device, {.batch = 3, .seed = 1});
  Predictor predictor(device, {.batch = 5});
  const auto run_each = [&] {
    two.step(kFeatures, kTarget);
    three.step(Floats(9, 1.0f), Floats(6, 1.0f));
    predictor.predict(Floats(15, 1.0f));
  };
  run_each();
  REQUIRE(gets_ready(two));
  REQUIRE(gets_ready(three));
  REQUIRE(gets_ready(predictor));
  run_each();
  CHECK(two.stats().variant == "sm_80, specialised for batch 2");
  CHECK(three.stats().variant == "sm_80, specialised for batch 3");
  CHECK(predictor.variant() == "sm_80, specialised for batch 5");
  CHECK(copy(two.parameter("fc.weight")) == expected_course(2)[1]);
  CHECK(copy(predictor.predict(Floats(15, 1.0f)).prediction) ==
        copy(Predictor(fake::device(), {.batch = 5}).predict(Floats(15, 1.0f)).prediction));
}

TEST_CASE("nothing is specialised unless it is asked for, nor for a diagnosis") {
  for (const Jit jit : {Jit::missing, Jit::first, Jit::background}) {
    const auto log = std::make_shared<fake::Log>();
    std::atomic<int> texts = 0;
    log->specialising = [&](const std::string&) { ++texts; };
    Trainer trainer = worked_trainer(fake::device(log, {.jit = jit}));
    trainer.step(kFeatures, kTarget);
    if (jit == Jit::background) REQUIRE(gets_ready(trainer));
    (void)trainer.diagnose();
    CHECK(texts == (jit == Jit::background ? 8 : 0));
    if (jit != Jit::background) CHECK(trainer.stats().variant == "sm_80");
  }
}

TEST_CASE("where launches are checked the kernels for the sizes in use take over too") {
  const auto log = std::make_shared<fake::Log>();
  Trainer trainer =
      worked_trainer(fake::device(log, {.checks_launches = true, .jit = Jit::background}));
  trainer.step(kFeatures, kTarget);
  REQUIRE(gets_ready(trainer));
  CHECK(count(step_of(*log, trainer), "load ") == 8);
  CHECK(trainer.stats().variant == "sm_80, specialised for batch 2");
  CHECK(copy(trainer.parameter("fc.weight")) == expected_course(2)[1]);
}
