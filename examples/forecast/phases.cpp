// SPDX-License-Identifier: Apache-2.0
// One forecaster in four phases, warmup, full, predict and correct, each under a precision of its
// own: how good it gets under four presets, and what each phase takes, known before it trains.
//   forecast_phases [FILE.csv]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <forecast_aggressive_model.hpp>
#include <forecast_conservative_model.hpp>
#include <forecast_custom_model.hpp>
#include <forecast_default_model.hpp>
#include <halftone/fit.hpp>
#include <halftone/stages.hpp>
#include <string>

namespace {

constexpr std::int64_t kPast = 22, kTrainingYears = 220, kEpochs = 200;
constexpr std::int64_t kBatch = 32, kLargeBatch = 4096;  ///< the second is planned alone
constexpr std::uint64_t kSeeds = 20;

/// 100 steps of warmup, then 20, 70 and 10 of the others again and again.
const halftone::StageSchedule& schedule() {
  static const halftone::StageSchedule stages({{"warmup", 100}},
                                              {{"full", 20}, {"predict", 70}, {"correct", 10}});
  return stages;
}

struct Outcome {
  double error = 0.0;      ///< mean squared error of the years from 1942 on, the mean over seeds
  double deviation = 0.0;  ///< over seeds
  double skipped = 0.0;    ///< share of steps
  std::int64_t steps = 0;  ///< of a run
};

template <class Trainer, class Predictor>
Outcome train(const halftone::Device& device, const halftone::Dataset& years) {
  Outcome outcome;
  double squares = 0.0, steps = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    halftone::Loader training(years.slice(0, kTrainingYears), {.batch = kBatch, .seed = seed});
    halftone::Loader later(years.slice(kTrainingYears, years.rows() - kTrainingYears),
                           {.batch = kBatch, .shuffle = false});
    Trainer trainer(device, {.batch = kBatch, .seed = seed});
    Predictor predictor(device, {.batch = kBatch});
    const auto result = halftone::fit(trainer, training,
                                      {.epochs = kEpochs,
                                       .validation = halftone::Validation{&predictor, &later},
                                       .stages = schedule()});
    const double error = result.metrics[0].value;
    outcome.error += error / kSeeds;
    squares += error * error / kSeeds;
    outcome.steps = trainer.stats().steps;
    outcome.skipped += static_cast<double>(trainer.stats().skipped_steps);
    steps += static_cast<double>(outcome.steps);
  }
  outcome.deviation = std::sqrt(std::max(squares - outcome.error * outcome.error, 0.0));
  outcome.skipped /= steps;
  return outcome;
}

/// Bytes that each phase works in, and their mean over the steps, beside what all of them keep.
void print_memory(const halftone::Artifact& artifact, const halftone::Device& device,
                  std::int64_t rows, std::int64_t steps) {
  const halftone::Binding batch{"batch", rows};
  const halftone::Setup setup{.model = "", .bindings = {&batch, 1}};
  double mean = 0.0;
  std::int64_t kept = 0;
  for (const halftone::StageMemory& stage : halftone::plan_stages(artifact, device, setup)) {
    std::printf(" %lld", static_cast<long long>(stage.working));
    mean += schedule().share_of(stage.stage, steps) * static_cast<double>(stage.working);
    kept = stage.kept;
  }
  std::printf("; %.0f beside %lld", mean, static_cast<long long>(kept));
}

template <class Trainer, class Predictor>
void print(const char* preset, const halftone::Artifact& artifact, const halftone::Device& device,
           const halftone::Dataset& years) {
  const Outcome outcome = train<Trainer, Predictor>(device, years);
  std::printf("%-12s  %.4f (%.4f)  %.2f %%\n", preset, outcome.error, outcome.deviation,
              100 * outcome.skipped);
  for (const std::int64_t rows : {kBatch, kLargeBatch}) {
    std::printf("  batch %4lld:", static_cast<long long>(rows));
    print_memory(artifact, device, rows, outcome.steps);
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** values) try {
  namespace m = models;
  const auto years =
      halftone::Dataset::csv(
          count > 1 ? values[1] : SUNSPOTS_CSV,
          {{.input = "sunspots", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}})
          .windows({"sunspots", "past", "next", kPast});
  const auto device = halftone::Device::best(m::forecast_conservative::artifact());
  std::printf(
      "preset        error (over seeds)  skipped\n"
      "  bytes worked in, by phase; their mean over the steps, beside what is kept\n");
  print<m::forecast_conservative::Trainer, m::forecast_conservative::Predictor>(
      "conservative", m::forecast_conservative::artifact(), device, years);
  print<m::forecast_default::Trainer, m::forecast_default::Predictor>(
      "default", m::forecast_default::artifact(), device, years);
  print<m::forecast_aggressive::Trainer, m::forecast_aggressive::Predictor>(
      "aggressive", m::forecast_aggressive::artifact(), device, years);
  print<m::forecast_custom::Trainer, m::forecast_custom::Predictor>(
      "custom", m::forecast_custom::artifact(), device, years);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
