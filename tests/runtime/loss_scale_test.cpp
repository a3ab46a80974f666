// SPDX-License-Identifier: Apache-2.0
// What the host sees of a loss scale: gradients times it, its figures, and the stop at its floor.
#include <doctest/doctest.h>

#include <cmath>

#include "changed_artifact.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Trainer;

namespace {

constexpr std::size_t kScale = 15;

/// The model with another first scale.
auto with_scale(double scale) {
  return [scale](halftone::manifest::Manifest& manifest) {
    manifest.loss_scale.initial = scale;
    manifest.programs[0].buffers[kScale].initial = scale;
  };
}

Floats features_with_infinity() {
  Floats features = kFeatures;
  features[3] = INFINITY;
  return features;
}

}  // namespace

TEST_CASE("gradients carry the loss scale, norm and parameters do not") {
  const ChangedArtifact changed(with_scale(4));
  Trainer trainer = make_trainer(changed.artifact());
  CHECK(trainer.stats().loss_scale == 4.0f);
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.gradient("fc.weight")) == Floats{4, 12, 4, 0, -4, -4});
  CHECK(trainer.stats().grad_norm == std::sqrt(18.0f));
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  trainer.forward(kFeatures);
  trainer.backward(Floats{0, 2, 0, 0});
  CHECK(copy(trainer.gradient("fc.bias")) == Floats{0, 8});
}

TEST_CASE("a model without a loss scale has the scale 1 and never stops at a floor") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.loss_scale = {};
    manifest.programs[0].buffers[kScale].initial = 8;
  });
  Trainer trainer = make_trainer(changed.artifact());
  CHECK(trainer.stats().loss_scale == 1.0f);
  for (int step = 0; step < 10; ++step) {
    trainer.step(features_with_infinity(), kTarget);
    CHECK_FALSE(trainer.updated());
  }
  CHECK(trainer.stats().floored == 0);
}

TEST_CASE("casts are counted") {
  CHECK(make_trainer().stats().casts_per_step == 1);
  const ChangedArtifact none([](auto& manifest) { manifest.programs[0].casts.clear(); });
  CHECK(make_trainer(none.artifact()).stats().casts_per_step == 0);
}

TEST_CASE("as many skipped steps at the floor as the patience end in an error with the culprit") {
  Trainer trainer = make_trainer();
  for (int step = 1; step < hand_made::kPatience; ++step) {
    trainer.step(features_with_infinity(), kTarget);
    CHECK_FALSE(trainer.updated());
    CHECK(trainer.stats().floored == step);
  }
  const std::string culprit =
      " steps in a row were skipped there; the first value that is not finite: input 'features': "
      "element 3 is inf";
  CHECK(message_of([&] { trainer.step(features_with_infinity(), kTarget); }) ==
        "step: the loss scale is at its floor 1 and 3" + culprit);
  CHECK(trainer.stats().steps == 3);
  CHECK(trainer.stats().skipped_steps == 3);
  CHECK(copy(trainer.parameter("fc.weight")) == kWeight);

  trainer.forward(features_with_infinity(), kTarget);
  trainer.backward();
  CHECK_FALSE(trainer.check());
  CHECK(message_of([&] { trainer.update(); }) ==
        "update: the loss scale is at its floor 1 and 4" + culprit);
  trainer.step(kFeatures, kTarget);
  CHECK(trainer.updated());
  CHECK(trainer.stats().floored == 0);
}

TEST_CASE("a finite step between skipped ones starts the count anew") {
  Trainer trainer = make_trainer();
  for (int round = 0; round < 3; ++round) {
    for (int step = 1; step < hand_made::kPatience; ++step) {
      trainer.step(features_with_infinity(), kTarget);
      CHECK_FALSE(trainer.updated());
    }
    trainer.step(kFeatures, kTarget);
    CHECK(trainer.updated());
  }
}

TEST_CASE("the stop at the floor says so when it cannot name a value") {
  const auto message = [](const halftone::Artifact& artifact, const Floats& last) {
    Trainer trainer = make_trainer(artifact);
    trainer.step(features_with_infinity(), kTarget);
    trainer.step(features_with_infinity(), kTarget);
    trainer.wait();
    trainer.accumulate(features_with_infinity(), kTarget);
    return message_of([&] { trainer.step(last, kTarget); });
  };
  const std::string start =
      "step: the loss scale is at its floor 1 and 3 steps in a row were skipped there; ";
  CHECK(message(models::line::artifact(), kFeatures) ==
        start +
            "the first value that is not finite: micro-batch 1 of 2, input 'features': element "
            "3 is inf");
  const ChangedArtifact without([](auto& manifest) { manifest.programs.pop_back(); });
  CHECK(message(without.artifact(), kFeatures) ==
        start +
            "what was not finite is unknown, since diagnose: model 'line' has no program for "
            "diagnosis; its artifact was made without it");
}

TEST_CASE("a norm that overflows where all values are finite is told from them") {
  Trainer trainer = make_trainer();
  Floats target = kTarget;
  target[0] =
      -1.8e19f;  // its error's square fits in f32, the sum of the gradients' squares does not
  const auto step = [&] { trainer.step(kFeatures, target); };
  for (int i = 1; i < hand_made::kPatience; ++i) step();
  CHECK_FALSE(trainer.diagnose());
  CHECK(
      message_of(step) ==
      "step: the loss scale is at its floor 1 and 3 steps in a row were skipped there; all values "
      "are finite, so that the sum of the gradients or their norm was not");
}

TEST_CASE("a diagnosis reads the loss scale that the step read, not the next one") {
  const ChangedArtifact changed([](halftone::manifest::Manifest& manifest) {
    constexpr auto kCheck = static_cast<std::size_t>(halftone::manifest::Phase::check);
    manifest.loss_scale.ceiling = 0x1p127;
    with_scale(0x1p127)(manifest);
    // The scale takes the place of the norm, so that a check leaves infinity in it.
    manifest.programs[0].phases[kCheck][0].arguments[4].buffer = kScale;
  });
  Trainer trainer = make_trainer(changed.artifact());
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  CHECK(std::isinf(trainer.stats().loss_scale));
  // d error / d prediction is 2^127; times the feature 2 it is past f32, in the weight's gradient.
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->pass == "weight_gradient");
}
