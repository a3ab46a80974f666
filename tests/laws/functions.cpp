// SPDX-License-Identifier: Apache-2.0
// Class A for functions of math (N6): on a stride through all floats, which random inputs hardly
// leave [-1, 1] of.
#include <doctest/doctest.h>

#include <bit>
#include <random>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

TEST_CASE("functions of all kinds of numbers give the reference's bits") {
  constexpr std::int64_t kBatch = 301;
  for (const LinkedArtifact& artifact : kFunctionArtifacts)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(variant);
      Pair pair = make_pair(artifact, variant, kBatch);
      std::mt19937 random(1);
      std::uint32_t pattern = 0;
      for (int pass = 0; pass < 40; ++pass) {
        CAPTURE(pass);
        pair.draw();
        for (float& x : pair.inputs.values["x"]) x = std::bit_cast<float>(pattern += 22'283);
        // Beside bases of all kinds: exponents of all kinds, and small whole and other ones.
        for (float& y : pair.inputs.values["y"]) {
          const std::uint32_t bits = random();
          y = pass % 4 == 0   ? std::bit_cast<float>(bits)
              : pass % 4 == 1 ? static_cast<float>(bits % 16) - 8
                              : static_cast<float>(bits) * 0x1p-28f - 8;
        }
        pair.trainer.forward(pair.named_inputs());
        check_forward(pair, pair.reference.forward(pair.state, pair.inputs));
      }
    }
}

}  // namespace halftone::tests
