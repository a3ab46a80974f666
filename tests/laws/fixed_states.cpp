// SPDX-License-Identifier: Apache-2.0
// D17: the states that no step moves, weights of classes and what inputs are standardized by, are
// what the host makes them, in a trainer and in a predictor that takes its parameters.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "halftone/predictor.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

/// Gives every state values of its own, from 0.25 on.
void set_states(Pair& pair) {
  for (auto& [name, values] : pair.state.states) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.25f + 0.125f * static_cast<float>((i * 7 + name.size()) % 11);
    pair.trainer.set_state(name, values);
  }
}

}  // namespace

TEST_CASE("states that no step moves are read as the host sets them, and stay so") {
  for (const char* name : {"row_losses", "row_losses_bf16"})
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(name));
      CAPTURE(variant);
      Pair pair(name, *find_artifact(name).image, variant, 5);
      REQUIRE(pair.state.states.size() == 6);
      set_states(pair);
      const auto before = pair.state.states;
      for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
      }
      CHECK(pair.state.states == before);
      for (const auto& [state, values] : before) {
        CAPTURE(state);
        CHECK(first_difference(pair.trainer.state(state), values) == -1);
      }
    }
}

TEST_CASE("states that no step moves go with the parameters") {
  Pair pair("row_losses", *find_artifact("row_losses").image, tested_variant, 5);
  set_states(pair);
  pair.draw();
  check_step(pair);
  Predictor predictor(pair.artifact, pair.device, pair.setup(2));
  predictor.copy_parameters(pair.trainer);
  for (const auto& [state, values] : pair.state.states) {
    CAPTURE(state);
    CHECK(first_difference(predictor.state(state), values) == -1);
  }
  pair.trainer.reset_states();
  for (const auto& [state, values] : pair.state.states)
    CHECK(first_difference(pair.trainer.state(state), values) == -1);
}

}  // namespace halftone::tests
