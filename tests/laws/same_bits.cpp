// SPDX-License-Identifier: Apache-2.0
// Class A and ordered contractions: generated CPU code equals the reference (declared) to the last
// bit, for every test model, variant and batch size.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "message_of.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

/// Below, inside and beyond a register tile, and past two chunks of rows (N3).
constexpr std::int64_t kBatches[] = {1, 5, 37, 300};

void check_training(const LinkedArtifact& artifact, const std::string& variant,
                    std::int64_t batch) {
  CAPTURE(std::string(artifact.name));
  CAPTURE(variant);
  CAPTURE(batch);
  Pair pair(std::string(artifact.name), *artifact.image, variant, batch);
  const int steps =
      pair.trainer.parameter(pair.trainer.parameter_names().back()).size() > 100000 ? 1 : 4;
  for (int step = 0; step < steps; ++step) {
    CAPTURE(step);
    pair.draw();
    check_step(pair);
  }
}

}  // namespace

TEST_CASE("training steps on the CPU equal the declared reference to the last bit") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (std::int64_t batch : kBatches) check_training(artifact, tested_variant, batch);
}

TEST_CASE("code for every processor of the architecture gives the reference's bits") {
  for (const LinkedArtifact& artifact : kArtifacts)
    for (std::int64_t batch : {5, 37}) check_training(artifact, baseline_variant, batch);
}

TEST_CASE("infinities, NaN, subnormals and huge numbers give the reference's bits too") {
  constexpr float kHostile[] = {INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-39f, -1e-45f, -0.0f};
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const float hostile : kHostile) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(hostile);
      Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 4);
      pair.draw();
      for (auto& [name, values] : pair.inputs.values)
        for (std::size_t i = 0; i < values.size(); i += 7) values[i] = hostile;
      pair.deliver();
      check_step(pair);
    }
}

TEST_CASE("M2: a step that is not finite changes no bit of the parameters, and training goes on") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 5);
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      pair.draw();
      if (step == 1) pair.spoil(std::nanf(""));
      if (step == 2) pair.spoil(INFINITY);
      pair.deliver();
      const auto expected = pair.reference.step(pair.state, pair.inputs);
      pair.trainer.step(pair.named_inputs());
      CHECK(pair.trainer.updated() == expected.finite);
      CHECK(expected.finite == (step == 0 || step == 3));
      pair.state = expected.state;
      check_parameters(pair);
    }
    CHECK(pair.trainer.stats().skipped_steps == 2);
  }
}

TEST_CASE("D112: what is a multiple of a symbol has the reference's bits, however large that is") {
  for (const std::string name : {"sides", "sides_bf16"})
    for (const std::int64_t side : {1, 2, 5, 8, 33}) {
      CAPTURE(name);
      CAPTURE(side);
      Pair pair(load_model(name), *find_artifact(name).image, tested_variant,
                reference::Symbols{{"batch", 2}, {"side", side}});
      for (int step = 0; step < 2; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
      }
    }
}

TEST_CASE("D116: padding and shares of symbols have the reference's bits, however long those are") {
  for (const std::int64_t side : {3, 4, 5, 7}) {
    CAPTURE(side);
    Pair pair(load_model("sides_padded"), *find_artifact("sides_padded").image, tested_variant,
              reference::Symbols{{"batch", 2}, {"side", side}});
    for (int step = 0; step < 2; ++step) {
      CAPTURE(step);
      pair.draw();
      check_step(pair);
    }
  }
}

TEST_CASE("D112: values of a length that no symbol's size gives are refused in one sentence") {
  const auto bound = reference::Symbols{{"batch", 2}, {"side", 3}};
  Pair pair(load_model("sides"), *find_artifact("sides").image, tested_variant, bound);
  pair.draw();
  CHECK(message_of([&] { pair.trainer.step(pair.named_inputs()); }) == "no error");
  pair.inputs.values["target"].resize(2 * 14 * 6 * 5);
  CHECK(message_of([&] { pair.trainer.step(pair.named_inputs()); }) ==
        "step: input 'target' has 840 values, but batch 2 x 4 * side 3 x 2 * side 3 x 5 "
        "needs 720; give the whole tensor, row-major, of lengths 4 * side and 2 * side, of as many "
        "rows as input 'image' has");
}

TEST_CASE("sums of more than 1,024 chunks equal the reference's (N2)") {
  constexpr std::int64_t kBatch = 90000;  // of 12 columns: 1,055 chunks
  Pair pair("pointwise", *find_artifact("pointwise").image, tested_variant, kBatch);
  pair.draw();
  check_step(pair);
}

TEST_CASE("P60, P61: under bounds and exceptions training steps equal the declared reference") {
  check_steps(kBoundedArtifacts, tested_variants(), {7}, 3);
}

TEST_CASE("transforms of long sequences have the reference's bits") {
  check_steps(kLongArtifacts, tested_variants(), {3}, 2);
}

TEST_CASE("at kinks, beside a NaN metric and under roundings by pass, steps equal the reference") {
  for (const LinkedArtifact& artifact : kEdgeArtifacts)
    for (const std::string& variant : tested_variants()) {
      Pair pair = make_pair(artifact, variant, 5);
      for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        pair.draw();
        check_step(pair);
        CHECK(pair.trainer.updated());
        CHECK(std::isnan(pair.trainer.loss("undefined")));
      }
    }
}

TEST_CASE("a predictor's outputs, losses and averages equal the reference to the last bit") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(std::string(artifact.name), *artifact.image, tested_variant, 7);
    if (pair.description.outputs.empty()) continue;
    pair.draw();
    Predictor predictor(pair.artifact, pair.device, pair.setup(2));
    const auto check = [&](const reference::Forward<float>& expected) {
      for (const auto& output : pair.description.outputs) {
        CAPTURE(output.name);
        CHECK(first_difference(predictor.output(output.name), expected.values[output.node]) == -1);
      }
    };
    predictor.copy_parameters(pair.trainer);
    predictor.predict(inputs_of_predictor(pair, true));
    check(pair.reference.predict(pair.state, pair.inputs));
    pair.draw();
    const auto expected = pair.reference.predict(pair.state, pair.inputs);
    predictor.evaluate(inputs_of_predictor(pair, false));
    check(expected);
    for (std::size_t i = 0; i < pair.description.losses.size(); ++i) {
      const std::string& name = pair.description.nodes[pair.description.losses[i].node].name;
      CAPTURE(name);
      CHECK(bits(predictor.loss(name)) == bits(expected.losses[i]));
    }
    if (!pair.description.average) {
      CHECK_THROWS_AS(predictor.copy_averages(pair.trainer), Error);
      continue;
    }
    for (int step = 0; step < 3; ++step) check_step(pair);
    predictor.copy_averages(pair.trainer);
    for (const auto& [name, values] : pair.state.averages)
      CHECK(first_difference(predictor.parameter(name), values) == -1);
  }
}

}  // namespace halftone::tests
