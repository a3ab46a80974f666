// SPDX-License-Identifier: Apache-2.0
// Noise: how much of it each level has, and clips from a file with noise of a level that is drawn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <halftone/loader.hpp>
#include <span>

#include "clips.hpp"

/// A noised clip is clip * this + noise * this.
struct Shares {
  float clip = 1, noise = 0;
};

/// The cosine schedule (Nichol and Dhariwal 2021): level 0 is almost all clip, the last one almost
/// all noise.
[[nodiscard]] Shares shares_at(std::int64_t level);

/// Normally distributed numbers.
void draw_noise(halftone::RowDraws& draws, std::span<float> noise);

/// Clips of a file that make_clips wrote, from -1 to 1, as input `noised`, without noise; and the
/// model's other inputs for draw_levels. Throws as Dataset::npy() does.
[[nodiscard]] halftone::Dataset clips_of(const std::filesystem::path& file);

enum class Draws : std::uint8_t {
  every_epoch,  ///< anew
  once          ///< a clip has the same level and noise in every epoch
};
/// Of each clip of a batch draws level and noise, and puts them together: a Loader's transform.
void draw_levels(const halftone::GatheredBatch& batch, Draws when);
