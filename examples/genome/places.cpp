// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <cmath>
#include <numbers>

#include "sizes.hpp"

namespace {

double share_of_way(std::int64_t place, std::int64_t n) {
  return static_cast<double>(place) / static_cast<double>(n);
}

}  // namespace

std::vector<float> place_numbers(std::int64_t n) {
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(n * kPlaceNumbers));
  for (std::int64_t place = 0; place < n; ++place) {
    numbers.push_back(static_cast<float>(share_of_way(place, n)));
    for (int length = 3; length <= 192; length *= 4) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(place % length) / length;
      numbers.push_back(static_cast<float>(std::cos(angle)));
      numbers.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return numbers;
}

std::vector<float> windows(std::int64_t n) {
  constexpr double kLeast = 2, kFactor = 64, kEverywhere = 0.01;
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(n * kWidth));
  for (std::int64_t place = 0; place < n; ++place)
    for (int channel = 0; channel < kWidth; ++channel) {
      const double rate = kLeast * std::pow(kFactor, channel / double{kWidth - 1});
      values.push_back(static_cast<float>(std::exp(-rate * share_of_way(place, n)) + kEverywhere));
    }
  return values;
}
