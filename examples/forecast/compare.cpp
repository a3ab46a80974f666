// SPDX-License-Identifier: Apache-2.0
// One forecaster in f32, f16 and bf16, from equal weights: how good, how often a step overflowed,
// how fast at batches of 32 to 256, and how large; then what rounding, scaling and looking for
// overflow cost by themselves.
//   forecast_compare [--seconds N] [FILE.csv]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <forecast_bf16_model.hpp>
#include <forecast_f16_model.hpp>
#include <forecast_f32_model.hpp>
#include <halftone/cast_check.hpp>
#include <halftone/fit.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kBatches[] = {32, 64, 128, 256};
constexpr std::int64_t kPast = 22, kTrainingYears = 220, kEpochs = 200;

struct Arguments {
  std::string file = SUNSPOTS_CSV;
  double seconds = 0.5;  ///< that each contender is measured for
};

/// The model's two inputs: the 22 years before, and the next.
halftone::Dataset windows(const std::string& file) {
  return halftone::Dataset::csv(
             file, {{.input = "sunspots", .columns = {"SUNACTIVITY"}, .convert = {.scale = 0.01f}}})
      .windows({"sunspots", "past", "next", kPast});
}

struct Outcome {
  double error = 0.0;      ///< mean squared error of the years from 1942 on, in (100 spots)^2
  double overflows = 0.0;  ///< share of steps that were skipped
  float loss_scale = 1.0f;
  std::int64_t bytes = 0;
};

template <class Trainer, class Predictor>
Outcome train(const halftone::Device& device, const halftone::Dataset& years) {
  halftone::Loader training(years.slice(0, kTrainingYears), {.batch = 32, .seed = 1});
  halftone::Loader later(years.slice(kTrainingYears, years.rows() - kTrainingYears),
                         {.batch = 32, .shuffle = false});
  Trainer trainer(device, {.batch = 32, .seed = 1});
  Predictor predictor(device, {.batch = 32});
  const auto result =
      halftone::fit(trainer, training,
                    {.epochs = kEpochs, .validation = halftone::Validation{&predictor, &later}});
  const halftone::Statistics stats = trainer.stats();
  return {result.metrics[0].value,
          static_cast<double>(stats.skipped_steps) / static_cast<double>(stats.steps),
          stats.loss_scale, stats.peak_bytes_measured};
}

/// Milliseconds of a step of `batch` rows, the least of the means of turns.
template <class Trainer>
class Steps {
 public:
  Steps(const halftone::Device& device, const halftone::Dataset& years, std::int64_t batch)
      : trainer_(device, {.batch = batch, .seed = 1}),
        loader_(years.slice(0, std::min<std::int64_t>(batch, years.rows())), {.batch = batch}),
        batch_(*loader_.next()) {}

  void turn(double seconds) {
    halftone::Trainer& trainer = trainer_;
    std::int64_t steps = 0;
    const auto start = Clock::now();
    std::chrono::duration<double> passed{};
    do {
      for (int i = 0; i < 64; ++i, ++steps) trainer.step(batch_.inputs);
      trainer.wait();
      passed = Clock::now() - start;
    } while (passed.count() < seconds);
    best_ = std::min(best_, 1e3 * passed.count() / static_cast<double>(steps));
  }
  [[nodiscard]] double milliseconds() const { return best_; }

 private:
  Trainer trainer_;
  halftone::Loader loader_;
  halftone::Batch batch_;
  double best_ = HUGE_VAL;
};

void print_outcome(const char* rules, const Outcome& outcome, const Outcome& f32) {
  std::printf("%-5s  %.4f  %+.1f %%  %.2f %%  %10.0f  %8lld\n", rules, outcome.error,
              100 * (outcome.error / f32.error - 1), 100 * outcome.overflows,
              static_cast<double>(outcome.loss_scale), static_cast<long long>(outcome.bytes));
}

void compare_steps(const halftone::Device& device, const halftone::Dataset& years, double seconds) {
  std::printf("\nbatch  ms/step f32, f16, bf16; f32 over f16, f32 over bf16\n");
  for (const std::int64_t batch : kBatches) {
    Steps<models::forecast_f32::Trainer> f32(device, years, batch);
    Steps<models::forecast_f16::Trainer> f16(device, years, batch);
    Steps<models::forecast_bf16::Trainer> bf16(device, years, batch);
    constexpr int kTurns = 5;
    for (int turn = 0; turn < kTurns; ++turn) {
      f32.turn(seconds / kTurns);
      f16.turn(seconds / kTurns);
      bf16.turn(seconds / kTurns);
    }
    std::printf("%5lld  %.4f, %.4f, %.4f; %.2f, %.2f\n", static_cast<long long>(batch),
                f32.milliseconds(), f16.milliseconds(), bf16.milliseconds(),
                f32.milliseconds() / f16.milliseconds(), f32.milliseconds() / bf16.milliseconds());
  }
}

/// The check of a tensor before it is rounded, as training code calls it.
void check_tensors(double seconds) {
  std::vector<float> values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(1.0f + static_cast<float>(i % 97) / 97, static_cast<int>(i % 60) - 40);
  std::int64_t rounds = 0;
  halftone::CastCheck check;
  const auto start = Clock::now();
  std::chrono::duration<double> passed{};
  for (; passed.count() < seconds; ++rounds) {
    check = halftone::check_cast(values, halftone::encoding::Element::f16);
    passed = Clock::now() - start;
  }
  std::printf(
      "\ncheck_cast of %zu values to f16: %lld would overflow, %lld vanish, %lld lose digits; "
      "%.0f million values a second\n",
      values.size(), static_cast<long long>(check.overflows),
      static_cast<long long>(check.underflows), static_cast<long long>(check.subnormals),
      static_cast<double>(rounds) * static_cast<double>(values.size()) / passed.count() / 1e6);
}

void run(const Arguments& arguments) {
  const halftone::Dataset years = windows(arguments.file);
  const auto device = halftone::Device::best(models::forecast_f32::artifact());
  std::printf("%s\n%lld years to learn from, %lld to forecast, %lld epochs\n\n",
              device.description().c_str(), static_cast<long long>(kTrainingYears),
              static_cast<long long>(years.rows() - kTrainingYears),
              static_cast<long long>(kEpochs));
  namespace m = models;
  std::printf("rules  error  to f32  overflows  loss scale  peak bytes\n");
  const Outcome f32 = train<m::forecast_f32::Trainer, m::forecast_f32::Predictor>(device, years);
  print_outcome("f32", f32, f32);
  print_outcome("f16", train<m::forecast_f16::Trainer, m::forecast_f16::Predictor>(device, years),
                f32);
  print_outcome("bf16",
                train<m::forecast_bf16::Trainer, m::forecast_bf16::Predictor>(device, years), f32);
  compare_steps(device, years, arguments.seconds);
  check_tensors(arguments.seconds);
}

}  // namespace

int main(int count, char** values) try {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(values[i]) == "--seconds" && i + 1 < count)
      arguments.seconds = std::atof(values[++i]);
    else
      arguments.file = values[i];
  }
  run(arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
