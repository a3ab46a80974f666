// SPDX-License-Identifier: Apache-2.0
// What the host gives layers to draw by (D35): seed, steps ended, micro-batches joined.
#include <doctest/doctest.h>

#include <limits>

#include "changed_artifact.hpp"
#include "line_artifact.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Trainer;

namespace {

using hand_made::Counters, hand_made::take_counters;
using List = std::vector<Counters>;

constexpr std::uint64_t kSeed = 0x0123456789abcdef;

Counters at(std::uint32_t step, std::uint32_t micro_batch = 0) {
  return {0x89abcdef, 0x01234567, step, micro_batch};
}

struct Drawing {
  ChangedArtifact artifact{hand_made::let_draw};
  Trainer trainer{artifact.artifact(), device(), {.batch = 2, .seed = kSeed}};

  Drawing() {
    trainer.set_parameter("fc.weight", kWeight);
    trainer.set_parameter("fc.bias", kBias);
    (void)take_counters();
  }
  List found() {
    trainer.wait();
    return take_counters();
  }
};

Floats spoiled(float value) {
  Floats target = kTarget;
  target[2] = value;
  return target;
}

}  // namespace

TEST_CASE("a pass counts the steps that ended before, skipped ones among them") {
  Drawing drawing;
  drawing.trainer.step(kFeatures, kTarget);
  drawing.trainer.step(kFeatures, spoiled(std::numeric_limits<float>::infinity()));
  CHECK_FALSE(drawing.trainer.updated());
  drawing.trainer.step(kFeatures, kTarget);
  drawing.trainer.forward(kFeatures);
  CHECK(drawing.found() == List{at(0), at(1), at(2), at(3)});
}

TEST_CASE("a pass counts the micro-batches that joined its step before") {
  Drawing drawing;
  for (int step = 0; step < 2; ++step) {
    drawing.trainer.accumulate(kFeatures, kTarget);
    drawing.trainer.accumulate(kFeatures, kTarget);
    drawing.trainer.step(kFeatures, kTarget);
  }
  drawing.trainer.step(kFeatures, kTarget);
  CHECK(drawing.found() == List{at(0), at(0, 1), at(0, 2), at(1), at(1, 1), at(1, 2), at(2)});
}

TEST_CASE("a pass that joins no step draws what the next one that does will") {
  Drawing drawing;
  Trainer& trainer = drawing.trainer;
  trainer.forward(kFeatures, kTarget);
  trainer.backward();
  trainer.forward(kFeatures, kTarget);
  trainer.accumulate(kFeatures, kTarget);
  trainer.forward(kFeatures);
  trainer.step(kFeatures, kTarget);
  CHECK(drawing.found() == List{at(0), at(0), at(0), at(0, 1), at(0, 1)});
}

TEST_CASE("the parts of a step draw what the step does") {
  Drawing drawing;
  Trainer& trainer = drawing.trainer;
  for (int step = 0; step < 2; ++step) {
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    trainer.accumulate_gradients();
    trainer.forward(kFeatures, kTarget);
    trainer.backward();
    trainer.check();
    trainer.update();
  }
  CHECK(drawing.found() == List{at(0), at(0, 1), at(1), at(1, 1)});
}

TEST_CASE("a diagnosis draws what each micro-batch drew") {
  Drawing drawing;
  Trainer& trainer = drawing.trainer;
  trainer.step(kFeatures, kTarget);
  (void)drawing.found();
  for (const bool parts : {false, true}) {
    CAPTURE(parts);
    trainer.accumulate(kFeatures, kTarget);
    if (parts) {
      trainer.forward(kFeatures, kTarget);
      trainer.backward();
      trainer.accumulate_gradients();
    } else {
      trainer.accumulate(kFeatures, kTarget);
    }
    trainer.step(kFeatures, spoiled(1e30f));  // whose square is infinite
    CHECK_FALSE(trainer.updated());
    const List drawn = drawing.found();
    CHECK(trainer.diagnose().value().micro_batch == 3);
    CHECK(drawing.found() == drawn);
    CHECK(drawn.size() == 3);
  }
}

TEST_CASE("a diagnosis of micro-batches that were kept late draws what they drew") {
  Drawing drawing;
  Trainer& trainer = drawing.trainer;
  trainer.forward(kFeatures, kTarget);
  trainer.backward();
  trainer.accumulate_gradients();  // the first call tells that this was a micro-batch
  trainer.step(kFeatures, spoiled(1e30f));
  CHECK(drawing.found() == List{at(0), at(0, 1)});
  CHECK(trainer.diagnose().value().micro_batch == 2);
  CHECK(drawing.found() == List{at(0), at(0, 1)});
}
