// SPDX-License-Identifier: Apache-2.0
// Times steps of one model whose artifact was made with the program for diagnosis and without it,
// in turn, and fails when a step of the two launches or allocates something else. Then what a
// sample of its values costs, and what a run costs that makes them at their own pace, which fails
// where it takes more than 3 % of the processor's time.
//   diagnosis_cost WITH.so WITHOUT.so
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "halftone/error.hpp"
#include "halftone/trainer.hpp"
#include "halftone/value_statistics.hpp"

namespace {

constexpr std::int64_t kBatch = 32, kPixels = 64;
constexpr int kRounds = 15, kSteps = 200;

class Subject {
 public:
  explicit Subject(const char* path)
      : trainer_(halftone::Artifact::load(path), halftone::Device::cpu().with_threads(1),
                 {.model = "digits_f16",
                  .bindings = std::array{halftone::Binding{"batch", kBatch}},
                  .seed = 1}),
        pixels_(kBatch * kPixels, 0.25f),
        digits_(kBatch, 3) {}

  void run() {
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < kSteps; ++step) {
      trainer_.step(
          std::array{halftone::NamedValues{"pixels", std::span<const float>(pixels_)},
                     halftone::NamedValues{"digit", std::span<const std::int32_t>(digits_)}});
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    best_ = std::min(best_, time.count() / kSteps);
  }

  struct Time {
    double milliseconds = 0.0, of_processor = 0.0;
  };

  /// Of so many steps, with samples where `sampling` makes some.
  Time take(int steps, halftone::ValueSampling* sampling) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    for (int step = 0; step < steps; ++step) {
      trainer_.step(
          std::array{halftone::NamedValues{"pixels", std::span<const float>(pixels_)},
                     halftone::NamedValues{"digit", std::span<const std::int32_t>(digits_)}});
      if (sampling != nullptr && sampling->step(trainer_)) ++samples_;
    }
    const double of_processor = 1000.0 * static_cast<double>(std::clock() - processor);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return {time.count(), of_processor / CLOCKS_PER_SEC};
  }

  [[nodiscard]] int samples() const { return samples_; }
  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] halftone::Trainer& trainer() { return trainer_; }

 private:
  halftone::Trainer trainer_;
  std::vector<float> pixels_;
  std::vector<std::int32_t> digits_;
  double best_ = 1e9;  ///< milliseconds per step
  int samples_ = 0;
};

double milliseconds_of_diagnosis(halftone::Trainer& trainer) {
  const auto start = std::chrono::steady_clock::now();
  (void)trainer.diagnose();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

constexpr double kMostOfSamples = 1.03;

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// What a sample takes in steps, and a run that makes them of one that does not: the middle of
/// rounds in turn. Whether the latter is as little as is said of it; time of the processor alone
/// says that beside other programs.
bool time_samples(Subject& subject) {
  std::vector<double> samples, ratios, of_processor;
  halftone::ValueSampling sampling;
  (void)subject.take(1, &sampling);  // the first sample, which comes at once
  for (int round = 0; round < kRounds; ++round) {
    samples.push_back(1000 * halftone::sample_values(subject.trainer()).seconds);
    const auto plain = subject.take(20 * kSteps, nullptr);
    const auto with = subject.take(20 * kSteps, &sampling);
    ratios.push_back(with.milliseconds / plain.milliseconds);
    of_processor.push_back(with.of_processor / plain.of_processor);
  }
  const double sample = middle_of(samples), share = middle_of(of_processor);
  std::printf(
      "sample_values() %.4f ms, %.1f steps; a run that samples %d times, for 1.5 %% of the time, "
      "takes %.3f times as long, and %.3f times the processor's time\n",
      sample, sample / subject.best(), subject.samples(), middle_of(ratios), share);
  if (share > kMostOfSamples) std::fprintf(stderr, "samples take more than 3 %% of the time\n");
  return share <= kMostOfSamples;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fprintf(stderr, "usage: diagnosis_cost WITH.so WITHOUT.so\n");
    return 2;
  }
  Subject with(arguments[1]), without(arguments[2]);
  for (int round = 0; round < kRounds; ++round) {
    with.run();
    without.run();
  }
  std::printf("a step with diagnosis in the artifact %.4f ms, without %.4f ms, ratio %.3f\n",
              with.best(), without.best(), with.best() / without.best());
  std::printf("diagnose() %.4f ms\n", milliseconds_of_diagnosis(with.trainer()));
  const bool is_cheap = time_samples(with);
  const halftone::Statistics a = with.trainer().stats(), b = without.trainer().stats();
  const bool same =
      a.kernels_per_phase == b.kernels_per_phase && a.peak_bytes_measured == b.peak_bytes_measured;
  if (!same) std::fprintf(stderr, "the steps differ in launches or memory\n");
  return same && is_cheap ? 0 : 1;
} catch (const halftone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
