// SPDX-License-Identifier: Apache-2.0
// Runs of fewer rows than planned: values worked out by hand, and what is refused.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "changed_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using halftone::Binding;
using models::line::Predictor, models::line::Trainer;

namespace {

// The first row of the worked example alone: prediction {2, 1}, error (4 + 0) / 2 = 2, d error / d
// prediction = {2, 0}.
const Floats kOneRow = {1, 2, 0}, kOneTarget = {0, 1}, kOnePrediction = {2, 1};
const Floats kOneNewWeight = {0, -2, 2, 0, 1, -1}, kOneNewBias = {0, -1};

/// Both rows of the worked example twice: the same means.
Floats twice(Floats values) {
  values.insert(values.end(), values.begin(), values.end());
  return values;
}

Floats with(Floats values, std::size_t at, float value) {
  values[at] = value;
  return values;
}

void begin_anew(Trainer& trainer) {
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
}

Trainer trainer_of(std::int64_t batch) {
  Trainer trainer(device(), {.batch = batch, .seed = 1});
  begin_anew(trainer);
  return trainer;
}

}  // namespace

TEST_CASE("a step has as many rows as it is given") {
  Trainer trainer = trainer_of(4);
  CHECK(trainer.output("prediction").size() == 8);  // nothing ran yet
  for (int round = 0; round < 2; ++round) {
    begin_anew(trainer);
    trainer.step(kFeatures, kTarget);
    CHECK(copy(trainer.output("prediction")) == kPrediction);
    CHECK(trainer.loss("error") == 3.0f);
    CHECK(copy(trainer.gradient("fc.weight")) == kWeightGradient);
    CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
    CHECK(copy(trainer.parameter("fc.bias")) == kNewBias);
    begin_anew(trainer);
    trainer.step(kOneRow, kOneTarget);
    CHECK(copy(trainer.output("prediction")) == kOnePrediction);
    CHECK(trainer.loss("error") == 2.0f);
    CHECK(copy(trainer.parameter("fc.weight")) == kOneNewWeight);
    CHECK(copy(trainer.parameter("fc.bias")) == kOneNewBias);
    begin_anew(trainer);
    trainer.step(twice(kFeatures), twice(kTarget));
    CHECK(copy(trainer.output("prediction")) == twice(kPrediction));
    CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  }
}

TEST_CASE("the parts of a step have the rows of their forward") {
  Trainer trainer = trainer_of(4);
  trainer.forward(kFeatures);
  CHECK(copy(trainer.output("prediction")) == kPrediction);
  CHECK(message_of([&] { trainer.backward(twice(kPredictionGradient)); }) ==
        "backward: output gradient 'prediction' has 8 values, but batch 2 x 2 needs 4; give the "
        "whole tensor, row-major");
  trainer.backward(kPredictionGradient);
  CHECK(trainer.check());
  trainer.update();
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  begin_anew(trainer);
  trainer.forward(kOneRow, kOneTarget);
  trainer.backward();
  CHECK(trainer.check());
  trainer.update();
  CHECK(copy(trainer.parameter("fc.weight")) == kOneNewWeight);
}

TEST_CASE("micro-batches of different rows count the same") {
  Trainer trainer = trainer_of(4);
  for (const bool parts : {false, true}) {
    begin_anew(trainer);
    if (parts) {
      trainer.forward(kOneRow, kOneTarget);
      trainer.backward();
      trainer.accumulate_gradients();
    } else {
      trainer.accumulate(kOneRow, kOneTarget);
    }
    trainer.step(kFeatures, kTarget);
    // Half of {2, 4, 0, 0, 0, 0} + {1, 3, 1, 0, -1, -1}, and of {2, 0} + {2, -1}.
    CHECK(copy(trainer.parameter("fc.weight")) == Floats{0.25f, -1.75f, 1.75f, 0, 1.25f, -0.75f});
    CHECK(copy(trainer.parameter("fc.bias")) == Floats{0, -0.75f});
  }
}

TEST_CASE("a predictor predicts as many rows as it is given") {
  Predictor predictor(device(), {.batch = 4});
  predictor.set_parameter("fc.weight", kWeight);
  predictor.set_parameter("fc.bias", kBias);
  CHECK(copy(predictor.predict(twice(kFeatures)).prediction) == twice(kPrediction));
  CHECK(copy(predictor.predict(kOneRow).prediction) == kOnePrediction);
  CHECK(copy(predictor.predict(kFeatures).prediction) == kPrediction);
  CHECK(message_of([&] { predictor.predict(Floats(15)); }) ==
        "predict: input 'features' has 5 rows, but the predictor was made for batch 4; give fewer "
        "rows at a time, or make it for the most that come");
}

TEST_CASE("spans of outputs stay where they are, whatever rows follow") {
  Trainer trainer = trainer_of(4);
  trainer.forward(kOneRow);
  const std::span<const float> one = trainer.output("prediction");
  trainer.forward(twice(kFeatures));
  const std::span<const float> four = trainer.output("prediction");
  CHECK(one.data() == four.data());
  trainer.forward(kOneRow);
  CHECK(trainer.output("prediction").data() == four.data());
}

