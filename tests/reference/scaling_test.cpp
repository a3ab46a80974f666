// SPDX-License-Identifier: Apache-2.0
// The loss scale by hand: L1 to L5, U0, U7, M4.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "problem.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;

namespace {

// The gradient of w is what the caller gives at the output, times the scale.
const char kCarrier[] = R"(input %x : f32[2]
parameter %w : [2] init constant(0)
state %last : [2] initial 0
%y = add(a: %x, b: %w) : [2]
%z = add(a: %y, b: %last) : [2]
%loss = mse(x: %z, target: %x) : []
output "y" = %y
loss %loss weight 1
assign %last = %y
)";

const char kAdamW[] =
    "optimizer adamw learning_rate 0.01 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.1\n";

std::string dynamic(const std::string& settings) {
  return "rule everywhere : loss_scale dynamic " + settings + "\n";
}

// A step whose gradient is finite or not, without the rest of it.
State<float> stepped(const Declared& evaluator, const State<float>& state, bool finite,
                     bool* exhausted = nullptr) {
  Gradients<float> gradients(evaluator.description().nodes.size());
  gradients[evaluator.find("w")] = {1, finite ? 2 : std::numeric_limits<float>::infinity()};
  const Step<float> step = evaluator.update(state, gradients);
  CHECK(step.finite == finite);
  if (exhausted != nullptr) *exhausted = step.exhausted;
  return step.state;
}

struct Trace {
  bool finite;
  Scaling after;  // scale, clean, wait, floored
};

struct Schedule {
  const char* settings;
  std::vector<Trace> steps;
};

const Schedule kSchedules[] = {
    // Growth after every second clean step, backoff at once.
    {"initial 8 growth 2 backoff 0.5 interval 2 floor 1 ceiling 1024 hysteresis 1 patience 50",
     {{true, {8, 1, 1, 0}},
      {true, {16, 0, 1, 0}},
      {true, {16, 1, 1, 0}},
      {false, {8, 0, 0, 0}},
      {false, {4, 0, -1, 0}},
      {true, {4, 1, 1, 0}},
      {true, {8, 0, 1, 0}}}},
    // A skipped step in between starts the count of clean ones anew, and two of three are forgiven.
    {"initial 8 growth 4 backoff 0.25 interval 3 floor 1 ceiling 64 hysteresis 3 patience 50",
     {{true, {8, 1, 3, 0}},
      {true, {8, 2, 3, 0}},
      {false, {8, 0, 2, 0}},
      {false, {8, 0, 1, 0}},
      {false, {2, 0, 0, 0}},
      {false, {1, 0, -1, 0}},
      {true, {1, 1, 3, 0}},
      {false, {1, 0, 2, 1}},
      {true, {1, 1, 3, 0}},
      {true, {1, 2, 3, 0}},
      {true, {4, 0, 3, 0}}}},
    // The ceiling and the floor hold; steps are floored from the first skip at the floor on.
    {"initial 3 growth 1.5 backoff 0.5 interval 1 floor 2 ceiling 5 hysteresis 1 patience 50",
     {{true, {4.5, 0, 1, 0}},
      {true, {5, 0, 1, 0}},
      {false, {2.5, 0, 0, 0}},
      {false, {2, 0, -1, 0}},
      {false, {2, 0, -2, 1}},
      {false, {2, 0, -3, 2}},
      {true, {3, 0, 1, 0}}}},
};

}  // namespace

TEST_CASE("L3, L4: the scale follows its schedule") {
  for (const Schedule& schedule : kSchedules) {
    CAPTURE(std::string(schedule.settings));
    const Declared evaluator(parse_model(kCarrier + dynamic(schedule.settings), kAdamW), {});
    State<float> state = evaluator.initial_state({{"w", {1, 2}}});
    int at = 0;
    for (const Trace& trace : schedule.steps) {
      CAPTURE(at++);
      state = stepped(evaluator, state, trace.finite);
      CAPTURE(state.scaling.scale);
      CAPTURE(state.scaling.clean);
      CAPTURE(state.scaling.wait);
      CAPTURE(state.scaling.floored);
      CHECK(state.scaling == trace.after);
    }
  }
}

TEST_CASE("L4: a step is the last one when skips at the floor reach the patience") {
  const Declared evaluator(
      parse_model(kCarrier + dynamic("initial 2 growth 2 backoff 0.5 interval 9 floor 1 ceiling 4 "
                                     "hysteresis 1 patience 2"),
                  kAdamW),
      {});
  State<float> state = evaluator.initial_state({{"w", {1, 2}}});
  bool exhausted = true;
  for (const bool expected : {false, false, true}) {
    state = stepped(evaluator, state, false, &exhausted);
    CHECK(exhausted == expected);
  }
  state = stepped(evaluator, state, true, &exhausted);
  CHECK_FALSE(exhausted);
}

TEST_CASE("L1: no scale and a fixed scale stay what they are") {
  struct Case {
    const char* rules;
    float scale;
  };
  for (const Case& c : {Case{"", 1}, Case{"rule everywhere : loss_scale fixed 96\n", 96}}) {
    const Declared evaluator(parse_model(std::string(kCarrier) + c.rules, kAdamW), {});
    State<float> state = evaluator.initial_state({{"w", {1, 2}}});
    for (const bool finite : {true, false, false, true}) {
      CHECK(state.scaling == Scaling{c.scale, 0, 0, 0});
      state = stepped(evaluator, state, finite);
    }
  }
}

