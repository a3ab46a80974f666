// SPDX-License-Identifier: Apache-2.0
// Rows for planted.halftone that a small network tells apart: the class of a point is which of four
// fixed directions it lies along most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "halftone/dataset.hpp"

namespace halftone::tests {

struct PlantedRows {
  std::vector<float> x;
  std::vector<std::int32_t> classes;
};

inline PlantedRows planted_rows(std::size_t count) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  float directions[4][8];
  for (auto& direction : directions)
    for (float& each : direction) each = normal(random);
  PlantedRows rows;
  for (std::size_t row = 0; row < count; ++row) {
    float point[8];
    for (float& each : point) each = normal(random);
    std::int32_t best = 0;
    float most = -1e9f;
    for (int i = 0; i < 4; ++i) {
      float along = 0.0f;
      for (int j = 0; j < 8; ++j) along += point[j] * directions[i][j];
      if (along > most) most = along, best = i;
    }
    rows.x.insert(rows.x.end(), point, point + 8);
    rows.classes.push_back(best);
  }
  return rows;
}

inline Dataset planted_data(std::size_t count = 2048) {
  PlantedRows rows = planted_rows(count);
  return Dataset::own({{"x", std::move(rows.x)}, {"class", std::move(rows.classes)}}, count);
}

}  // namespace halftone::tests
