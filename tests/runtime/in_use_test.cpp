// SPDX-License-Identifier: Apache-2.0
// A trainer or predictor that another thread is inside of refuses every call, and goes on as if
// nobody had called.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <future>
#include <thread>

#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Predictor, models::line::Trainer;

namespace {

/// Does `outer` in another thread and, while that is inside of its first kernel, `inner` in this.
void during(const std::function<void()>& outer, const std::function<void()>& inner) {
  std::promise<void> entered, may_go;
  hand_made::run_in_next_kernel([&] {
    entered.set_value();
    may_go.get_future().wait();
  });
  std::thread thread(outer);
  entered.get_future().wait();
  inner();
  may_go.set_value();
  thread.join();
}

std::string refusal(const std::string& operation, const char* who) {
  return operation + ": the " + who +
         " is in use: a call from another thread has not returned; let one thread at a time use "
         "it, or give every thread one of its own";
}

struct Call {
  const char* operation;
  std::function<void()> call;
};

}  // namespace

TEST_CASE("while one thread is inside of a trainer every call of another is refused") {
  Trainer trainer = make_trainer();
  Predictor predictor(device(), {.batch = 2});
  const Call calls[] = {
      {"updated", [&] { (void)trainer.updated(); }},
      {"wait", [&] { trainer.wait(); }},
      {"accumulate", [&] { trainer.accumulate(kFeatures, kTarget); }},
      {"forward", [&] { trainer.forward(kFeatures); }},
      {"backward", [&] { trainer.backward(); }},
      {"backward", [&] { trainer.backward(kTarget); }},
      {"accumulate_gradients", [&] { trainer.accumulate_gradients(); }},
      {"check", [&] { trainer.check(); }},
      {"update", [&] { trainer.update(); }},
      {"diagnose", [&] { (void)trainer.diagnose(); }},
      {"loss", [&] { (void)trainer.loss("error"); }},
      {"output", [&] { (void)trainer.output("prediction"); }},
      {"parameter", [&] { (void)trainer.parameter("fc.bias"); }},
      {"gradient", [&] { (void)trainer.gradient("fc.bias"); }},
      {"set_parameter", [&] { trainer.set_parameter("fc.bias", kTarget); }},
      {"state", [&] { (void)trainer.state("mean"); }},
      {"set_state", [&] { trainer.set_state("mean", kTarget); }},
      {"reset_states", [&] { trainer.reset_states(); }},
      {"set_learning_rate", [&] { trainer.set_learning_rate(1.0f); }},
      {"learning_rate", [&] { (void)trainer.learning_rate(); }},
      {"set_weight_decay", [&] { trainer.set_weight_decay(1.0f); }},
      {"weight_decay", [&] { (void)trainer.weight_decay(); }},
      {"set_momentum", [&] { trainer.set_momentum(0.5f); }},
      {"momentum", [&] { (void)trainer.momentum(); }},
      {"stats", [&] { (void)trainer.stats(); }},
      {"copy_parameters", [&] { predictor.copy_parameters(trainer); }},
      {"copy_parameters", [&] { trainer.copy_parameters(trainer); }},
      {"save_weights", [&] { trainer.save_weights("weights"); }},
      {"load_weights", [&] { trainer.load_weights("weights"); }},
      {"copy_states", [&] { predictor.copy_states(trainer); }},
      {"step", [&] { trainer.step(kFeatures, kTarget); }},
  };
  during([&] { trainer.step(kFeatures, kTarget); },
         [&] {
           for (const Call& c : calls) CHECK(message_of(c.call) == refusal(c.operation, "trainer"));
           CHECK(trainer.parameter_names().size() == 2);
           CHECK(trainer.parameter_shape("fc.bias").size() == 1);
           CHECK(trainer.state_names().empty());
         });
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
  CHECK(trainer.stats().steps == 1);
}

TEST_CASE("while one thread is inside of a predictor every call of another is refused") {
  const Trainer trainer = make_trainer();
  Predictor predictor(device(), {.batch = 2});
  predictor.copy_parameters(trainer);
  const Call calls[] = {
      {"copy_parameters", [&] { predictor.copy_parameters(trainer); }},
      {"copy_states", [&] { predictor.copy_states(trainer); }},
      {"set_parameter", [&] { predictor.set_parameter("fc.bias", kTarget); }},
      {"parameter", [&] { (void)predictor.parameter("fc.bias"); }},
      {"state", [&] { (void)predictor.state("mean"); }},
      {"set_state", [&] { predictor.set_state("mean", kTarget); }},
      {"reset_states", [&] { predictor.reset_states(); }},
      {"predict", [&] { predictor.predict(kFeatures); }},
      {"output", [&] { (void)predictor.output("prediction"); }},
      {"variant", [&] { (void)predictor.variant(); }},
      {"peak_bytes_predicted", [&] { (void)predictor.peak_bytes_predicted(); }},
      {"peak_bytes_measured", [&] { (void)predictor.peak_bytes_measured(); }},
  };
  during([&] { predictor.predict(kFeatures); },
         [&] {
           for (const Call& c : calls) {
             CHECK(message_of(c.call) == refusal(c.operation, "predictor"));
           }
           CHECK(predictor.parameter_names().size() == 2);
           CHECK(predictor.state_names().empty());
         });
  CHECK(copy(predictor.output("prediction")) == kPrediction);
}

TEST_CASE("threads that take turns are not in each other's way, after errors either") {
  Trainer trainer = make_trainer();
  for (int turn = 0; turn < 20; ++turn) {
    std::thread([&] {
      CHECK(message_of([&] { trainer.step(kFeatures, Floats(3)); }).starts_with("step: input"));
      trainer.set_parameter("fc.weight", kWeight);
      trainer.set_parameter("fc.bias", kBias);
      trainer.step(kFeatures, kTarget);
    }).join();
    CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  }
}
