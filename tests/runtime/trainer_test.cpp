// SPDX-License-Identifier: Apache-2.0
// Training and inference with the model of line_artifact.hpp, through the classes that codegen
// generates.
#include "halftone/trainer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "changed_artifact.hpp"
#include "generated_example.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace models;
using namespace worked_example;

namespace {

/// Deterministic values in [-1, 1).
Floats noise(std::size_t count, std::uint32_t state) {
  Floats values(count);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
  }
  return values;
}

/// The parameters after some steps on noise.
Floats trained(const halftone::Device& device, std::uint64_t seed) {
  constexpr std::int64_t kBatch = 37;
  line::Trainer trainer(device, {.batch = kBatch, .seed = seed});
  for (std::uint32_t step = 0; step < 20; ++step) {
    trainer.step(noise(kBatch * 3, 2 * step), noise(kBatch * 2, 2 * step + 1));
  }
  Floats values = copy(trainer.parameter("fc.weight"));
  for (float bias : trainer.parameter("fc.bias")) values.push_back(bias);
  return values;
}

}  // namespace

TEST_CASE("a step computes outputs, loss, gradients, norm and new parameters") {
  line::Trainer trainer = make_trainer();
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(copy(trainer.output("prediction")) == kPrediction);
  CHECK(trainer.loss("error") == 3.0f);
  CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
  CHECK(copy(trainer.gradient("fc.bias")) == kBiasGradient);
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
  const halftone::Statistics stats = trainer.stats();
  CHECK(stats.steps == 1);
  CHECK(stats.skipped_steps == 0);
  CHECK(stats.grad_norm == std::sqrt(18.0f));
  REQUIRE(stats.losses.size() == 1);
  CHECK(stats.losses[0].name == "error");
  CHECK(stats.losses[0].value == 3.0f);
  CHECK(stats.kernels_per_phase == std::array<std::int64_t, 9>{1, 1, 1, 1, 1, 1, 1, 0, 1});
}

TEST_CASE("the parts of a step, called alone, do what the step does") {
  line::Trainer trainer = make_trainer();
  trainer.forward(kFeatures, kTarget);
  CHECK(trainer.loss("error") == 3.0f);
  trainer.backward();
  CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
  CHECK(copy(trainer.parameter("fc.weight")) == kWeight);
  CHECK(trainer.check());
  CHECK(trainer.stats().grad_norm == std::sqrt(18.0f));
  CHECK(trainer.stats().steps == 0);
  trainer.update();
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
  CHECK(trainer.stats().steps == 1);
}

TEST_CASE("the caller's gradient of the outputs stands in for the losses") {
  line::Trainer trainer = make_trainer();
  trainer.forward(kFeatures);
  CHECK(copy(trainer.output("prediction")) == kPrediction);
  trainer.backward(kPredictionGradient);
  CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
  trainer.forward(kFeatures);
  trainer.backward(Floats{0, 2, 0, 0});
  CHECK(copy(trainer.gradient("fc.weight")) == Floats{0, 0, 0, 2, 4, 0});
  CHECK(copy(trainer.gradient("fc.bias")) == Floats{0, 2});
}

#ifndef LINE_ON_DRIVER
TEST_CASE("phases run in order, every task once, and a finish once after all tasks") {
  constexpr std::int64_t kBatch = 23;
  line::Trainer trainer(device().with_threads(4), {.batch = kBatch});
  hand_made::start_recording();
  trainer.step(noise(kBatch * 3, 1), noise(kBatch * 2, 2));
  const std::vector<hand_made::Call> calls = hand_made::stop_recording();

  std::vector<std::string> order;
  std::vector<int> runs(kBatch);
  for (const hand_made::Call& call : calls) {
    if (order.empty() || order.back() != call.kernel) order.push_back(call.kernel);
    if (call.kernel != "loss") continue;
    for (auto task = call.first; task < call.last; ++task) ++runs[static_cast<std::size_t>(task)];
  }
  CHECK(order == std::vector<std::string>{"forward", "loss", "loss.finish", "loss_backward",
                                          "backward", "check", "update"});
  CHECK(runs == std::vector<int>(kBatch, 1));
  CHECK(std::ranges::count(calls, "loss.finish", &hand_made::Call::kernel) == 1);
}
#endif

