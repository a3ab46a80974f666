// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding (P47 to P50): generated code, fused or not and whatever it computes again,
// draws at every rounding point of every layer what the reference draws there.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

/// What `trainer`, with the parameters of `pair`, makes of its inputs.
std::vector<float> hidden_of(Trainer& trainer, const Pair& pair) {
  for (const auto& [name, values] : pair.state.parameters) trainer.set_parameter(name, values);
  trainer.forward(pair.named_inputs());
  return copied(trainer.output("hidden"));
}

}  // namespace

TEST_CASE("steps that round stochastically equal the declared reference") {
  for (const std::string& variant : tested_variants())
    for (const std::int64_t batch : {1, 5, 37, 300}) {
      CAPTURE(variant);
      CAPTURE(batch);
      Pair pair = make_pair(find_artifact("stochastic"), variant, batch);
      for (int step = 0; step < 4; ++step) {
        CAPTURE(step);
        pair.draw();
        if (step == 2) pair.spoil(INFINITY);
        check_step(pair);
        CHECK(pair.trainer.updated() == (step != 2));
      }
    }
}

TEST_CASE("every layer whose operands, results and gradients are drawn equals the reference") {
  check_first_steps(kDrawnArtifacts, tested_variant);
}

TEST_CASE("unfused kernels, and activations computed again or kept, draw alike") {
  for (const LinkedArtifact& alike : kAlikeArtifacts) {
    CAPTURE(std::string(alike.name));
    Pair pair = make_pair(find_artifact("stochastic"), tested_variant, 37);
    Trainer other(Artifact::linked(*alike.image), pair.device, pair.setup(1));
    check_equal_steps(pair, other);
  }
}

TEST_CASE("the number of threads and of planned rows changes no draw") {
  Pair pair = make_pair(find_artifact("stochastic"), tested_variant, 37);
  pair.draw();
  const std::vector<float> expected = hidden_of(pair.trainer, pair);
  Trainer many(pair.artifact, Device::cpu(tested_variant).with_threads(3), pair.setup(1));
  CHECK(first_difference(hidden_of(many, pair), expected) == -1);
  Pair larger = make_pair(find_artifact("stochastic"), tested_variant, 300);
  CHECK(first_difference(hidden_of(larger.trainer, pair), expected) == -1);
}

TEST_CASE(
    "a seed, a step and a micro-batch draw again what they drew, and each what no other does") {
  Pair pair = make_pair(find_artifact("stochastic"), tested_variant, 37);
  pair.draw();
  const std::vector<float> first = hidden_of(pair.trainer, pair);
  CHECK(first_difference(hidden_of(pair.trainer, pair), first) == -1);
  Trainer other(pair.artifact, pair.device, pair.setup(2));
  CHECK(first_difference(hidden_of(other, pair), first) != -1);
  pair.trainer.accumulate(pair.named_inputs());
  const std::vector<float> second = hidden_of(pair.trainer, pair);
  CHECK(first_difference(second, first) != -1);
  pair.trainer.step(pair.named_inputs());
  const std::vector<float> next = hidden_of(pair.trainer, pair);
  CHECK(first_difference(next, first) != -1);
  CHECK(first_difference(next, second) != -1);
}

TEST_CASE("a predictor draws nothing: what is stochastic goes to the nearest") {
  Pair pair = make_pair(find_artifact("stochastic"), tested_variant, 37);
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  reference::State<float> state = pair.state;
  for (auto& [name, values] : state.parameters) values = copied(pair.trainer.parameter(name));
  Predictor predictor(pair.artifact, pair.device, pair.setup(5));
  predictor.copy_parameters(pair.trainer);
  predictor.predict(inputs_of_predictor(pair, true));
  const auto expected = pair.reference.predict(state, pair.inputs);
  for (const char* output : {"logits", "hidden"}) {
    CAPTURE(output);
    const auto node = pair.reference.find(output == std::string("hidden") ? "act" : "head");
    CHECK(first_difference(predictor.output(output), expected.values[node]) == -1);
  }
}

}  // namespace halftone::tests
