// SPDX-License-Identifier: Apache-2.0
#include "images.hpp"

#include <array>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace {

constexpr std::uint64_t kSplitSeed = 1;
constexpr float kWhite = 16.0f;
constexpr std::int64_t kFewestImages = 5;  // of which one is held out

/// One line of the file; false when it is not 64 numbers in 0..16 and one in 0..9.
bool parse(const std::string& line, std::array<float, kPixels>& image, std::int32_t& digit) {
  std::istringstream stream(line);
  for (float& pixel : image) {
    char comma = 0;
    if (!(stream >> pixel >> comma) || comma != ',' || pixel < 0 || pixel > kWhite) return false;
    pixel /= kWhite;
  }
  return (stream >> digit) && digit >= 0 && digit <= 9;
}

}  // namespace

void Images::add(std::span<const float> image, std::int32_t digit) {
  pixels.insert(pixels.end(), image.begin(), image.end());
  digits.push_back(digit);
}

void Images::clear() {
  pixels.clear();
  digits.clear();
}

Images read_images(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("digits: " + path + " cannot be read; name the file with --data");
  Images images;
  std::array<float, kPixels> image{};
  std::int32_t digit = 0;
  for (std::string line; std::getline(file, line);) {
    if (!parse(line, image, digit)) {
      throw std::runtime_error("digits: line " + std::to_string(images.count() + 1) + " of " +
                               path + " is not 64 pixels in 0..16 and a digit; restore the file");
    }
    images.add(image, digit);
  }
  if (images.count() < kFewestImages) {
    throw std::runtime_error("digits: " + path + " has " + std::to_string(images.count()) +
                             " images; it needs " + std::to_string(kFewestImages) +
                             " or more, to learn from and to hold out; restore the file");
  }
  return images;
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::mt19937_64& engine) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

Split split(const Images& images) {
  std::mt19937_64 engine(kSplitSeed);
  Split result;
  std::int64_t taken = 0;
  for (const std::int64_t i : shuffled(images.count(), engine)) {
    Images& side = taken++ < images.count() / 5 ? result.held_out : result.training;
    side.add(images.image(i), images.digits[static_cast<std::size_t>(i)]);
  }
  return result;
}

void add_augmented(Images& batch, std::span<const float> image, std::int32_t digit,
                   std::mt19937_64& engine) {
  const std::uint64_t bits = engine();
  const bool moves = bits & 1;
  const int down = moves ? static_cast<int>((bits >> 1) % 3) - 1 : 0;
  const int right = moves ? static_cast<int>((bits >> 33) % 3) - 1 : 0;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const int y = row - down, x = column - right;
      const bool inside = y >= 0 && y < kSide && x >= 0 && x < kSide;
      batch.pixels.push_back(inside ? image[static_cast<std::size_t>(y * kSide + x)] : 0.0f);
    }
  }
  batch.digits.push_back(digit);
}