TEST_CASE("backward with the caller's gradient leaves the losses out") {
  line::Trainer trainer = make_trainer();
  hand_made::start_recording();
  trainer.forward(kFeatures);
  trainer.backward(kPredictionGradient);
  for (const hand_made::Call& call : hand_made::stop_recording()) {
    CAPTURE(call.kernel);
    CHECK((call.kernel == "forward" || call.kernel == "external" || call.kernel == "backward"));
  }
}

TEST_CASE("results have the same bits for every number of threads") {
  const Floats expected = trained(device().with_threads(1), 3);
  for (int threads = 2; threads <= 8; ++threads) {
    CAPTURE(threads);
    CHECK(trained(device().with_threads(threads), 3) == expected);
  }
}

TEST_CASE("two trainers on one device run at once without touching each other") {
  const halftone::Device shared = device().with_threads(3);
  const Floats first = trained(shared, 1), second = trained(shared, 2);
  CHECK(first != second);
  for (int round = 0; round < 10; ++round) {
    Floats other;
    std::thread thread([&] { other = trained(shared, 2); });
    CHECK(trained(shared, 1) == first);
    thread.join();
    CHECK(other == second);
  }
}

TEST_CASE("a step with a gradient that is not finite changes no parameter and is counted") {
  line::Trainer trainer = make_trainer();
  Floats features = kFeatures;
  features[0] = std::numeric_limits<float>::infinity();
  trainer.step(features, kTarget);
  CHECK_FALSE(trainer.updated());
  CHECK(copy(trainer.parameter("fc.weight")) == kWeight);
  CHECK(copy(trainer.parameter("fc.bias")) == kBias);
  CHECK(trainer.stats().steps == 1);
  CHECK(trainer.stats().skipped_steps == 1);
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(trainer.stats().skipped_steps == 1);
}

TEST_CASE("the learning rate can be changed between steps") {
  line::Trainer trainer = make_trainer();
  CHECK(trainer.learning_rate() == 0.5f);
  trainer.set_learning_rate(0.0f);
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.parameter("fc.weight")) == kWeight);
  trainer.set_learning_rate(1.0f);
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.parameter("fc.bias")) == Floats{-1, 0});
  const std::string expected =
      "set_learning_rate: the learning rate is nan; give a finite number that is not negative";
  CHECK(message_of([&] { trainer.set_learning_rate(std::nanf("")); }) == expected);
}

TEST_CASE("a host that flushes subnormals cannot hide that a learning rate is negative") {
  line::Trainer trainer = make_trainer();
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const std::string said = message_of([&] { trainer.set_learning_rate(-1e-40f); });
  __builtin_ia32_ldmxcsr(before);
  CHECK(said.ends_with("give a finite number that is not negative"));
}

TEST_CASE("the same seed gives the same first parameters, inside the initialiser's range") {
  const line::Trainer a(device(), {.batch = 2, .seed = 5}), b(device(), {.batch = 9, .seed = 5}),
      c(device(), {.batch = 2, .seed = 6});
  CHECK(copy(a.parameter("fc.weight")) == copy(b.parameter("fc.weight")));
  CHECK(copy(a.parameter("fc.weight")) != copy(c.parameter("fc.weight")));
  CHECK(copy(a.parameter("fc.bias")) == Floats{0.25f, 0.25f});
  for (float value : a.parameter("fc.weight")) CHECK(std::abs(value) <= 0.5f);
  CHECK(a.parameter_names() == std::vector<std::string>{"fc.weight", "fc.bias"});
}

TEST_CASE("a predictor computes with the parameters that it copied") {
  line::Trainer trainer = make_trainer();
  line::Predictor predictor(device(), {.batch = 2});
  predictor.copy_parameters(trainer);
  CHECK(copy(predictor.predict(kFeatures).prediction) == kPrediction);
  trainer.step(kFeatures, kTarget);
  CHECK(copy(predictor.predict(kFeatures).prediction) == kPrediction);
  predictor.copy_parameters(trainer);
  // {0.5 - 3, 3 - 0.5}, {-1.5 + 1.5, 1.5 - 0.5 - 0.5}
  CHECK(copy(predictor.predict(kFeatures).prediction) == Floats{-2.5f, 2.5f, 0, 0.5f});
}

