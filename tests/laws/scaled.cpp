// SPDX-License-Identifier: Apache-2.0
// Scaled operands (P51 to P54, P76 to P78, P87 to P89, P97, P100 to P102, P105): generated code,
// fused or not and whatever it computes again, finds the reference's scales and numbers for every
// layer, of all sizes of numbers.
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

/// With scales that are powers of two, and such that are factors of sums.
constexpr const char* kModels[] = {"scaled",  "scaled_blocks", "scaled_grids", "scaled_tiles",
                                   "factors", "vectors",       "halves",       "rotated"};

/// Every value of an input times one factor, as far as the input holds that.
void multiply_inputs(Pair& pair, float factor) {
  for (auto& [name, values] : pair.inputs.values)
    for (float& value : values) value *= factor;
  pair.deliver();
}

}  // namespace

TEST_CASE("steps whose operands are scaled equal the declared reference") {
  for (const char* name : kModels)
    for (const std::string& variant : tested_variants())
      for (const std::int64_t batch : {1, 5, 37}) {
        CAPTURE(std::string(name));
        CAPTURE(variant);
        CAPTURE(batch);
        Pair pair = make_pair(find_artifact(name), variant, batch);
        for (const float factor : {1.0f, 0x1p-90f, 0.0f, 0x1p60f, 0x1p127f, 3.0f}) {
          CAPTURE(factor);
          pair.draw();
          multiply_inputs(pair, factor);
          check_step(pair);
        }
      }
}

TEST_CASE("a number that is not finite spoils the step that it would spoil in the reference") {
  for (const char* name : kModels)
    for (const float value : {INFINITY, -INFINITY, std::nanf("")}) {
      CAPTURE(std::string(name));
      CAPTURE(value);
      Pair pair = make_pair(find_artifact(name), tested_variant, 5);
      pair.draw();
      pair.spoil(value);
      check_step(pair);
      pair.draw();
      check_step(pair);
      CHECK(pair.trainer.updated());
    }
}

TEST_CASE("every layer whose operands are scaled equals the reference") {
  check_first_steps(kScaledArtifacts, tested_variant);
}

TEST_CASE("unfused kernels, and activations computed again or kept, find the same numbers") {
  for (const LinkedArtifact& alike : kAlikeArtifacts) {
    CAPTURE(std::string(alike.name));
    Pair pair = make_pair(find_artifact(alike.name), tested_variant, 37);
    Trainer other(Artifact::linked(*alike.image), pair.device, pair.setup(1));
    check_equal_steps(pair, other);
  }
}

TEST_CASE("a predictor scales what it is given: fewer rows as the reference of so many does") {
  for (const char* name : kModels) {
    CAPTURE(std::string(name));
    Pair few = make_pair(find_artifact(name), tested_variant, 5);
    Pair many = make_pair(find_artifact(name), tested_variant, 37);
    few.draw();
    Predictor predictor(many.artifact, many.device, many.setup(1));
    predictor.copy_parameters(few.trainer);
    predictor.predict(inputs_of_predictor(few, true));
    const auto expected = few.reference.predict(few.state, few.inputs);
    for (const auto& output : few.description.outputs) {
      CAPTURE(output.name);
      CHECK(first_difference(predictor.output(output.name), expected.values[output.node]) == -1);
    }
  }
}

}  // namespace halftone::tests
