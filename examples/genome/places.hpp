// SPDX-License-Identifier: Apache-2.0
// What the filters of hyena.hpp are made of: numbers that say where a place is, and windows.
#pragma once

#include <cstdint>
#include <vector>

/// Of each of n places kPlaceNumbers: its share of the way, then the cosine and the sine of waves
/// of 3, 12, 48 and 192 places. A codon is 3.
[[nodiscard]] std::vector<float> place_numbers(std::int64_t n);

/// Of each of n places a number for each of kWidth channels: what its filter may have there,
/// exp(-rate * share of the way) + 0.01, where rates go from 2 to 128 by equal factors.
[[nodiscard]] std::vector<float> windows(std::int64_t n);

/// Gives them to a trainer or predictor of a model of n places.
void set_places(auto& of, std::int64_t n) {
  of.set_state("place", place_numbers(n));
  of.set_state("window", windows(n));
}
