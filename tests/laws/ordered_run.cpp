// SPDX-License-Identifier: Apache-2.0
// Under `accumulate ordered` a whole training run is equal to the last bit (P21, N1).
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

TEST_CASE("200 training steps of a network with every layer equal the reference's run") {
  constexpr int kSteps = 200;
  for (const std::string& variant : tested_variants()) {
    CAPTURE(variant);
    const auto& artifact = find_artifact("every_layer");
    Pair pair("every_layer", *artifact.image, variant, 24);
    int skipped = 0;
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      pair.draw();
      const auto expected = pair.reference.step(pair.state, pair.inputs);
      pair.trainer.step(pair.named_inputs());
      REQUIRE(pair.trainer.updated() == expected.finite);
      skipped += !expected.finite;
      pair.state = expected.state;
      REQUIRE(bits(pair.trainer.stats().grad_norm) == bits(expected.norm));
      REQUIRE(pair.trainer.stats().loss_scale == expected.state.scaling.scale);
    }
    for (const auto& [name, values] : pair.state.parameters) {
      CAPTURE(name);
      CHECK(first_difference(pair.trainer.parameter(name), values) == -1);
    }
    // The scale grows every 20 clean steps, so the run must meet its ceiling of f16 and back off.
    CHECK(skipped > 0);
    CHECK(skipped < kSteps / 2);
    CHECK(pair.trainer.stats().skipped_steps == skipped);
  }
}

}  // namespace halftone::tests
