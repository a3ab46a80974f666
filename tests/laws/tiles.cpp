// SPDX-License-Identifier: Apache-2.0
// Training with AMX or AVX512-BF16: what rules order has the reference's bits, and whole runs
// depend on nothing but their inputs.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "provided.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

/// The model that the artifact was made from.
Pair pair_of(const LinkedArtifact& artifact, std::int64_t batch) {
  return make_pair(artifact, tested_variant, batch);
}

}  // namespace

TEST_CASE(
    "under accumulate ordered tiles are not used: steps equal the reference to the last bit") {
  for (const LinkedArtifact& artifact : kOrderedArtifacts)
    for (const std::int64_t batch : {1, 37}) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(batch);
      const std::uint64_t before = products::emulated();
      Pair pair = pair_of(artifact, batch);
      CHECK(pair.trainer.stats().variant == tested_variant);
      for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
      }
      CHECK(products::emulated() == before);
    }
}

TEST_CASE("100 steps by tiles bring the loss down as ordered ones do") {
  constexpr int kSteps = 100;
  constexpr std::string_view kName = "digits_bf16";
  const auto& in_order =
      *std::ranges::find(kOrderedArtifacts, kName,
                         [](const LinkedArtifact& each) { return std::string_view(each.name); });
  Pair pair = pair_of(find_artifact(kName), 64), ordered = pair_of(in_order, 64);
  pair.draw();  // one batch, learnt by heart
  const std::string loss = pair.trainer.stats().losses[0].name;
  float first = 0;
  for (int step = 0; step < kSteps; ++step) {
    pair.trainer.step(pair.named_inputs());
    ordered.trainer.step(pair.named_inputs());
    if (step == 0) first = pair.trainer.loss(loss);
  }
  const float last = pair.trainer.loss(loss), wanted = ordered.trainer.loss(loss);
  CAPTURE(first);
  CAPTURE(last);
  CAPTURE(wanted);
  CHECK(pair.trainer.stats().skipped_steps == 0);
  CHECK(std::isfinite(last));
  CHECK(last < first);
  // Of what the ordered run gains this one gains nine tenths at least.
  CHECK(first - last > 0.9f * (first - wanted));
}

}  // namespace halftone::tests
