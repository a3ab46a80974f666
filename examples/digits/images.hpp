// SPDX-License-Identifier: Apache-2.0
// The handwritten digits: reading, splitting, batches.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

inline constexpr int kSide = 8;
inline constexpr int kPixels = kSide * kSide;

/// Images and their digits; image i has pixels [i * kPixels, (i + 1) * kPixels), in 0..1.
struct Images {
  std::vector<float> pixels;
  std::vector<std::int32_t> digits;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(digits.size()); }
  [[nodiscard]] std::span<const float> image(std::int64_t i) const {
    return std::span(pixels).subspan(static_cast<std::size_t>(i * kPixels), kPixels);
  }
  void add(std::span<const float> image, std::int32_t digit);
  void clear();
};

/// Reads lines of 64 pixels in 0..16 and a digit. Throws std::runtime_error, naming the line, when
/// it is not so.
[[nodiscard]] Images read_images(const std::string& path);

struct Split {
  Images training;
  Images held_out;
};

/// A fifth of the images is held out, always the same.
[[nodiscard]] Split split(const Images& images);

/// 0 .. count-1 in an order that depends on the engine's state alone, not on the standard library.
[[nodiscard]] std::vector<std::int64_t> shuffled(std::int64_t count, std::mt19937_64& engine);

/// Copies `image` to the end of `batch`, half of the time moved by up to one pixel: more
/// handwriting to learn from.
void add_augmented(Images& batch, std::span<const float> image, std::int32_t digit,
                   std::mt19937_64& engine);
