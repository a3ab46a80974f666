// SPDX-License-Identifier: Apache-2.0
// examples/forecast, the loop of compare.cpp: 200 passes, the mean squared error of the years from
// 1942 on, in (100 spots)^2.
#include <forecast_f32_model.hpp>
#include <halftone/fit.hpp>

#include "worker.hpp"

namespace model = models::forecast_f32;

Outcome train_under(const halftone::Artifact& artifact, const halftone::Device& device,
                    std::uint64_t seed, const std::filesystem::path& data) {
  constexpr std::int64_t kPast = 22, kTrainingYears = 220, kEpochs = 200;
  const halftone::Dataset years =
      halftone::Dataset::csv(
          data, {{.input = "sunspots", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}})
          .windows({"sunspots", "past", "next", kPast});
  halftone::Loader training(years.slice(0, kTrainingYears), {.batch = 32, .seed = seed});
  halftone::Loader later(years.slice(kTrainingYears, years.rows() - kTrainingYears),
                         {.batch = 32, .shuffle = false});
  model::Trainer trainer(artifact, device, {.batch = 32, .seed = seed});
  model::Predictor predictor(artifact, device, {.batch = 32});
  const auto result =
      halftone::fit(trainer, training,
                    {.epochs = kEpochs, .validation = halftone::Validation{&predictor, &later}});
  return {result.metrics[0].value, trainer.stats()};
}
