// SPDX-License-Identifier: Apache-2.0
// A simulated GPU gives the CPU's logits, to the bit, from prompts of different lengths on.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "halftone/generator.hpp"

namespace halftone::tests {

namespace {

/// Prompts of two sequences, and three steps of each.
void compare(const LinkedArtifact& row, const GeneratorSizes& sizes,
             const std::vector<Tokens>& prompts) {
  CAPTURE(std::string(row.name));
  const Artifact artifact = Artifact::linked(*row.image);
  Generator cpu(artifact, Device::cpu(), sizes);
  Generator gpu(artifact, Device::simulated("sm_80"), sizes);
  const auto check = [&](std::span<const float> expected, std::span<const float> logits) {
    CHECK(std::ranges::equal(expected, logits, [](float a, float b) {
      return std::isfinite(a) && std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    }));
  };
  check(cpu.prefill(prompts), gpu.prefill(prompts));
  for (const auto& next : {std::vector<std::int32_t>{5, 3}, {Generator::kNone, 8}, {9, 7}}) {
    check(cpu.step(next), gpu.step(next));
  }
}

}  // namespace

TEST_CASE("decoding on a simulated chip gives the bits of the CPU") {
  for (const LinkedArtifact& row : kOnChips) {
    compare(row, {.sequences = 2, .capacity = 9, .chunk = 4}, {{3, 1, 4, 1, 5, 9}, {2, 6}});
  }
}

TEST_CASE("caches grow on a simulated chip as on the CPU") {
  const LinkedArtifact& row = kOnChips[1];
  REQUIRE(std::string(row.name) == "turned");  // learned positions end at 24
  Tokens longer(73);                           // 76 tokens at the end, of 75 rows at first
  for (std::size_t t = 0; t < longer.size(); ++t) longer[t] = static_cast<std::int32_t>(t % 29);
  compare(row, {.sequences = 2, .capacity = 150, .chunk = 40}, {{2, 6}, longer});
}

}  // namespace halftone::tests
