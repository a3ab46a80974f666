// SPDX-License-Identifier: Apache-2.0
// A step of several micro-batches: which launches it makes, and that it takes the mean.
#include "micro_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

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
        "row-major, of as many rows as input 'features' has");
}

namespace {

Floats with(Floats values, std::size_t at, float value) {
  values[at] = value;
  return values;
}

}  // namespace

TEST_CASE("a diagnosis finds the micro-batch that spoiled the step, whichever it is") {
  for (std::int64_t spoiled = 1; spoiled <= 4; ++spoiled) {
    CAPTURE(spoiled);
    Trainer trainer = make_trainer();
    for (int step = 0; step < 2; ++step) {  // the second finds what the first kept
      const auto target = [&](std::int64_t micro_batch) {
        return micro_batch == spoiled ? with(kTarget, 3, NAN) : kTarget;
      };
      for (std::int64_t i = 1; i < 4; ++i) trainer.accumulate(kFeatures, target(i));
      trainer.step(kFeatures, target(4));
      CHECK_FALSE(trainer.updated());
      const auto found = trainer.diagnose();
      REQUIRE(found);
      CHECK(found->text() ==
            "micro-batch " + std::to_string(spoiled) + " of 4, input 'target': element 3 is nan");
      CHECK(found->micro_batch == spoiled);
      CHECK(found->micro_batches == 4);
    }
  }
}

TEST_CASE("a value that overflows in an earlier micro-batch is found in its operation") {
  Trainer trainer = make_trainer();
  trainer.accumulate(kFeatures, kTarget);
  trainer.accumulate(kFeatures, with(kTarget, 2, 1e30f));
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->text().starts_with("micro-batch 2 of 3, mse 'error' in forward: element 1"));
}

TEST_CASE("a parameter that is not finite is in no micro-batch of its own") {
  Trainer trainer = make_trainer();
  trainer.set_parameter("fc.bias", Floats{NAN, 0});
  trainer.accumulate(kFeatures, kTarget);
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  CHECK(trainer.diagnose().value().text() == "parameter 'fc.bias': element 0 is nan");
}

TEST_CASE("the parts of a step find their earlier micro-batches too, before the update and after") {
  Trainer trainer = make_trainer();
  for (int step = 0; step < 2; ++step) {
    CAPTURE(step);
    trainer.forward(kFeatures);  // without the losses
    trainer.backward(Floats{0, 1, 0, INFINITY});
    trainer.accumulate_gradients();
    trainer.forward(with(kFeatures, 1, -INFINITY), kTarget);
    trainer.backward();
    trainer.accumulate_gradients();
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    CHECK_FALSE(trainer.diagnose());  // as yet the last micro-batch is what is asked about
    CHECK_FALSE(trainer.check());
    const char* text = "micro-batch 1 of 3, output_gradient 'prediction': element 3 is inf";
    CHECK(trainer.diagnose().value().text() == text);
    trainer.update();
    CHECK(trainer.diagnose().value().text() == text);
    trainer.forward(kFeatures, kTarget);
    CHECK_FALSE(trainer.diagnose());
    trainer.backward();
    trainer.check();
    trainer.update();
    trainer.set_parameter("fc.weight", kWeight);
    trainer.set_parameter("fc.bias", kBias);
  }
}

TEST_CASE("a step of one after a spoiled step of several has one to look at") {
  Trainer trainer = make_trainer();
  trainer.accumulate(kFeatures, with(kTarget, 0, NAN));
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.diagnose().value().micro_batch == 1);
  trainer.step(kFeatures, with(kTarget, 1, NAN));
  CHECK(trainer.diagnose().value().text() == "input 'target': element 1 is nan");
  trainer.accumulate(kFeatures, kTarget);
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK_FALSE(trainer.diagnose());
}

TEST_CASE("only so much of a step's micro-batches is kept, the first of them") {
  halftone::EarlierMicroBatches kept(100);
  const std::vector<std::byte> forty(40, std::byte{1}), twenty(20, std::byte{2});
  for (int step = 0; step < 2; ++step) {
    kept.clear();
    for (int micro_batch = 0; micro_batch < 4; ++micro_batch) {
      kept.begin();
      kept.give(0, twenty);
      if (micro_batch != 2) kept.give(1, micro_batch == 0 ? forty : twenty);
      kept.add({.forward = true, .losses = micro_batch > 0});
    }
    // 60, 40, and then no room for the third one's 20, nor for what follows.
    CHECK(kept.count() == 4);
    REQUIRE(kept.kept().size() == 2);
    CHECK(kept.kept()[0].given->at(1) == forty);
    CHECK(kept.kept()[1].given->at(0) == twenty);
    CHECK(kept.kept()[1].losses);
  }
}
