// SPDX-License-Identifier: Apache-2.0
// The model under its rule sets, from equal weights on equal batches: how well it learned, what
// memory it takes, how fast it is.
//   diffusion_compare learn FOLDER [--steps 300]
//   diffusion_compare memory FOLDER
//   diffusion_compare speed FOLDER [--check tests/bench/diffusion/ratios.txt]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <diffusion_bf16_again_model.hpp>
#include <diffusion_f16_again_model.hpp>
#include <diffusion_f16_alone_model.hpp>
#include <diffusion_f32_again_model.hpp>
#include <diffusion_f32_narrow_model.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "noise.hpp"
#include "training.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kFormats[] = {"f32", "f16", "bf16"};

struct Arguments {
  std::filesystem::path folder, check, record;
  Plan plan;
  double seconds = 10;  ///< that each contender is measured for
};

void learn(const Arguments& arguments, const halftone::Device& device) {
  Plan plan = arguments.plan;
  plan.training = arguments.folder / "training.npy";
  plan.held_out = arguments.folder / "held_out.npy";
  plan.look_every = plan.steps;
  std::printf("%lld steps of %lld clips\n\n", static_cast<long long>(plan.steps),
              static_cast<long long>(plan.batch));
  std::printf("rules  training  held out  to f32    skipped  loss scale  steps/s\n");
  double f32 = 0.0;
  for (const char* format : kFormats) {
    plan.log = arguments.folder / ("compare_" + std::string(format) + ".jsonl");
    const Run run = train(rule_set(format), device, plan);
    if (f32 == 0.0) f32 = run.held_out_loss;
    const halftone::Statistics& statistics = run.statistics;
    std::printf("%-5s  %8.4f  %8.4f  %+6.2f %%  %7lld  %10.0f  %7.2f\n", format, run.training_loss,
                run.held_out_loss, 100 * (run.held_out_loss / f32 - 1),
                static_cast<long long>(statistics.skipped_steps),
                static_cast<double>(statistics.loss_scale),
                static_cast<double>(statistics.steps) / run.seconds);
    std::fflush(stdout);
  }
  std::printf("\nhalftone report %s/compare_*.jsonl shows the runs\n", arguments.folder.c_str());
}

/// A trainer with one batch, which it takes again and again.
class Steps {
 public:
  Steps(const RuleSet& rules, const halftone::Device& device, const Arguments& arguments,
        std::int64_t clips)
      : trainer_(trainer_of(rules, device, clips, 1)),
        batches_(clips_of(arguments.folder / "training.npy"),
                 {.batch = clips,
                  .seed = 1,
                  .transform = [](const auto& batch) { draw_levels(batch, Draws::once); }}),
        batch_(*batches_.next()) {}

  void turn(double seconds) {
    const auto start = Clock::now();
    std::chrono::duration<double> passed{};
    std::int64_t steps = 0;
    do {
      trainer_.step(batch_.inputs);
      trainer_.wait();
      ++steps;
      passed = Clock::now() - start;
    } while (passed.count() < seconds);
    best_ = std::min(best_, 1e3 * passed.count() / static_cast<double>(steps));
  }
  /// The least of the means of turns.
  [[nodiscard]] double milliseconds() const { return best_; }
  [[nodiscard]] halftone::Statistics stats() const { return trainer_.stats(); }

 private:
  halftone::Trainer trainer_;
  halftone::Loader batches_;
  halftone::Batch batch_;
  double best_ = HUGE_VAL;
};

void measure_memory(const Arguments& arguments, const halftone::Device& device) {
  std::printf(
      "bytes of %lld clips; \"f16\" has the room to go on in bf16, \"alone\" has not, \"again\" "
      "computes again what is between blocks, \"narrow\" also keeps bf16\n\nrules       training: "
      "planned    measured   to f32  ms/step  "
      "inference: planned    measured\n",
      static_cast<long long>(arguments.plan.batch));
  std::vector<RuleSet> all = rule_sets();
  all.insert(all.end(), {{"f16 alone", models::diffusion_f16_alone::artifact()},
                         {"f32 again", models::diffusion_f32_again::artifact()},
                         {"bf16 again", models::diffusion_bf16_again::artifact()},
                         {"f16 again", models::diffusion_f16_again::artifact()},
                         {"f32 narrow", models::diffusion_f32_narrow::artifact()}});
  double f32 = 0.0;
  for (const RuleSet& rules : all) {
    Steps steps(rules, device, arguments, arguments.plan.batch);
    for (int turn = 0; turn < 3; ++turn) steps.turn(arguments.seconds / 3);
    const halftone::Statistics stats = steps.stats();
    const halftone::Predictor predictor = predictor_of(rules, device, arguments.plan.batch);
    const auto measured = static_cast<double>(stats.peak_bytes_measured);
    if (f32 == 0.0) f32 = measured;
    std::printf("%-10s  %17lld  %10lld  %5.1f %%  %7.0f  %18lld  %10lld\n", rules.name.c_str(),
                static_cast<long long>(stats.peak_bytes_predicted),
                static_cast<long long>(stats.peak_bytes_measured), 100 * measured / f32,
                steps.milliseconds(), static_cast<long long>(predictor.peak_bytes_predicted()),
                static_cast<long long>(predictor.peak_bytes_measured()));
    std::fflush(stdout);
  }
}

