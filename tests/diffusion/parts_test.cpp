// SPDX-License-Identifier: Apache-2.0
// The parts of the example that makes clips: levels of noise, what a batch is given of it, clips
// that do not depend on what is in flight, and rules that fall back.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <halftone/npy.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "noise.hpp"
#include "sampling.hpp"
#include "training.hpp"

namespace {

/// A folder of its own, with two files of `clips` clips each, as make_clips writes them but for
/// i32.
struct Clips {
  explicit Clips(const std::string& name, std::int64_t clips)
      : folder(std::filesystem::temp_directory_path() / ("halftone_diffusion_" + name)) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::vector<std::int32_t> values(static_cast<std::size_t>(clips * kClip));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int32_t>((i / 3 % kSide * 7 + i / 3072 * 5 + i % 3 * 60) % 256);
    const std::array<std::int64_t, 5> shape = {clips, kFrames, kSide, kSide, kColours};
    for (const char* part : {"training.npy", "held_out.npy"})
      halftone::save_npy(folder / part, values, shape);
  }
  ~Clips() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

halftone::Loader loader_of(const Clips& clips, Draws when) {
  return {clips_of(clips.folder / "training.npy"),
          {.batch = 2, .seed = 3, .shuffle = false, .transform = [when](const auto& batch) {
             draw_levels(batch, when);
           }}};
}

std::span<const float> floats(const halftone::Batch& batch, std::string_view name) {
  const auto found = std::ranges::find(batch.inputs, name, &halftone::NamedValues::name);
  return std::get<std::span<const float>>(found->values);
}
std::int32_t level_of(const halftone::Batch& batch, std::size_t i) {
  const auto found = std::ranges::find(batch.inputs, "level", &halftone::NamedValues::name);
  return std::get<std::span<const std::int32_t>>(found->values)[i];
}

/// First weights, one of them times a factor, and a head that says something.
void write_weights(const std::filesystem::path& file, float stem) {
  halftone::Trainer trainer = trainer_of(rule_set("f32"), halftone::Device::cpu(), 1, 1);
  std::vector<float> values(trainer.parameter("stem.weight").begin(),
                            trainer.parameter("stem.weight").end());
  for (float& value : values) value *= stem;
  trainer.set_parameter("stem.weight", values);
  values.resize(trainer.parameter("head.weight").size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.1f * static_cast<float>(i % 7) - 0.3f;
  trainer.set_parameter("head.weight", values);
  trainer.save_weights(file);
}

}  // namespace

TEST_CASE("f16 is chosen for the chip whose tensor cores have nothing else of 16 bits, else bf16") {
  CHECK(rule_set_for(halftone::Device::simulated("sm_75")).name == "f16");
  for (const char* chip : {"sm_80", "sm_90a", "sm_120a"})
    CHECK(rule_set_for(halftone::Device::simulated(chip)).name == "bf16");
  CHECK(rule_set_for(halftone::Device::cpu()).name == "bf16");
}

TEST_CASE("levels of noise follow the cosine, and keep the variance") {
  const auto wave = [](double time) {
    return std::pow(std::cos((time + 0.008) / 1.008 * std::numbers::pi / 2), 2);
  };
  for (std::int64_t level = 0; level < kLevels; ++level) {
    const Shares shares = shares_at(level);
    CHECK(shares.clip * shares.clip + shares.noise * shares.noise == doctest::Approx(1));
    CHECK(shares.noise > 0);
    // The last step would leave nothing of the clip; a thousandth of what was is kept.
    if (level + 1 < kLevels)
      CHECK(shares.clip * shares.clip ==
            doctest::Approx(wave((level + 1) / 1000.0) / wave(0)).epsilon(1e-5));
    else
      CHECK(shares.clip == doctest::Approx(shares_at(level - 1).clip * std::sqrt(1e-3)));
  }
}

TEST_CASE("noise is normally distributed and depends on its seed alone") {
  std::vector<float> noise(100'001), again(noise.size());
  halftone::RowDraws draws(5, 0, 7), same(5, 0, 7);
  draw_noise(draws, noise);
  draw_noise(same, again);
  CHECK(noise == again);
  const double count = static_cast<double>(noise.size());
  double powers[5] = {};
  for (const double x : noise)
    for (int power = 1; power < 5; ++power) powers[power] += std::pow(x, power) / count;
  // Five standard deviations of each mean: of x^p it is sqrt(E x^2p - (E x^p)^2) / sqrt(count).
  const double error = 5 / std::sqrt(count);
  CHECK(std::abs(powers[1]) < error);
  CHECK(std::abs(powers[2] - 1) < error * std::sqrt(2));
  CHECK(std::abs(powers[3]) < error * std::sqrt(15));
  CHECK(std::abs(powers[4] - 3) < error * std::sqrt(96));
}

TEST_CASE("a batch has clips with the noise that it says, drawn once or in every epoch") {
  const Clips clips("draws", 2);
  for (const Draws when : {Draws::once, Draws::every_epoch}) {
    halftone::Loader loader = loader_of(clips, when);
    halftone::Loader plain(clips_of(clips.folder / "training.npy"), {.batch = 2, .shuffle = false});
    const auto clean = plain.next();
    std::vector<std::vector<float>> epochs;
    for (int epoch = 0; epoch < 2; ++epoch) {
      const auto batch = loader.next();
      const auto noised = floats(*batch, "noised"), noise = floats(*batch, "noise");
      float worst = 0;
      for (std::size_t i = 0; i < noised.size(); ++i) {
        const Shares shares = shares_at(level_of(*batch, i / kClip));
        const float sum = shares.clip * floats(*clean, "noised")[i] + shares.noise * noise[i];
        worst = std::max(worst, std::abs(sum - noised[i]));
      }
      CHECK(worst == 0);
      epochs.emplace_back(noise.begin(), noise.end());
      CHECK_FALSE(loader.next());
    }
    CHECK((epochs[0] == epochs[1]) == (when == Draws::once));
  }
}

TEST_CASE("clips do not depend on how many are made together or at once") {
  const Clips clips("samples", 1);
  const auto weights = clips.folder / "weights.safetensors";
  write_weights(weights, 1);
  const auto made = [&](const InFlight& in_flight) {
    return sample(rule_set("f32"), halftone::Device::cpu(), weights, in_flight,
                  {.steps = 3, .seed = 9});
  };
  const std::vector<float> expected = made({.clips = 3, .batch = 3, .predictors = 1});
  CHECK(expected == made({.clips = 3, .batch = 1, .predictors = 3}));
  CHECK(expected == made({.clips = 3, .batch = 2, .predictors = 2}));
  CHECK(std::ranges::all_of(expected, [](float x) { return std::abs(x) <= 1; }));
  const auto first = expected.begin(), second = first + kClip;
  CHECK_FALSE(std::equal(first, second, second));
}

TEST_CASE("a clip is restored from the noise that the model finds") {
  halftone::Predictor predictor = predictor_of(rule_set("f32"), halftone::Device::cpu(), 1);
  // A new U-Net leaves 0, so that the guess is the noise's share of what there is.
  std::vector<float> clip(kClip, 0.25f);
  restore(predictor, clip, 500);
  const Shares shares = shares_at(500);
  const float noise = shares.noise * 0.25f;
  CHECK(clip == std::vector<float>(kClip, (0.25f - shares.noise * noise) / shares.clip));
}

TEST_CASE("f16 that fails goes on in bf16, logs it, and goes on so from its checkpoint") {
  const Clips clips("fallback", 2);
  Plan plan{.training = clips.folder / "training.npy",
            .held_out = clips.folder / "held_out.npy",
            .batch = 1,
            .steps = kFailed + 3,
            .look_every = 100,
            .first_weights = clips.folder / "weights.safetensors",
            .checkpoint = clips.folder / "run.safetensors",
            .log = clips.folder / "run.jsonl",
            .progress = false};
  write_weights(plan.first_weights, 1e6f);  // what the stem leaves is infinite in f16
  const Run run = train(rule_set("f16"), halftone::Device::cpu(), plan);
  CHECK(run.rules == "bf16");
  CHECK(run.fell_back_at == kFailed);
  CHECK(run.statistics.skipped_steps == kFailed);
  CHECK(run.statistics.steps == kFailed + 3);
  CHECK(std::isfinite(run.held_out_loss));
  std::ifstream log(plan.log);
  int runs = 0, switches = 0;
  for (std::string line; std::getline(log, line);) {
    runs += line.starts_with("{\"kind\":\"run\"");
    if (!line.starts_with("{\"kind\":\"switch\"")) continue;
    ++switches;
    CHECK(line.find("20 of 20 steps were skipped") != std::string::npos);
  }
  CHECK(runs == 1);
  CHECK(switches == 1);

  plan.steps += 2;
  const Run later = train(rule_set("f16"), halftone::Device::cpu(), plan);
  CHECK(later.rules == "bf16");
  CHECK(later.first_step == kFailed + 3);
  CHECK(later.statistics.skipped_steps == kFailed);

  RuleSet alone = rule_set("f16");
  alone.stages.clear();
  plan.checkpoint.clear();
  CHECK_THROWS_WITH((void)train(alone, halftone::Device::cpu(), plan),
                    doctest::Contains("f16 failed, since 20 steps in a row were skipped: "));
}
