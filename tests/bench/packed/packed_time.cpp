// SPDX-License-Identifier: Apache-2.0
// What it gains to pack right operands before the tasks that read them (decisions/0052):
//   packed_time ROUNDS THREADS ROWS ARTIFACT.so...
// Predictions, and steps of models with a loss, of so many rows, with Packed::never and
// Packed::automatic in turns; of each the least time that the first takes, how much faster the
// other's least is, and the same of each round: the median and the quartiles.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <halftone/predictor.hpp>
#include <halftone/trainer.hpp>
#include <string>
#include <vector>

#include "halftone/manifest/plan.hpp"

namespace {

using halftone::Packed;

/// Of the processor where it is one thread's, so that others disturb less; otherwise of the clock.
double seconds(int threads) {
  using Clock = std::chrono::steady_clock;
  if (threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double seconds_of(const std::function<void()>& action, int times, int threads) {
  const double began = seconds(threads);
  for (int i = 0; i < times; ++i) action();
  return (seconds(threads) - began) / times;
}

/// Values of all f32 inputs that a program has.
class Inputs {
 public:
  Inputs(const halftone::Artifact& artifact, const char* program, std::int64_t rows) {
    const auto& manifest = artifact.manifest();
    const auto found =
        std::ranges::find(manifest.programs, program, &halftone::manifest::Program::name);
    const std::vector<std::int64_t> sizes(manifest.symbols.size(), rows);
    for (const auto& buffer : found->buffers) {
      if (buffer.role != halftone::manifest::Role::input) continue;
      names_.push_back(buffer.name);
      std::vector<float>& values = values_.emplace_back(
          static_cast<std::size_t>(halftone::manifest::elements(buffer.shape, sizes)));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 37 % 101) / 101 - 0.5f;
    }
    for (std::size_t i = 0; i < names_.size(); ++i)
      named_.push_back({names_[i], std::span<const float>(values_[i])});
  }
  [[nodiscard]] const std::vector<halftone::NamedValues>& named() const { return named_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<float>> values_;
  std::vector<halftone::NamedValues> named_;
};

void compare(const std::string& what, int rounds, int threads, const std::function<void()>& own,
             const std::function<void()>& packed) {
  constexpr double kLeastSeconds = 0.02;
  own();
  packed();
  const double once = std::max(seconds_of(own, 1, threads), 1e-7);
  const int times = std::max(1, static_cast<int>(kLeastSeconds / once));
  std::vector<double> taken, gains, others;
  for (int round = 0; round < rounds; ++round) {
    double a = 0, b = 0;
    if (round % 2 == 0) a = seconds_of(own, times, threads);
    b = seconds_of(packed, times, threads);
    if (round % 2 != 0) a = seconds_of(own, times, threads);
    taken.push_back(a);
    others.push_back(b);
    gains.push_back(a / b);
  }
  std::ranges::sort(gains);
  const double least = std::ranges::min(taken);
  const std::size_t middle = gains.size() / 2, quarter = gains.size() / 4;
  std::printf("| %s | %.3f ms | %.2f | %.2f (%.2f to %.2f) |\n", what.c_str(), 1e3 * least,
              least / std::ranges::min(others), gains[middle], gains[quarter],
              gains[gains.size() - 1 - quarter]);
  std::fflush(stdout);
}

void measure(const std::string& file, int rounds, int threads, std::int64_t rows) {
  const auto artifact = halftone::Artifact::load(file);
  const halftone::Binding sizes[] = {{"batch", rows}};
  const halftone::Setup setup{"", sizes, 1};
  const auto device = [&](Packed packed) {
    return halftone::Device::cpu().with_threads(threads).with_packed(packed);
  };
  const std::string where = std::filesystem::path(file).stem().string() + ", " +
                            std::to_string(rows) + " rows, " + std::to_string(threads) +
                            (threads == 1 ? " thread, " : " threads, ");
  {
    const Inputs inputs(artifact, "inference", rows);
    halftone::Predictor own(artifact, device(Packed::never), setup),
        packed(artifact, device(Packed::automatic), setup);
    const bool has_losses = !own.loss_names().empty();
    const auto run = [&](halftone::Predictor& predictor) {
      if (has_losses)
        predictor.evaluate(inputs.named());
      else
        predictor.predict(inputs.named());
    };
    compare(
        where + "prediction", rounds, threads, [&] { run(own); }, [&] { run(packed); });
    if (!has_losses) return;
  }
  const Inputs inputs(artifact, "training", rows);
  halftone::Trainer own(artifact, device(Packed::never), setup),
      packed(artifact, device(Packed::automatic), setup);
  compare(
      where + "step", rounds, threads, [&] { own.step(inputs.named()); },
      [&] { packed.step(inputs.named()); });
}

}  // namespace

int main(int count, char** values) {
  try {
    if (count < 5) {
      std::fprintf(stderr, "packed_time: give rounds, threads, rows and artifacts\n");
      return 2;
    }
    for (int i = 4; i < count; ++i)
      measure(values[i], std::atoi(values[1]), std::atoi(values[2]), std::atoll(values[3]));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