/// How many times as fast as f32 a format is.
struct Ratio {
  std::string variant, size, format;
  double value = 0.0;
};

std::istream& operator>>(std::istream& in, Ratio& ratio) {
  return in >> ratio.variant >> ratio.size >> ratio.format >> ratio.value;
}

std::vector<Ratio> measure_speed(const Arguments& arguments, const halftone::Device& device) {
  struct Size {
    const char* name;
    std::int64_t clips;
  };
  constexpr Size kSizes[] = {{"small", 1}, {"medium", 4}, {"heavy", 16}};
  constexpr int kTurns = 5;
  std::vector<Ratio> ratios;
  std::printf("clips of a step  ms/step f32, f16, bf16; f32 over f16, f32 over bf16\n");
  for (const Size& size : kSizes) {
    std::vector<Steps> contenders;
    for (const char* format : kFormats)
      contenders.emplace_back(rule_set(format), device, arguments, size.clips);
    for (int turn = 0; turn < kTurns; ++turn)
      for (Steps& steps : contenders) steps.turn(arguments.seconds / kTurns);
    const double f32 = contenders[0].milliseconds();
    const double f16 = contenders[1].milliseconds(), bf16 = contenders[2].milliseconds();
    std::printf("%-6s %8lld  %.1f, %.1f, %.1f; %.2f, %.2f\n", size.name,
                static_cast<long long>(size.clips), f32, f16, bf16, f32 / f16, f32 / bf16);
    std::fflush(stdout);
    const std::string variant = contenders[0].stats().variant;
    ratios.push_back({variant, size.name, "f16", f32 / f16});
    ratios.push_back({variant, size.name, "bf16", f32 / bf16});
  }
  return ratios;
}

/// Throws where a ratio has fallen below four fifths of what the file has for this code.
void check(const std::vector<Ratio>& ratios, const std::filesystem::path& file) {
  constexpr double kKept = 0.8;
  std::ifstream in(file);
  if (!in) throw std::runtime_error("diffusion_compare: cannot read " + file.string());
  int compared = 0, fallen = 0;
  for (Ratio before; in >> before;)
    for (const Ratio& now : ratios) {
      if (now.variant != before.variant || now.size != before.size || now.format != before.format)
        continue;
      ++compared;
      if (now.value >= kKept * before.value) continue;
      ++fallen;
      std::printf("%s, %s: %.2f times as fast as f32, and was %.2f\n", now.size.c_str(),
                  now.format.c_str(), now.value, before.value);
    }
  if (fallen > 0) throw std::runtime_error("diffusion_compare: steps have become slower");
  if (compared == 0)
    throw std::runtime_error("diffusion_compare: " + file.string() + " has no ratio of " +
                             ratios.front().variant + "; write a file of them with --record");
  std::printf("%d ratios are at least four fifths of those in %s\n", compared, file.c_str());
}

/// Into the file, beside those that it has of other code.
void record(const std::vector<Ratio>& ratios, const std::filesystem::path& file) {
  std::vector<Ratio> all;
  std::ifstream in(file);
  for (Ratio before; in >> before;)
    if (before.variant != ratios.front().variant) all.push_back(before);
  all.insert(all.end(), ratios.begin(), ratios.end());
  std::ofstream out(file);
  out.precision(3);
  for (const Ratio& ratio : all)
    out << ratio.variant << " " << ratio.size << " " << ratio.format << " " << ratio.value << "\n";
}

void compare_speed(const Arguments& arguments, const halftone::Device& device) {
  const std::vector<Ratio> ratios = measure_speed(arguments, device);
  if (!arguments.record.empty()) record(ratios, arguments.record);
  if (!arguments.check.empty()) check(ratios, arguments.check);
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  arguments.plan.steps = 300;
  CLI::App app("Compares the rule sets of a small video diffusion model");
  app.require_subcommand(1);
  CLI::App* learning = app.add_subcommand("learn", "Losses of f32, f16 and bf16");
  CLI::App* memory = app.add_subcommand("memory", "Bytes under all rules");
  CLI::App* speed = app.add_subcommand("speed", "Steps of 1, 4 and 16 clips");
  for (CLI::App* command : {learning, memory, speed})
    command->add_option("FOLDER", arguments.folder, "With what make_clips made")->required();
  learning->add_option("--steps", arguments.plan.steps, "Of each")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  for (CLI::App* command : {learning, memory})
    command->add_option("--batch", arguments.plan.batch, "Clips of a step")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
  for (CLI::App* command : {memory, speed})
    command->add_option("--seconds", arguments.seconds, "For each contender")
        ->capture_default_str();
  speed->add_option("--check", arguments.check,
                    "Fail where a ratio is less than 4/5 of this file's");
  speed->add_option("--record", arguments.record, "Write this code's ratios into this file");
  CLI11_PARSE(app, count, values);
  try {
    const auto device = halftone::Device::best(rule_sets().front().artifact);
    std::printf("%s\n", device.description().c_str());
    if (*learning) learn(arguments, device);
    if (*memory) measure_memory(arguments, device);
    if (*speed) compare_speed(arguments, device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
