// SPDX-License-Identifier: Apache-2.0
#include "noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <variant>
#include <vector>

namespace {

/// The share of a clip's variance at each level.
std::array<double, kLevels> variances() {
  constexpr double kOffset = 0.008, kMost = 0.999;  // of what a level takes away
  const auto wave = [](int level) {
    const double angle = (level / double{kLevels} + kOffset) / (1 + kOffset) * std::numbers::pi / 2;
    return std::cos(angle) * std::cos(angle);
  };
  std::array<double, kLevels> left{};
  double product = 1;
  for (int level = 0; level < kLevels; ++level) {
    product *= 1 - std::min(1 - wave(level + 1) / wave(level), kMost);
    left[static_cast<std::size_t>(level)] = product;
  }
  return left;
}

template <class T>
std::span<T> input(const halftone::GatheredBatch& batch, std::string_view name) {
  const auto found = std::ranges::find(batch.inputs, name, &halftone::GatheredBatch::Input::name);
  return std::get<std::span<T>>(found->values);
}

}  // namespace

Shares shares_at(std::int64_t level) {
  static const std::array<double, kLevels> left = variances();
  const double clip = left.at(static_cast<std::size_t>(level));
  return {static_cast<float>(std::sqrt(clip)), static_cast<float>(std::sqrt(1 - clip))};
}

void draw_noise(halftone::RowDraws& draws, std::span<float> noise) {
  for (std::size_t i = 0; i < noise.size(); i += 2) {  // Box and Muller 1958
    const float radius = std::sqrt(-2 * std::log(1 - draws.uniform()));
    const float angle = 2 * std::numbers::pi_v<float> * draws.uniform();
    noise[i] = radius * std::cos(angle);
    if (i + 1 < noise.size()) noise[i + 1] = radius * std::sin(angle);
  }
}

halftone::Dataset clips_of(const std::filesystem::path& file) {
  const halftone::Conversion from_bytes{.scale = 2 / 255.0f, .offset = -1};
  const auto clips =
      halftone::Dataset::npy({{"noised", file, from_bytes}, {"noise", file, from_bytes}});
  const auto rows = static_cast<std::size_t>(clips.rows());
  const std::vector<float> shares(rows * kColours);
  return clips.joined(halftone::Dataset::own(
      {{"level", std::vector<std::int32_t>(rows)}, {"clip_share", shares}, {"noise_share", shares}},
      clips.rows()));
}

void draw_levels(const halftone::GatheredBatch& batch, Draws when) {
  const auto levels = input<std::int32_t>(batch, "level");
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const std::int64_t epoch = when == Draws::once ? 0 : batch.epoch;
    halftone::RowDraws draws(batch.seed, epoch, batch.rows[i]);
    const std::int64_t level = draws.below(kLevels);
    const std::span<float> noised = batch.row("noised", i), noise = batch.row("noise", i);
    draw_noise(draws, noise);
    const Shares shares = shares_at(level);
    for (std::size_t j = 0; j < noised.size(); ++j)
      noised[j] = shares.clip * noised[j] + shares.noise * noise[j];
    levels[i] = static_cast<std::int32_t>(level);
    std::ranges::fill(batch.row("clip_share", i), shares.clip);
    std::ranges::fill(batch.row("noise_share", i), shares.noise);
  }
}
