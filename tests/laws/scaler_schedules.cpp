// SPDX-License-Identifier: Apache-2.0
// The loss scale of generated code (L1 to L5) against what torch.amp.GradScaler did, as recorded by
// tests/support/scaler, and against the same model without a loss scale.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "halftone/error.hpp"
#include "pair.hpp"
#include "scaler/recorded.hpp"
#include "scaler/spelled_out.hpp"
#include "scaler/trainer_scaler.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

const manifest::ArtifactImage& image_of(const std::string& name) {
  for (const LinkedArtifact& artifact : kArtifacts)
    if (artifact.name == name) return *artifact.image;
  throw std::runtime_error("no artifact is linked of " + name);
}

}  // namespace

TEST_CASE("the loss scale of generated code agrees with torch on 20,000 schedules") {
  std::int64_t schedules = 0;
  for (std::size_t i = 0; i < std::size(kScaledModels); ++i)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(kScaledModels[i]));
      CAPTURE(variant);
      const auto model = load_scaler_model(kScaledModels[i]);
      TrainerScaler scaler(image_of(kScaledModels[i]), variant);
      // The baseline is sampled.
      const bool is_first = variant == tested_variant;
      const std::size_t every = is_first ? 1 : 50;
      const Agreement found =
          compare(scaler, artifact_recording(i, std::size(kScaledModels), every),
                  [&](Draws&, ScheduleSettings& settings) { take_from(model, settings); });
      CAPTURE(found.first_differing);
      CHECK(found.differing == 0);
      if (is_first) schedules += found.schedules;
    }
  CHECK(schedules == 20'000);
}

TEST_CASE(
    "hysteresis, floor, ceiling and patience of generated code are those of the specification") {
  struct Count {
    int stopped = 0, at_floor = 0, at_ceiling = 0, waited = 0;
  };
  for (const char* name : kBoundedModels)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(name));
      CAPTURE(variant);
      const auto model = load_scaler_model(name);
      TrainerScaler scaler(image_of(name), variant);
      SpelledOut expected;  // held to the recorded schedules by tests/reference
      Count count;
      for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Draws draws(3'000'000 + seed);
        ScheduleSettings settings = draw_settings(draws);
        take_from(model, settings);
        scaler.reset(settings);
        expected.reset(settings);
        for (int step = 0; step < settings.steps; ++step) {
          CAPTURE(step);
          const StepEvents events = draw_step(draws, settings);
          const float before = step == 0 ? settings.initial : scaler.trainer().stats().loss_scale;
          const Outcome wanted = expected.step(events);
          count.waited += wanted.skipped && wanted.wait > 0;
          count.at_floor +=
              wanted.skipped && wanted.scale == settings.floor && before > wanted.scale;
          count.at_ceiling += wanted.scale == settings.ceiling && before < wanted.scale;
          if (wanted.floored >= settings.patience) {  // L4
            CHECK_THROWS_AS(scaler.step(events), Error);
            ++count.stopped;
            break;
          }
          const Outcome found = scaler.step(events);
          REQUIRE(std::bit_cast<std::uint32_t>(found.scale) ==
                  std::bit_cast<std::uint32_t>(wanted.scale));
          REQUIRE(found.skipped == wanted.skipped);
          REQUIRE(found.floored == wanted.floored);
        }
      }
      CHECK(count.stopped > 50);
      CHECK(count.at_floor > 50);
      CHECK(count.at_ceiling > 50);
      CHECK(count.waited > 50);
    }
}

TEST_CASE("a scale that is a power of two changes no bit of training by generated code") {
  for (const ScaledAndNot& models : kScaledAndNot)
    for (const std::string& variant : tested_variants())
      for (const int micro_batches : {1, 2, 4}) {
        CAPTURE(std::string(models.scaled));
        CAPTURE(variant);
        CAPTURE(micro_batches);
        ScheduleSettings settings;
        take_from(load_scaler_model(models.scaled), settings);
        settings.micro_batches = micro_batches;
        settings.optimizers = 2;
        settings.rate = 32;
        TrainerScaler scaled(image_of(models.scaled), variant);
        TrainerScaler unscaled(image_of(models.unscaled), variant);
        scaled.reset(settings);
        unscaled.reset(settings);
        Draws draws(7);
        bool moved = false;
        for (int step = 0; step < 50; ++step) {
          CAPTURE(step);
          const StepEvents events = draw_step(draws, settings);
          moved |= scaled.step(events).scale != settings.initial;
          unscaled.step(events);
          for (const char* name : {"a.weight", "b.weight"})
            CHECK(first_difference(scaled.trainer().parameter(name),
                                   unscaled.trainer().parameter(name)) == -1);
        }
        CHECK(moved);
        CHECK(scaled.trainer().stats().skipped_steps > 0);
        CHECK(scaled.trainer().stats().skipped_steps < 30);
      }
}

TEST_CASE("a step that one weight's gradient spoils leaves every weight's bits") {
  TrainerScaler scaler(image_of("scaled_momentum"), tested_variant);
  ScheduleSettings settings;
  take_from(load_scaler_model("scaled_momentum"), settings);
  scaler.reset(settings);
  StepEvents events;
  events.gradients = {{{1.0f, 2.0f, 3.0f}, {1.0f, 2.0f, 3.0f}}};
  CHECK_FALSE(scaler.step(events).skipped);
  const auto now = [&](const char* name) {
    const auto values = scaler.trainer().parameter(name);
    return std::vector<float>(values.begin(), values.end());
  };
  const auto a = now("a.weight"), b = now("b.weight");
  events.gradients[0][0][1] = -INFINITY;
  CHECK(scaler.step(events).skipped);
  CHECK(first_difference(now("a.weight"), a) == -1);
  CHECK(first_difference(now("b.weight"), b) == -1);
  events.gradients[0][0][1] = 2.0f;
  CHECK_FALSE(scaler.step(events).skipped);
  CHECK(first_difference(now("b.weight"), b) != -1);
}

}  // namespace halftone::tests
