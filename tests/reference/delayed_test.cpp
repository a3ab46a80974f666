// SPDX-License-Identifier: Apache-2.0
// Delayed scales of the reference (P72 to P74) against TransformerEngine's formula
// (record_delayed.py), and steps of a small model by hand.
#include "delayed.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "delayed_expected.hpp"
#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Rounding;
using Kind = halftone::encoding::Scaling::Kind;

namespace {

RoundTo delayed(Element element, int history, int margin = 0) {
  return {element,
          Rounding::nearest_even,
          true,
          {.kind = Kind::delayed, .scale = Element::f8e8m0, .history = history, .margin = margin}};
}

/// y = x * w, where w is 1 and stays so: the learning rate is 0.
constexpr const char* kProduct = R"(input %x : f32[batch, 2] gradient
input %wanted : f32[batch, 1]
parameter %fc.weight : [1, 2] init constant(0)
%fc = linear(x: %x, weight: %fc.weight) : [batch, 1]
%error = mse(x: %fc, target: %wanted) : []
output "y" = %fc
loss %error weight 1
rule everywhere : compute f8e4m3 scaled delayed 2 f8e8m0 saturate
)";
constexpr const char* kStill = "optimizer sgd learning_rate 0 momentum 0 weight_decay 0\n";

template <class Scalar>
Inputs<Scalar> given(Scalar x) {
  return {.values = {{"x", {x, Scalar(0)}}, {"wanted", {Scalar(0)}}}, .integers = {}};
}

struct Steps {
  Declared model{parse_model(kProduct, kStill), {{"batch", 1}}};
  State<float> state = model.initial_state({{"fc.weight", {1, 0}}});

  Step<float> step(float x) {
    Step<float> step = model.step(state, given(x));
    state = step.state;
    return step;
  }
  /// What the product makes of x before that step's scales move.
  float product(float x) const {
    const auto forward = model.forward(state, given(x));
    return forward.values[static_cast<std::size_t>(model.find("fc"))][0];
  }
};

}  // namespace

TEST_CASE("scales are those of TransformerEngine's formula, each cut to a power of two") {
  for (const DelayedScales& of : kDelayedScales) {
    CAPTURE(std::string(halftone::encoding::word(of.format)));
    CAPTURE(of.history);
    CAPTURE(of.margin);
    const RoundTo to = delayed(of.format, of.history, of.margin);
    std::map<std::string, Delayed> scales;
    int moved = 0;
    for (std::size_t step = 0; step < kAmaxes.size(); ++step) {
      CAPTURE(step);
      const float before = scales["x"].scale;
      const Amaxes amaxes{{"x", {to, std::bit_cast<float>(kAmaxes[step])}}};
      move_delayed(amaxes, static_cast<std::int64_t>(step), scales);
      CHECK(std::bit_cast<std::uint32_t>(scales["x"].scale) == of.scales[step]);
      moved += scales["x"].scale != before;
    }
    CHECK(moved > 2);
  }
}

TEST_CASE("an amax that is not finite counts as none, and micro-batches as their largest") {
  const RoundTo to = delayed(Element::f8e4m3, 2);
  for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    CAPTURE(value);
    std::map<std::string, Delayed> scales;
    move_delayed({{"x", {to, 448.0f * 8}}}, 0, scales);
    CHECK(scales["x"].scale == 8);
    Amaxes step{{"x", {to, 448.0f * 64}}};
    add_amaxes(step, {{"x", {to, value}}, {"y", {to, 448}}});
    add_amaxes(step, {{"x", {to, 1}}, {"y", {to, 896}}});
    move_delayed(step, 1, scales);
    CHECK(scales["x"].scale == 8);
    CHECK(scales["x"].amaxes == std::vector<float>{448.0f * 8, 0});
    CHECK(scales["y"].scale == 2);
    move_delayed({{"x", {to, 0}}}, 2, scales);  // the first is forgotten, and nothing is there
    CHECK(scales["x"].scale == 8);
    CHECK(scales["x"].amaxes == std::vector<float>{0, 0});
    move_delayed({{"x", {to, 448.0f / 4}}}, 3, scales);
    CHECK(scales["x"].scale == 0.25f);
  }
}

TEST_CASE("a step is scaled by what earlier ones left: 1 at first, then their largest of two") {
  Steps run;
  CHECK(run.product(1000) == 448);
  CHECK(run.product(0x1p-10f) == 0);
  run.step(1000);
  CHECK(run.product(3000) == 448 * 4);
  CHECK(run.product(17) == 16);  // 17 / 4 in E4M3 is 4.25, even: 4
  run.step(0.5f);
  CHECK(run.product(3000) == 448 * 4);
  run.step(0.5f);
  CHECK(run.product(3000) == 0.875f);  // 448 / 512
  CHECK(run.product(-0.25f) == -0.25f);
}

TEST_CASE("what is infinite becomes NaN, so that its step is skipped, and moves no scale") {
  Steps run;
  run.step(1000);
  CHECK(std::isnan(run.product(std::numeric_limits<float>::infinity())));
  CHECK(std::isnan(run.product(std::nanf(""))));
  const State<float> before = run.state;
  CHECK(!run.step(std::numeric_limits<float>::infinity()).finite);
  CHECK(run.state.ended == before.ended + 1);
  CHECK(run.product(3000) == 448 * 4);
  run.step(0.5f);  // which takes the place of 1000
  CHECK(run.product(3000) == 0.875f);
}

TEST_CASE("a predictor, exact evaluation and losses know no steps; nothing bounds what has them") {
  Steps run;
  run.step(1000);
  const auto predicted = run.model.predict(run.state, given(3000.0f));
  CHECK(predicted.values[static_cast<std::size_t>(run.model.find("fc"))][0] == 3072);
  const Exact exact(parse_model(kProduct, kStill), {{"batch", 1}});
  const auto state = exact.initial_state({{"fc.weight", {1, 0}}});
  const auto forward = exact.forward(state, given(3000.5));
  CHECK(forward.values[static_cast<std::size_t>(exact.find("fc"))][0] == 3000.5);
  CHECK(exact.step(state, given(3000.5)).state.delayed.empty());
  const Evaluator<Bounded> bounded(parse_model(kProduct, kStill), {{"batch", 1}});
  const auto start = bounded.initial_state({{"fc.weight", {Bounded(1), Bounded(0)}}});
  CHECK_THROWS_AS((void)bounded.forward(start, given(Bounded(1))), std::domain_error);
  for (const auto& [name, scale] : run.state.delayed) {
    CAPTURE(name);
    CHECK(!name.starts_with("wanted"));
  }
}
