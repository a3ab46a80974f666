// SPDX-License-Identifier: Apache-2.0
// A small video diffusion model: learns to see noise in a folder of clips, makes clips out of
// noise, and cleans noised ones.
//   diffusion train FOLDER [--rules bf16] [--steps 2000]
//   diffusion sample FOLDER [--clips 8] [--seed 1]
//   diffusion restore FOLDER [--level 400]
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>

#include "noise.hpp"
#include "pictures.hpp"
#include "sampling.hpp"
#include "training.hpp"

namespace {

struct Arguments {
  std::filesystem::path folder, picture;
  std::string rules = "by device";
  Plan plan;
  Sampling sampling;
  InFlight in_flight;
  std::int64_t level = 400;

  /// In the folder, one for each rule set.
  [[nodiscard]] std::filesystem::path file(const std::string& ending) const {
    return folder / ("diffusion_" + rules + ending);
  }
  [[nodiscard]] std::filesystem::path weights() const { return file(".weights.safetensors"); }
  [[nodiscard]] std::filesystem::path picture_or(const char* ending) const {
    return picture.empty() ? file(ending) : picture;
  }
};

void run_training(const Arguments& arguments, const halftone::Device& device) {
  Plan plan = arguments.plan;
  plan.training = arguments.folder / "training.npy";
  plan.held_out = arguments.folder / "held_out.npy";
  plan.checkpoint = arguments.file(".safetensors");
  plan.weights = arguments.weights();
  plan.pictures = arguments.folder / "pictures";
  plan.log = arguments.file(".jsonl");
  std::printf("%s\n", device.description().c_str());
  const Run run = train(rule_set(arguments.rules), device, plan);
  const auto steps = run.statistics.steps - run.first_step;
  if (run.first_step > 0)
    std::printf("went on from step %lld of %s\n", static_cast<long long>(run.first_step),
                plan.checkpoint.c_str());
  if (run.fell_back_at >= 0)
    std::printf("fell back from %s to %s at step %lld\n", arguments.rules.c_str(),
                run.rules.c_str(), static_cast<long long>(run.fell_back_at));
  if (steps > 0)
    std::printf("%s, %lld steps of %lld clips, %.2f steps a second, %lld of all skipped\n",
                run.rules.c_str(), static_cast<long long>(steps),
                static_cast<long long>(plan.batch), static_cast<double>(steps) / run.seconds,
                static_cast<long long>(run.statistics.skipped_steps));
  std::printf("held-out loss %.4f; samples of every look: %s\n", run.held_out_loss,
              plan.pictures.c_str());
}

void make_samples(const Arguments& arguments, const halftone::Device& device) {
  const std::vector<float> clips = sample(rule_set(arguments.rules), device, arguments.weights(),
                                          arguments.in_flight, arguments.sampling);
  write_strips(arguments.picture_or("_samples.png"), clips);
  std::printf("%s: %lld clips\n", arguments.picture_or("_samples.png").c_str(),
              static_cast<long long>(arguments.in_flight.clips));
}

/// In decibels, of colours from -1 to 1.
double signal_to_noise(std::span<const float> clips, std::span<const float> changed) {
  double sum = 0.0;
  for (std::size_t i = 0; i < clips.size(); ++i)
    sum += (clips[i] - changed[i]) * (clips[i] - changed[i]);
  return 10 * std::log10(4 * static_cast<double>(clips.size()) / sum);
}

/// Three rows of each of four clips: as it is, with noise, and without it again.
void clean(const Arguments& arguments, const halftone::Device& device) {
  constexpr std::int64_t kClips = 4;
  halftone::Loader loader(clips_of(arguments.folder / "held_out.npy"),
                          {.batch = kClips, .seed = arguments.sampling.seed});
  const auto batch = loader.next();
  const auto clips = std::get<std::span<const float>>(batch->inputs[0].values);
  std::vector<float> noised(clips.size());
  halftone::RowDraws draws(arguments.sampling.seed, 0, 0);
  draw_noise(draws, noised);
  const Shares shares = shares_at(arguments.level);
  for (std::size_t i = 0; i < clips.size(); ++i)
    noised[i] = shares.clip * clips[i] + shares.noise * noised[i];
  halftone::Predictor predictor = predictor_of(rule_set(arguments.rules), device, kClips);
  predictor.load_weights(arguments.weights());
  std::vector<float> restored = noised, rows;
  restore(predictor, restored, arguments.level);
  for (std::size_t i = 0; i < clips.size(); i += kClip)
    for (const std::span<const float> of :
         {clips, std::span<const float>(noised), std::span<const float>(restored)})
      rows.insert(rows.end(), &of[i], &of[i] + kClip);
  write_strips(arguments.picture_or("_restored.png"), rows);
  std::printf("%s: with noise %.1f dB, without it %.1f dB\n",
              arguments.picture_or("_restored.png").c_str(), signal_to_noise(clips, noised),
              signal_to_noise(clips, restored));
}

void add_shared(CLI::App& command, Arguments& arguments) {
  command.add_option("FOLDER", arguments.folder, "With what make_clips made")->required();
  command.add_option("--rules", arguments.rules, "Of precision: f32, bf16 or f16")
      ->capture_default_str();
}

void add_training(CLI::App& command, Arguments& arguments) {
  Plan& plan = arguments.plan;
  command.add_option("--steps", plan.steps, "Up to which, those of a checkpoint included")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--batch", plan.batch, "Clips of a step")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--look-every", plan.look_every, "Steps between looks at clips held out")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--seed", plan.seed, "Of first weights, order and noise")
      ->capture_default_str();
  command.add_option("--from", plan.first_weights, "A file of weights to begin with");
}

void add_looking(CLI::App& command, Arguments& arguments) {
  command.add_option("--seed", arguments.sampling.seed, "Of the noise")->capture_default_str();
  command.add_option("--out", arguments.picture, "The picture, instead of one in FOLDER");
}

void add_sampling(CLI::App& command, Arguments& arguments) {
  InFlight& in_flight = arguments.in_flight;
  command.add_option("--clips", in_flight.clips, "To make")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--batch", in_flight.batch, "Clips that a predictor makes together")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--in-flight", in_flight.predictors, "Predictors that work at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--steps", arguments.sampling.steps, "Predictions for a clip")
      ->check(CLI::Range(1, kLevels))
      ->capture_default_str();
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Trains a small video diffusion model, and makes clips with it");
  app.require_subcommand(1);
  CLI::App* training = app.add_subcommand("train", "Learn from FOLDER/training.npy");
  CLI::App* sampling = app.add_subcommand("sample", "Make clips out of noise");
  CLI::App* restoring = app.add_subcommand("restore", "Take noise out of FOLDER/held_out.npy");
  for (CLI::App* command : {training, sampling, restoring}) add_shared(*command, arguments);
  for (CLI::App* command : {sampling, restoring}) add_looking(*command, arguments);
  add_training(*training, arguments);
  add_sampling(*sampling, arguments);
  restoring->add_option("--level", arguments.level, "Of noise, of 1000")
      ->check(CLI::Range(0, kLevels - 1))
      ->capture_default_str();
  CLI11_PARSE(app, count, values);
  try {
    const auto device = halftone::Device::best(rule_sets().front().artifact);
    if (arguments.rules == "by device") arguments.rules = rule_set_for(device).name;
    if (*training)
      run_training(arguments, device);
    else if (*sampling)
      make_samples(arguments, device);
    else
      clean(arguments, device);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
