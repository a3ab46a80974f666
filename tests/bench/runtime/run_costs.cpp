// SPDX-License-Identifier: Apache-2.0
// What a schedule, averages and a log cost a step on the CPU: the digits network, batch 64, one
// thread, in turns. Prints medians of ratios to the plain step of the same round.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "halftone/run_sinks.hpp"
#include "halftone/trainer.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_digits;
extern "C" const halftone::manifest::ArtifactImage halftone_artifact_digits_scheduled;
extern "C" const halftone::manifest::ArtifactImage halftone_artifact_digits_averaged;

namespace {

constexpr std::int64_t kBatch = 64;
constexpr int kRounds = 41, kSteps = 100;

class Contender {
 public:
  Contender(const char* what, const halftone::manifest::ArtifactImage& image, int every = 0)
      : what_(what), trainer_(make(image)), log_(trainer_, {.every = std::max(every, 1)}) {
    if (every == 0) return;
    file_ =
        std::filesystem::temp_directory_path() / ("run_costs." + std::to_string(every) + ".jsonl");
    log_.add(halftone::json_lines(file_, halftone::IfExists::replace));
    is_logged_ = true;
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender() {
    if (is_logged_) std::filesystem::remove(file_);
  }

  /// Microseconds a step.
  double run() {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kSteps; ++i) {
      trainer_.step(inputs_);
      if (is_logged_) log_.step(trainer_);
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    return time.count() / kSteps;
  }
  [[nodiscard]] const char* what() const { return what_; }

 private:
  static halftone::Trainer make(const halftone::manifest::ArtifactImage& image) {
    const std::array bindings = {halftone::Binding{"batch", kBatch}};
    return {halftone::Artifact::linked(image),
            halftone::Device::cpu().with_threads(1),
            {.model = "", .bindings = bindings, .seed = 1}};
  }

  const char* what_;
  halftone::Trainer trainer_;
  halftone::RunLog log_;
  std::filesystem::path file_;
  bool is_logged_ = false;
  std::vector<float> pixels_ = std::vector<float>(64 * kBatch, 0.5f);
  std::vector<std::int32_t> digits_ = std::vector<std::int32_t>(kBatch, 3);
  std::array<halftone::NamedValues, 2> inputs_ = {
      halftone::NamedValues{"pixels", std::span<const float>(pixels_)},
      halftone::NamedValues{"digit", std::span<const std::int32_t>(digits_)}};
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

}  // namespace

int main() try {
  Contender plain("plain", halftone_artifact_digits);
  Contender again("plain, once more", halftone_artifact_digits);
  Contender scheduled("warm-up and fall", halftone_artifact_digits_scheduled);
  Contender averaged("the same and averages", halftone_artifact_digits_averaged);
  Contender tenth("plain, JSON lines of every tenth", halftone_artifact_digits, 10);
  Contender each("plain, JSON lines of every step", halftone_artifact_digits, 1);
  const std::array contenders = {&plain, &again, &scheduled, &averaged, &tenth, &each};
  std::vector<std::vector<double>> ratios(contenders.size());
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const double base = contenders[0]->run();
    times.push_back(base);
    for (std::size_t i = 1; i < contenders.size(); ++i)
      ratios[i].push_back(contenders[i]->run() / base);
  }
  std::printf("%-36s %7.1f us a step, median of %d rounds\n", plain.what(), median(times), kRounds);
  for (std::size_t i = 1; i < contenders.size(); ++i)
    std::printf("%-36s %7.3f times that\n", contenders[i]->what(), median(ratios[i]));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