TEST_CASE("U7, L5, M2, S4: a skipped step advances the scale alone") {
  const Declared evaluator(
      parse_model(kCarrier +
                      dynamic("initial 1024 growth 2 backoff 0.5 interval 9 floor 1 ceiling "
                              "4096 hysteresis 1 patience 50") +
                      "rule where role gradient : store f16\n",
                  kAdamW),
      {});
  State<float> state = evaluator.initial_state({{"w", {1, 2}}});
  state = evaluator.step(state, {{{"x", {1, 2}}}, {}}).state;
  REQUIRE(state.steps == 1);
  // The loss is finite, and so are its gradients but for f16 and the scale.
  state.states["last"] = {200, 0};
  const Step<float> skipped = evaluator.step(state, {{{"x", {3, 4}}}, {}});
  CHECK(std::isfinite(skipped.objective));
  CHECK_FALSE(skipped.finite);
  CHECK(skipped.state.parameters == state.parameters);
  CHECK(skipped.state.first_moments == state.first_moments);
  CHECK(skipped.state.second_moments == state.second_moments);
  CHECK(skipped.state.power1 == state.power1);
  CHECK(skipped.state.power2 == state.power2);
  CHECK(skipped.state.steps == 1);
  CHECK(skipped.state.states == state.states);
  CHECK(skipped.state.scaling == Scaling{512, 0, 0, 0});
}

TEST_CASE("L1: the scale is a product before the count divides") {
  const char* kMean = R"(input %x : f32[7]
parameter %w : [7] init constant(0)
%loss = mse(x: %w, target: %x) : []
loss %loss weight 0.3
rule everywhere : loss_scale fixed 1.1
)";
  const Declared evaluator(parse_model(kMean), {});
  const State<float> state = evaluator.initial_state({{"w", {3, 1, 2, 3, 4, 5, 6}}});
  const Inputs<float> inputs{{{"x", {2, 1, 2, 3, 4, 5, 6}}}, {}};
  const Gradients<float> gradients = evaluator.backward(evaluator.forward(state, inputs));
  const float scaled = 0.3f * 1.1f, s = scaled / 7.0f;
  CHECK(gradients[evaluator.find("w")][0] == s + s);
}

TEST_CASE("U0, L2: gradients are multiplied by one quotient, 1 by the product of scale and count") {
  const Declared evaluator(
      parse_model(std::string(kCarrier) + "rule everywhere : loss_scale fixed 1.1\n",
                  "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\n"),
      {});
  const State<float> state = evaluator.initial_state({{"w", {0, 0}}});
  Gradients<float> gradients(evaluator.description().nodes.size());
  gradients[evaluator.find("w")] = {11, 1};
  const float inverse = 1 / (1.1f * 3.0f);
  REQUIRE(11 * inverse != 11 / (1.1f * 3.0f));
  CHECK(evaluator.update(state, gradients, {}, 3).state.parameters.at("w") ==
        std::vector<float>{-(11 * inverse), -inverse});
}

TEST_CASE("U1: gradients whose squares overflow only while they are scaled are finite") {
  const Declared evaluator(
      parse_model(std::string(kCarrier) + "rule everywhere : loss_scale fixed 65536\n"), {});
  const State<float> state = evaluator.initial_state({{"w", {1, 2}}});
  Gradients<float> gradients(evaluator.description().nodes.size());
  gradients[evaluator.find("w")] = {0x1p+70f, 0};
  CHECK(evaluator.update(state, gradients).finite);
  CHECK(evaluator.update(state, gradients).norm == 0x1p+54f);
  gradients[evaluator.find("w")] = {0x1p+80f, 0};
  CHECK_FALSE(evaluator.update(state, gradients).finite);
}

TEST_CASE("M4: micro-batches are added one after the other and their step is that of the mean") {
  const Declared evaluator(parse_model(kCarrier), {});
  const State<float> state = evaluator.initial_state({{"w", {1, 2}}});
  const auto gradient = [&](float first, float second) {
    Gradients<float> gradients(evaluator.description().nodes.size());
    gradients[evaluator.find("w")] = {first, second};
    return gradients;
  };
  // (1 + 2^-24) + 2^-24 is 1, each sum a tie to even; the other order gives 1 + 2^-23.
  Gradients<float> sum = evaluator.accumulate(gradient(1, 3), gradient(0x1p-24f, 4));
  sum = evaluator.accumulate(std::move(sum), gradient(0x1p-24f, 5));
  CHECK(sum[evaluator.find("w")] == std::vector<float>{1, 12});
  CHECK(evaluator.update(state, gradient(2, 12), {}, 4).state ==
        evaluator.update(state, gradient(0.5, 3)).state);
  CHECK_THROWS_WITH_AS((void)evaluator.update(state, sum, {}, 0),
                       "an update of no micro-batch has no gradient; give it one or more",
                       std::invalid_argument);
}
