// SPDX-License-Identifier: Apache-2.0
// D70 to D73: whatever a summand of weight 0 holds changes no bit; generated code and the reference
// agree about it; without any other summand loss and gradients are 0.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "artifacts.hpp"
#include "own_pair.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr float kNothing[] = {NAN, INFINITY, -INFINITY, 3e38f};
constexpr std::int32_t kIgnored = 2;  // by loss `both` of masked.halftone
constexpr std::int32_t kNoLabel[] = {-100, -1, 5, std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<std::int32_t>::max()};

reference::Step<float> check_equal(Pair& pair) {
  const auto expected = pair.reference.step(pair.state, pair.inputs);
  check_step(pair);
  return expected;
}

/// A step that ends without its update, and what is not finite in it.
std::optional<NonFinite> diagnose_step(Pair& pair) {
  pair.trainer.forward(pair.named_inputs());
  pair.trainer.backward();
  (void)pair.trainer.check();
  auto found = pair.trainer.diagnose();
  pair.trainer.update();
  return found;
}

}  // namespace

TEST_CASE("D73: what has weight 0 changes no bit of a step, be it NaN") {
  for (const std::string& variant : tested_variants())
    for (const std::int64_t batch : {4, 37, 300}) {
      CAPTURE(variant);
      CAPTURE(batch);
      Pair clean("masked", *find_artifact("masked").image, variant, batch),
          spoiled("masked", *find_artifact("masked").image, variant, batch);
      clean.draw();
      auto& weights = clean.inputs.values.at("w");
      auto& wanted = clean.inputs.values.at("wanted");
      auto& labels = clean.inputs.integers.at("label");
      for (std::size_t i = 0; i < weights.size(); ++i) {
        if (i % 3 == 0) weights[i] = i % 2 == 0 ? 0.0f : -0.0f;
        for (std::size_t j = 0; j < 3; ++j)
          if (weights[i] == 0) wanted[3 * i + j] = 0;
        if (weights[i] == 0) labels[i] = -100;  // which `both` weighs 0 and `ignoring` passes over
      }
      spoiled.inputs = clean.inputs;
      auto& targets = spoiled.inputs.values.at("target");
      for (std::size_t e = 0; e < targets.size(); ++e)
        if (wanted[e] == 0 && weights[e / 3] == 0) targets[e] = kNothing[e % 4];
      const auto expected = check_equal(spoiled);
      check_step(clean);
      CHECK(expected.finite);
      CHECK(first_difference(clean.trainer.parameter("trunk.weight"),
                             spoiled.trainer.parameter("trunk.weight")) == -1);
      for (const auto& loss : clean.trainer.stats().losses)
        CHECK(bits(spoiled.trainer.loss(loss.name)) == bits(loss.value));
    }
}

TEST_CASE("D71: a label is wrong where its row counts, and nowhere else") {
  for (const std::int32_t wrong : kNoLabel)
    for (const bool counts : {false, true}) {
      CAPTURE(wrong);
      CAPTURE(counts);
      Pair pair("masked_f16", *find_artifact("masked_f16").image, tested_variant, 5);
      pair.draw();
      auto& weights = pair.inputs.values.at("w");
      weights[4] = counts ? 0.5f : 0.0f;
      pair.inputs.integers.at("next")[4] = wrong == 5 ? 7 : wrong;
      CHECK(check_equal(pair).finite == !counts);
    }
}

TEST_CASE("diagnose() passes over what has weight 0, and names the first that counts") {
  for (const char* model : {"masked", "masked_f16"}) {
    CAPTURE(std::string(model));
    Pair pair(model, *find_artifact(model).image, tested_variant, 4);
    const std::size_t rows = pair.symbols.contains("time") ? 12 : 4;
    pair.draw();
    auto& target = pair.inputs.values.at("target");
    auto& labels = pair.inputs.integers.begin()->second;
    const std::size_t columns = target.size() / rows;
    pair.inputs.values.at("w").assign(rows, 1.0f);
    auto& wanted = pair.inputs.values.at("wanted");
    wanted.assign(wanted.size(), 1.0f);
    pair.inputs.values.at("w")[1] = pair.inputs.values.at("w")[2] = 0;
    for (std::size_t e = columns; e < 3 * columns; ++e) {
      wanted[e] = 0;
      target[e] = e % 2 == 0 ? NAN : 1e30f;  // past f16
    }
    labels[1] = rows == 4 ? -100 : 99;
    labels[2] = rows == 4 ? -100 : -7;
    CHECK_FALSE(diagnose_step(pair));
    CHECK(pair.trainer.updated());
    target[3 * columns + 1] = INFINITY;
    auto found = diagnose_step(pair);
    REQUIRE(found);
    CHECK(found->layer == "target");
    CHECK(found->op == "input");
    CHECK(found->element == static_cast<std::int64_t>(3 * columns + 1));
    CHECK_FALSE(pair.trainer.updated());
    labels[3] = 12;
    found = diagnose_step(pair);
    REQUIRE(found);
    const std::string loss = rows == 4 ? "both' has 5" : "xent' has 7";
    CHECK(found->text() == "label '" + std::string(rows == 4 ? "label" : "next") +
                               "': element 3 is 12, but the loss '" + loss + " classes");
    labels[3] = 1;
    target[3 * columns + 1] = 0;
    pair.inputs.values.at("w")[3] = NAN;
    found = diagnose_step(pair);
    REQUIRE(found);
    CHECK(found->text() == "input 'w': element 3 is nan");
  }
}

