// SPDX-License-Identifier: Apache-2.0
// Quantized weights (P80 to P84): predictors compute from codes what the reference does, in its
// bits, and training is as without.
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

void check_prediction(const Pair& pair, Predictor& predictor) {
  const auto expected = pair.reference.predict(pair.state, pair.inputs);
  predictor.evaluate(inputs_of_predictor(pair, false));
  for (const auto& output : pair.description.outputs) {
    CAPTURE(output.name);
    CHECK(first_difference(predictor.output(output.name), expected.values[output.node]) == -1);
  }
  for (std::size_t i = 0; i < pair.description.losses.size(); ++i) {
    const std::string& name = pair.description.nodes[pair.description.losses[i].node].name;
    CAPTURE(name);
    CHECK(bits(predictor.loss(name)) == bits(expected.losses[i]));
  }
}

const manifest::Program& inference(const Pair& pair) {
  const auto& programs = pair.artifact.manifest().programs;
  return *std::ranges::find(programs, "inference", &manifest::Program::name);
}

}  // namespace

TEST_CASE(
    "a predictor's outputs and losses equal the declared reference's, before and after steps") {
  for (const LinkedArtifact& artifact : kPredictedArtifacts)
    for (const std::int64_t batch : {1, 6}) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(batch);
      Pair pair = make_pair(artifact, tested_variant, batch);
      Predictor predictor(pair.artifact, pair.device, pair.setup(1));
      pair.draw();
      check_prediction(pair, predictor);  // of the same first values
      for (int step = 0; step < 2; ++step) {
        check_step(pair);
        pair.draw();
      }
      predictor.copy_parameters(pair.trainer);
      predictor.copy_states(pair.trainer);
      check_prediction(pair, predictor);
    }
}

TEST_CASE("every variant of the CPU predicts alike from codes") {
  for (const std::string& variant : tested_variants()) {
    CAPTURE(variant);
    Pair pair = make_pair(kPredictedArtifacts[0], variant, 5);
    Predictor predictor(pair.artifact, pair.device, pair.setup(1));
    pair.draw();
    check_prediction(pair, predictor);
  }
}

TEST_CASE(
    "a channel with a weight that is not finite leaves NaN in its results, as the reference does") {
  for (const float value : {INFINITY, -INFINITY, std::nanf("")}) {
    CAPTURE(value);
    Pair pair = make_pair(kPredictedArtifacts[0], tested_variant, 3);
    Predictor predictor(pair.artifact, pair.device, pair.setup(1));
    pair.state.parameters["head.weight"][9] = value;
    predictor.set_parameter("head.weight", pair.state.parameters["head.weight"]);
    pair.draw();
    check_prediction(pair, predictor);
    CHECK(std::isnan(predictor.output("values")[2]));
    CHECK(std::isfinite(predictor.output("values")[1]));
  }
}

TEST_CASE("what a predictor gives back of a weight is near it, and given back leaves the codes") {
  Pair pair = make_pair(kPredictedArtifacts[0], tested_variant, 3);
  Predictor predictor(pair.artifact, pair.device, pair.setup(1));
  for (const std::string& name : predictor.parameter_names()) {
    CAPTURE(name);
    const auto held = predictor.parameter(name);
    const auto given = pair.trainer.parameter(name);
    REQUIRE(held.size() == given.size());
    float largest = 0, off = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      largest = std::max(largest, std::fabs(given[i]));
      off = std::max(off, std::fabs(given[i] - held[i]));
    }
    const bool is_vector = predictor.parameter_shape(name).size() == 1;
    CHECK((is_vector ? off == 0 : off > 0));
    CHECK(off <= largest / 254 * 1.0001f);
    const std::vector<float> first(held.begin(), held.end());
    predictor.set_parameter(name, first);
    const auto again = predictor.parameter(name);
    for (std::size_t i = 0; i < first.size(); ++i)
      CHECK(std::fabs(again[i] - first[i]) <= std::fabs(first[i]) * 0x1p-22f);
  }
}

TEST_CASE("a weight takes one byte of a predictor, and no master") {
  const Pair pair = make_pair(kPredictedArtifacts[0], tested_variant, 3);
  std::int64_t matrices = 0, vectors = 0, bytes = 0;
  for (const manifest::Parameter& parameter : pair.artifact.manifest().parameters) {
    std::int64_t count = 1;
    for (const std::int64_t extent : parameter.shape) count *= extent;
    (parameter.shape.size() > 1 ? matrices : vectors) += count;
  }
  for (const manifest::Buffer& buffer : inference(pair).buffers) {
    CHECK(buffer.role != manifest::Role::working_copies);
    if (buffer.role == manifest::Role::codes)
      bytes += encoding::storage_bytes(buffer.encoding.element, buffer.shape[0].extent);
    if (buffer.role == manifest::Role::parameters) {
      CHECK(buffer.shape[0].extent >= vectors);
      CHECK(buffer.shape[0].extent <= vectors + 3 * 32);  // each at a multiple of 32
    }
  }
  CHECK(bytes >= matrices);
  CHECK(bytes <= matrices + 8 * 64);
  CHECK(inference(pair).quantized.size() == 8);
}

}  // namespace halftone::tests
