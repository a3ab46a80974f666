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

TEST_CASE("decoding on a simulated chip gives the bits of the CPU") {
  for (const LinkedArtifact& row : kOnChips) {
    CAPTURE(std::string(row.name));
    const Artifact artifact = Artifact::linked(*row.image);
    const GeneratorSizes sizes{.sequences = 2, .capacity = 9, .chunk = 4};
    Generator cpu(artifact, Device::cpu(), sizes);
    Generator gpu(artifact, Device::simulated("sm_80"), sizes);
    const auto check = [&](std::span<const float> expected, std::span<const float> logits) {
      CHECK(std::ranges::equal(expected, logits, [](float a, float b) {
        return std::isfinite(a) &&
               std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
      }));
    };
    const std::vector<Tokens> prompts{{3, 1, 4, 1, 5, 9}, {2, 6}};
    check(cpu.prefill(prompts), gpu.prefill(prompts));
    for (const auto& next : {std::vector<std::int32_t>{5, 3}, {Generator::kNone, 8}, {9, 7}}) {
      check(cpu.step(next), gpu.step(next));
    }
  }
}

}  // namespace halftone::tests
