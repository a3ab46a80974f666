// SPDX-License-Identifier: Apache-2.0
// A step of several micro-batches: which launches it makes, and that it takes the mean.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Trainer;

namespace {

std::vector<std::string> kernels_of(const std::vector<hand_made::Call>& calls) {
  std::vector<std::string> order;
  for (const hand_made::Call& call : calls) {
    if (order.empty() || order.back() != call.kernel) order.push_back(call.kernel);
  }
  return order;
}

}  // namespace

TEST_CASE("a step of equal micro-batches is the step of one of them") {
  for (int micro_batches = 1; micro_batches <= 4; ++micro_batches) {
    CAPTURE(micro_batches);
    Trainer trainer = make_trainer();
    for (int i = 1; i < micro_batches; ++i) {
      trainer.accumulate(kFeatures, kTarget);
      CHECK(trainer.loss("error") == 3.0f);
    }
    CHECK(copy(trainer.parameter("fc.weight")) == kWeight);
    trainer.step(kFeatures, kTarget);
    CHECK(trainer.updated());
    CHECK(trainer.gradient("fc.bias")[0] == 2.0f * static_cast<float>(micro_batches));
    CHECK(trainer.stats().grad_norm == doctest::Approx(std::sqrt(18.0f)).epsilon(1e-6));
    if (micro_batches == 3) continue;  // a third is not exact
    CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
    CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
    CHECK(trainer.stats().steps == 1);
  }
}

TEST_CASE("the parts add the micro-batches' gradients up and take their mean") {
  Trainer trainer = make_trainer();
  for (int round = 0; round < 2; ++round) {  // the second step starts from a sum of its own
    trainer.set_parameter("fc.weight", kWeight);
    trainer.set_parameter("fc.bias", kBias);
    trainer.forward(kFeatures);
    trainer.backward(Floats{0, 2, 0, 0});
    trainer.accumulate_gradients();
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
    CHECK(trainer.check());
    CHECK(copy(trainer.gradient("fc.weight")) == Floats{1, 3, 1, 2, 3, -1});
    CHECK(copy(trainer.gradient("fc.bias")) == Floats{2, 1});
    CHECK(trainer.stats().grad_norm == std::sqrt(7.5f));
    trainer.update();
    CHECK(copy(trainer.parameter("fc.weight")) ==
          Floats{0.75f, -0.75f, 1.75f, -0.5f, 0.25f, -0.75f});
    CHECK(copy(trainer.parameter("fc.bias")) == Floats{0.5f, -1.25f});
  }
}

TEST_CASE("a step alone after a step of micro-batches is a step of one again") {
  Trainer trainer = make_trainer();
  trainer.accumulate(kFeatures, kTarget);
  trainer.step(kFeatures, kTarget);
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
}

TEST_CASE("the sum is launched where there are micro-batches and nowhere else") {
  Trainer trainer = make_trainer();
  hand_made::start_recording();
  trainer.step(kFeatures, kTarget);
  CHECK(std::ranges::count(kernels_of(hand_made::stop_recording()), "accumulate") == 0);
  hand_made::start_recording();
  trainer.accumulate(kFeatures, kTarget);
  trainer.step(kFeatures, kTarget);
  CHECK(kernels_of(hand_made::stop_recording()) ==
        std::vector<std::string>{"forward", "loss", "loss.finish", "loss_backward", "backward",
                                 "accumulate", "forward", "loss", "loss.finish", "loss_backward",
                                 "backward", "accumulate", "check", "update"});
}

TEST_CASE("a micro-batch that is not finite skips the whole step") {
  Trainer trainer = make_trainer();
  Floats features = kFeatures;
  features[2] = INFINITY;
  trainer.accumulate(features, kTarget);
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  CHECK(copy(trainer.parameter("fc.weight")) == kWeight);
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
}

TEST_CASE("micro-batches in a wrong order say which order is right") {
  Trainer trainer = make_trainer();
  CHECK(message_of([&] { trainer.accumulate_gradients(); }) ==
        "accumulate_gradients: the trainer has not done backward() directly before; call forward, "
        "backward, check and update in this order");
  trainer.accumulate(kFeatures, kTarget);
  const std::string hint =
      "; after accumulate() or accumulate_gradients() call step(), or forward and backward of the "
      "last micro-batch, check and update";
  CHECK(message_of([&] { trainer.check(); }) ==
        "check: the trainer has not done backward() directly before" + hint);
  CHECK(message_of([&] { trainer.accumulate_gradients(); }) ==
        "accumulate_gradients: the trainer has not done backward() directly before" + hint);
  CHECK(message_of([&] { trainer.accumulate(kFeatures, Floats(3)); }) ==
        "accumulate: input 'target' has 3 values, but batch 2 x 2 needs 4; give the whole tensor, "
        "row-major");
}
