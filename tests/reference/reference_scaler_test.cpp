// SPDX-License-Identifier: Apache-2.0
// Whole steps of the reference (L1 to L5, M3, M4) against what torch.amp.GradScaler did, as
// recorded by tests/support/scaler, and against itself without a loss scale.
#include "scaler/reference_scaler.hpp"

#include <doctest/doctest.h>

#include "scaler/differences.hpp"
#include "scaler/recorded.hpp"

namespace halftone::tests {

TEST_CASE("the reference's loss scale agrees with torch on every 40th recorded schedule") {
  ReferenceScaler scaler(load_scaler_model("scaled_adamw"));
  const Agreement found = compare_with_torch(scaler, 40);
  CAPTURE(found.first_differing);
  CHECK(found.schedules == 2'500);
  CHECK(found.differing == 0);
}

TEST_CASE("the reference's loss scale agrees with torch on every recorded schedule" *
          doctest::skip()) {
  ReferenceScaler scaler(load_scaler_model("scaled_momentum"));
  const Agreement found = compare_with_torch(scaler);
  CAPTURE(found.first_differing);
  CHECK(found.schedules == 100'000);
  CHECK(found.differing == 0);
}

TEST_CASE("the reference's hysteresis, floor and ceiling follow the recorded model") {
  ReferenceScaler scaler(load_scaler_model("scaled_momentum"));
  const Agreement found = compare_hysteresis(scaler, 10);
  CAPTURE(found.first_differing);
  CHECK(found.schedules == 1'000);
  CHECK(found.differing == 0);
}

TEST_CASE("the reference under the settings of the scaled models agrees with torch") {
  for (std::size_t i = 0; i < std::size(kScaledModels); ++i) {
    CAPTURE(std::string(kScaledModels[i]));
    const auto model = load_scaler_model(kScaledModels[i]);
    ReferenceScaler scaler(model);
    const Agreement found =
        compare(scaler, artifact_recording(i, std::size(kScaledModels), 10),
                [&](Draws&, ScheduleSettings& settings) { take_from(model, settings); });
    CAPTURE(found.first_differing);
    CHECK(found.schedules == 500);
    CHECK(found.differing == 0);
  }
}

TEST_CASE("a scale that is a power of two changes no bit of the reference's training") {
  for (const ScaledAndNot& models : kScaledAndNot)
    for (const int micro_batches : {1, 2, 4}) {
      CAPTURE(std::string(models.scaled));
      CAPTURE(micro_batches);
      const auto model = load_scaler_model(models.scaled);
      ScheduleSettings settings;
      take_from(model, settings);
      settings.micro_batches = micro_batches;
      settings.optimizers = 2;
      settings.rate = 32;
      ReferenceScaler scaled(model), unscaled(load_scaler_model(models.unscaled));
      scaled.reset(settings);
      unscaled.reset(settings);
      Draws draws(7);
      bool moved = false;
      for (int step = 0; step < 50; ++step) {
        CAPTURE(step);
        const StepEvents events = draw_step(draws, settings);
        moved |= scaled.step(events).scale != settings.initial;
        unscaled.step(events);
        CHECK(scaled.state().parameters == unscaled.state().parameters);
        CHECK(scaled.state().first_moments == unscaled.state().first_moments);
        CHECK(scaled.state().second_moments == unscaled.state().second_moments);
        CHECK(scaled.state().steps == unscaled.state().steps);
      }
      CHECK(moved);
      CHECK(scaled.state().steps > 20);
      CHECK(scaled.state().steps < 50);
    }
}

TEST_CASE("where the loss scale differs from torch it does so as specified") {
  ReferenceScaler scaler(load_scaler_model("scaled_momentum"));
  check_differences(scaler);
}

}  // namespace halftone::tests