TEST_CASE("a trainer takes the parameters of one with another batch and other rules") {
  line::Trainer trained = make_trainer();
  trained.step(kFeatures, kTarget);
  const ChangedArtifact ruled([](auto& manifest) { manifest.rules = {"everywhere : store bf16"}; });
  line::Trainer other(ruled.artifact(), device(), {.batch = 5, .seed = 9});
  other.copy_parameters(trained);
  for (const std::string& name : trained.parameter_names())
    CHECK(copy(other.parameter(name)) == copy(trained.parameter(name)));
  CHECK(other.stats().steps == 0);

  const ChangedArtifact wider([](auto& manifest) { manifest.parameters[1].shape = {4}; });
  line::Trainer another(wider.artifact(), device(), {.batch = 2, .seed = 3});
  const Floats before = copy(another.parameter("fc.weight"));
  CHECK(
      message_of([&] { another.copy_parameters(trained); }) ==
      "copy_parameters: parameter 'fc.bias' is 4 in the trainer, but 2 in the other trainer; make "
      "both from one model");
  CHECK(copy(another.parameter("fc.weight")) == before);
}

TEST_CASE("a predictor with other sizes takes parameters by name") {
  line::Predictor predictor(device(), {.batch = 1});
  predictor.set_parameter("fc.weight", kWeight);
  predictor.set_parameter("fc.bias", kBias);
  CHECK(copy(predictor.predict(Floats{1, 2, 0}).prediction) == Floats{2, 1});
}

TEST_CASE("buffers start at their first values, and all else at zero") {
  const ChangedArtifact changed([](auto& manifest) {
    auto& buffers = manifest.programs[0].buffers;
    manifest.learning_rate = 0.125;
    buffers[8].initial = 7.5;  // grad_norm
  });
  const line::Trainer trainer(changed.artifact(), device(), {.batch = 2});
  CHECK(trainer.learning_rate() == 0.125f);
  CHECK(trainer.stats().grad_norm == 7.5f);
  CHECK(trainer.loss("error") == 0.0f);
  CHECK(copy(trainer.gradient("fc.weight")) == Floats(6, 0.0f));
  CHECK(copy(trainer.output("prediction")) == Floats(4, 0.0f));
}

TEST_CASE("working copies are written when parameters were given values, and only then") {
  const ChangedArtifact changed([](auto& manifest) {
    constexpr auto kRefresh = static_cast<std::size_t>(halftone::manifest::Phase::refresh);
    constexpr std::int32_t kPrediction = 4, kCast = 9;
    manifest.programs[0].phases[kRefresh] = {{kCast, {{kPrediction, 0}, {kPrediction, 0}}}};
  });
  line::Trainer trainer(changed.artifact(), device().with_threads(1), {.batch = 2});
  const auto refreshes = [&] {
    hand_made::start_recording();
    trainer.step(kFeatures, kTarget);
    return std::ranges::count(hand_made::stop_recording(), "cast", &hand_made::Call::kernel) > 0;
  };
  CHECK(refreshes());
  CHECK_FALSE(refreshes());
  trainer.set_parameter("fc.bias", kBias);
  CHECK(refreshes());
  CHECK_FALSE(refreshes());
}

#ifndef LINE_ON_DRIVER
TEST_CASE("kernels see the standard floating-point mode, and the caller's comes back") {
  // Flush to zero, denormals are zero, round up. Workers inherit it, since the pool is made under
  // it.
  constexpr unsigned kFlags = 0x3f, kStandard = 0x1f80, kOdd = kStandard | 0x8040 | 0x4000;
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(kOdd);
  line::Trainer trainer(halftone::Device::cpu().with_threads(4), {.batch = 50});
  hand_made::start_recording();
  trainer.step(noise(150, 1), noise(100, 2));
  const std::vector<hand_made::Call> calls = hand_made::stop_recording();
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK((after & ~kFlags) == kOdd);
  CHECK(calls.size() > 7);
  for (const hand_made::Call& call : calls) {
    CAPTURE(call.kernel);
    CHECK((call.mxcsr & ~kFlags) == kStandard);
  }
}
#endif