TEST_CASE("losses of scalars, of one row and of rows of any length are weighted alike") {
  for (const LinkedArtifact& artifact : kShapedArtifacts)
    for (const std::string& variant : tested_variants())
      for (const std::int64_t batch : {1, 5, 300}) {
        CAPTURE(variant);
        CAPTURE(batch);
        Pair pair = make_pair(artifact, variant, batch);
        for (int step = 0; step < 4; ++step) {
          pair.draw();
          CHECK(check_equal(pair).finite);
        }
      }
}

TEST_CASE("where everything has weight 0, losses and gradients are 0 and the step is applied") {
  for (const std::int64_t batch : {1, 5, 300}) {
    CAPTURE(batch);
    Pair pair("masked", *find_artifact("masked").image, tested_variant, batch);
    pair.draw();
    pair.inputs.values.at("w").assign(static_cast<std::size_t>(batch), 0.0f);
    pair.inputs.values.at("wanted").assign(static_cast<std::size_t>(3 * batch), -0.0f);
    pair.inputs.values.at("target").assign(static_cast<std::size_t>(3 * batch), NAN);
    pair.inputs.integers.at("label").assign(static_cast<std::size_t>(batch), -100);
    CHECK(check_equal(pair).finite);
    for (const auto& loss : pair.trainer.stats().losses) CHECK(bits(loss.value) == 0);
    CHECK(pair.trainer.stats().grad_norm == 0.0f);
  }
}

TEST_CASE("an ignored label has the weight 0, and a weight of 1 is none") {
  Pair pair("masked", *find_artifact("masked").image, tested_variant, 37);
  pair.draw();
  auto& weights = pair.inputs.values.at("w");
  const auto& labels = pair.inputs.integers.at("label");
  weights.assign(weights.size(), 1.0f);
  check_step(pair);
  const float both = pair.trainer.loss("both"), metric = pair.trainer.loss("metric");
  for (std::size_t i = 0; i < labels.size(); ++i) weights[i] = labels[i] == kIgnored ? 0.0f : 1.0f;
  CHECK(both != metric);  // some labels were ignored
  Pair other("masked", *find_artifact("masked").image, tested_variant, 37);
  other.inputs = pair.inputs;
  check_step(other);
  CHECK(bits(other.trainer.loss("both")) == bits(both));
  CHECK(bits(other.trainer.loss("metric")) == bits(both));
  // Every row counts 1: the plain mean, to the bit.
  CHECK(bits(other.trainer.loss("ignoring")) == bits(metric));
}

TEST_CASE("negative weights are computed with, and weights that are not finite skip the step") {
  for (const char* model : {"masked", "masked_f16"})
    for (const float weight : {-2.0f, 1e-30f, NAN, INFINITY}) {
      CAPTURE(std::string(model));
      CAPTURE(weight);
      Pair pair(model, *find_artifact(model).image, tested_variant, 6);
      pair.draw();
      auto& weights = pair.inputs.values.at("w");
      weights.assign(weights.size(), 0.25f);
      weights[3] = weight;
      CHECK(check_equal(pair).finite == std::isfinite(weight));
    }
}

TEST_CASE("weights that cancel are divided by 1") {
  Pair pair("masked", *find_artifact("masked").image, tested_variant, 4);
  pair.draw();
  pair.inputs.values.at("w") = {1, -1, 0.5f, -0.5f};
  CHECK(check_equal(pair).finite);
  CHECK(pair.trainer.loss("metric") != 0.0f);
}

}  // namespace halftone::tests