TEST_CASE("rows that are none, too many or not the same are refused, and nothing changes") {
  Trainer trainer = trainer_of(4), one = trainer_of(1);
  trainer.forward(kFeatures, kTarget);
  const auto refusal = [&](Trainer& of, std::size_t features, std::size_t target) {
    return message_of([&] { of.step(Floats(features), Floats(target)); });
  };
  CHECK(refusal(trainer, 7, 4) ==
        "step: input 'features' has 7 values, but a row of it has 3; give 1 to 4 rows, row-major");
  CHECK(refusal(trainer, 0, 0) ==
        "step: input 'features' has 0 values, but a row of it has 3; give 1 to 4 rows, row-major");
  CHECK(refusal(one, 2, 2) ==
        "step: input 'features' has 2 values, but a row of it has 3; give one row, row-major");
  CHECK(refusal(trainer, 15, 10) ==
        "step: input 'features' has 5 rows, but the trainer was made for batch 4; give fewer rows "
        "at a time, or make it for the most that come");
  CHECK(refusal(trainer, 9, 8) ==
        "step: input 'target' has 8 values, but batch 3 x 2 needs 6; give the whole tensor, "
        "row-major, of as many rows as input 'features' has");
  CHECK(copy(trainer.output("prediction")) == kPrediction);
  trainer.backward(kPredictionGradient);  // still two rows
  CHECK(trainer.stats().steps == 0);
}

TEST_CASE("inputs that begin with different symbols take the planned sizes alone") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.symbols.push_back("time");
    manifest.assumed.push_back(1);
    for (std::size_t program : {0, 2}) manifest.programs[program].buffers[1].shape[0] = {1, 1};
  });
  const std::array bindings = {Binding{"batch", 2}, Binding{"time", 2}};
  halftone::Trainer trainer(changed.artifact(), device(), {.model = "", .bindings = bindings});
  CHECK(message_of([&] {
          trainer.step(std::array{halftone::NamedValues{"features", std::span(kOneRow)},
                                  halftone::NamedValues{"target", std::span(kTarget)}});
        }) ==
        "step: input 'features' has 3 values, but batch 2 x 3 needs 6; give the whole tensor, "
        "row-major");
}

TEST_CASE("values of a sum's length are refused in a sentence that says what lengths there are") {
  const ChangedArtifact changed([](auto& manifest) {
    for (std::size_t program : {0, 2})
      manifest.programs[program].buffers[1].shape[0] = {1, 0, 1, 2};
  });
  const std::array bindings = {Binding{"batch", 2}};
  halftone::Trainer trainer(changed.artifact(), device(), {.model = "", .bindings = bindings});
  CHECK(message_of([&] {
          trainer.step(std::array{halftone::NamedValues{"features", std::span(kFeatures)},
                                  halftone::NamedValues{"target", std::span(kOneRow)}});
        }) ==
        "step: input 'target' has 3 values, but (batch 2 + 2) x 2 needs 8; give the whole tensor, "
        "row-major, of lengths batch + 2");
}

TEST_CASE("a diagnosis replays with the rows of then") {
  Trainer trainer = trainer_of(4);
  trainer.step(with(twice(kFeatures), 10, NAN), twice(kTarget));
  CHECK_FALSE(trainer.updated());
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK_FALSE(trainer.diagnose());  // the NaN lies behind these rows
  trainer.step(with(kFeatures, 4, NAN), kTarget);
  auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->layer == "features");
  CHECK(found->element == 4);
  for (const bool first : {true, false}) {
    trainer.accumulate(with(kOneRow, 2, first ? NAN : 0.0f), kOneTarget);
    trainer.accumulate(with(twice(kFeatures), 11, first ? 0.0f : NAN), twice(kTarget));
    trainer.step(kFeatures, kTarget);
    CHECK_FALSE(trainer.updated());
    found = trainer.diagnose();
    REQUIRE(found);
    CHECK(found->micro_batch == (first ? 1 : 2));
    CHECK(found->element == (first ? 2 : 11));
    trainer.step(kFeatures, kTarget);  // or the patience would end
    CHECK(trainer.updated());
  }
}

TEST_CASE("a diagnosis finds what only so few rows overflow") {
  Trainer trainer = trainer_of(4);
  trainer.set_parameter("fc.weight", Floats(6));
  trainer.set_parameter("fc.bias", Floats(2));
  // 2e8 * 3e30 overflows in the weight's gradient; of four rows it would be a quarter.
  trainer.step(Floats{3e30f, 0, 0}, Floats{-2e8f, 0});
  CHECK_FALSE(trainer.updated());
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->pass == "weight_gradient");
  CHECK(found->element == 0);
}

TEST_CASE("any number of different rows, in any order, has the values of trainers made for it") {
  constexpr std::size_t kMost = 24;
  Trainer trainer = trainer_of(kMost);
  for (std::size_t i = 0; i < 3 * kMost; ++i) {
    const std::size_t rows = 1 + 7 * i % kMost;
    CAPTURE(rows);
    Floats features(3 * rows), target(2 * rows);
    for (std::size_t at = 0; at < features.size(); ++at) {
      features[at] = 0.125f * static_cast<float>(at * 5 % 17) - 1.0f;
    }
    Trainer fresh = trainer_of(static_cast<std::int64_t>(rows));
    begin_anew(trainer);
    for (Trainer* each : {&fresh, &trainer}) {
      if (i % 3 == 1) each->accumulate(features, target);
      each->step(features, target);
    }
    CHECK(copy(trainer.parameter("fc.weight")) == copy(fresh.parameter("fc.weight")));
    CHECK(copy(trainer.parameter("fc.bias")) == copy(fresh.parameter("fc.bias")));
    CHECK(copy(trainer.output("prediction")) == copy(fresh.output("prediction")));
    CHECK(trainer.loss("error") == fresh.loss("error"));
    CHECK(trainer.stats().grad_norm == fresh.stats().grad_norm);
  }
}
