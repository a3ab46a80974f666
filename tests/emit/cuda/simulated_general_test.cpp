// SPDX-License-Identifier: Apache-2.0
// The texts of general.mlir through NVRTC, on the simulator: general accesses, sums into segments
// and contractions of a batch, to the bit and without a finding.
#include "general.hpp"
#include "simulated_texts.hpp"

using namespace halftone::tests;

TEST_CASE("every text computes its elements on the simulator") {
  constexpr long long kBatch = 5;
  for (const char* chip : {"75", "90a"})
    general::each_kernel(kBatch, [&](const std::string& name, const general::Values& expected,
                                     const auto&... operands) {
      CAPTURE(chip);
      CAPTURE(name);
      const auto results =
          SimulatedText{name, chip, ""}.run(kBatch, {expected.size() * sizeof(float)}, operands...);
      CHECK(results.front() == bytes_of(expected));
    });
}
