// SPDX-License-Identifier: Apache-2.0
// P88 and P89 on simulated chips: by tensor cores, by warp groups and without them, products of
// codes whose sums are exact in any order have the bits of their factors' products.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifacts.hpp"
#include "halftone/predictor.hpp"
#include "linked_artifact.hpp"
#include "simulation.hpp"

namespace halftone::tests {
namespace {

constexpr std::size_t kRows = 19, kColumns = 1024;
constexpr std::size_t kWhole = 256, kVectors = 128;  // channels

/// Codes that f8e4m3 has: whole numbers up to 8, and 448 at the begin of each row.
std::vector<float> codes_of(std::size_t rows, std::size_t salt) {
  std::vector<float> codes(rows * kColumns);
  for (std::size_t e = 0; e < codes.size(); ++e) {
    const std::size_t row = e / kColumns, column = e % kColumns;
    codes[e] =
        static_cast<float>(static_cast<int>((e * 7 + salt * row + column * column) % 17) - 8);
    if (column == 0) codes[e] = row % 2 == 0 ? 448.0f : -448.0f;
  }
  return codes;
}

/// Of few digits, so that its products with codes are exact; their quotients are not.
float factor_of(std::size_t row) { return 0x1.77p-3f * static_cast<float>(2 * row + 1); }

std::vector<float> times(std::vector<float> codes, float factor) {
  for (float& code : codes) code *= factor;
  return codes;
}

std::vector<float> times_own(std::vector<float> codes) {
  for (std::size_t e = 0; e < codes.size(); ++e) codes[e] *= factor_of(e / kColumns);
  return codes;
}

/// P87, of what has this largest magnitude.
float multiplier_of(float amax) { return 448 / amax; }

std::size_t count_plans(const Artifact& artifact, const char* chip, std::string_view word) {
  const manifest::CudaTarget* target = manifest::find_cuda(artifact.manifest(), chip);
  return static_cast<std::size_t>(
      std::ranges::count_if(target->kernels, [&](const manifest::CudaKernel& kernel) {
        return !kernel.plans.empty() && kernel.plans[0].name.find(word) != std::string::npos;
      }));
}

}  // namespace

TEST_CASE("sums of codes are multiplied by the product of their factors on every chip") {
  const Artifact artifact = Artifact::linked(*kFactored[0].image);
  const Binding sizes[] = {{"batch", kRows}};
  const Setup setup{.model = "", .bindings = sizes, .seed = 1};
  constexpr float kOfX = 0x1.9p-30f, kOfWhole = 0x1.35p11f;
  const std::vector<float> x = codes_of(kRows, 3), whole = codes_of(kWhole, 5),
                           vectors = codes_of(kVectors, 11);
  const std::vector<float> for_whole = times(x, kOfX), for_vectors = times_own(x);
  const std::vector<NamedValues> inputs = {{"x", std::span<const float>(for_whole)},
                                           {"z", std::span<const float>(for_vectors)}};
  const auto sum = [&](const std::vector<float>& weight, std::size_t row, std::size_t channel) {
    std::int64_t found = 0;
    for (std::size_t c = 0; c < kColumns; ++c)
      found += static_cast<std::int64_t>(x[row * kColumns + c]) *
               static_cast<std::int64_t>(weight[channel * kColumns + c]);
    return static_cast<float>(found);
  };
  const auto factor = [](float scale) { return 1 / multiplier_of(448 * scale); };
  std::vector<float> expected_whole, expected_vectors;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t channel = 0; channel < kWhole; ++channel)
      expected_whole.push_back(sum(whole, row, channel) * (factor(kOfX) * factor(kOfWhole)) + 1);
    for (std::size_t channel = 0; channel < kVectors; ++channel)
      expected_vectors.push_back(sum(vectors, row, channel) *
                                 (factor(factor_of(row)) * factor(factor_of(channel))));
  }
  const auto check = [&](const Device& device) {
    Predictor predictor(artifact, device, setup);
    predictor.set_parameter("whole.weight", times(whole, kOfWhole));
    predictor.set_parameter("whole.bias", std::vector<float>(kWhole, 1));
    predictor.set_parameter("vectors.weight", times_own(vectors));
    predictor.predict(inputs);
    CHECK(std::ranges::equal(predictor.output("whole"), expected_whole));
    CHECK(std::ranges::equal(predictor.output("vectors"), expected_vectors));
  };
  check(Device::cpu("x86-64-v3"));
  for (const char* chip : {"sm_75", "sm_80", "sm_90a"}) {
    CAPTURE(std::string(chip));
    check(simulated(chip));
  }
  CHECK(count_plans(artifact, "sm_75", "tensor") == 0);
  CHECK(count_plans(artifact, "sm_80", "tensor") == 2);
  CHECK(count_plans(artifact, "sm_90a", "warp groups") > 0);
}

}  // namespace halftone::tests
