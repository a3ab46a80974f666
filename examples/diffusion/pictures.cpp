// SPDX-License-Identifier: Apache-2.0
#include "pictures.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "clips.hpp"

namespace {

constexpr std::size_t kPlace = 3, kGap = 4, kFrame = kSide * kPlace;  // pixels
constexpr std::size_t kWidth = kFrames * (kFrame + kGap) - kGap;

std::uint8_t byte_of(float colour) {
  return static_cast<std::uint8_t>(std::lround(127.5f * (std::clamp(colour, -1.0f, 1.0f) + 1)));
}

/// A line of a frame's places.
void put_line(std::span<const float> places, std::uint8_t* pixels) {
  for (std::size_t x = 0; x < kFrame; ++x)
    for (std::size_t colour = 0; colour < kColours; ++colour)
      *pixels++ = byte_of(places[x / kPlace * kColours + colour]);
}

}  // namespace

void write_strips(const std::filesystem::path& file, std::span<const float> clips) {
  constexpr std::size_t kLine = kSide * kColours;
  const std::size_t rows = clips.size() / kClip, height = rows * (kFrame + kGap) - kGap;
  std::vector<std::uint8_t> pixels(height * kWidth * kColours, 255);
  for (std::size_t i = 0; i < rows * kFrames; ++i)  // frames
    for (std::size_t y = 0; y < kFrame; ++y) {
      const std::size_t top = i / kFrames * (kFrame + kGap), left = i % kFrames * (kFrame + kGap);
      put_line(clips.subspan((i * kSide + y / kPlace) * kLine, kLine),
               &pixels[((top + y) * kWidth + left) * kColours]);
    }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  image.width = static_cast<png_uint_32>(kWidth);
  image.height = static_cast<png_uint_32>(height);
  if (png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error("diffusion: " + file.string() +
                             " cannot be written: " + image.message);
}
