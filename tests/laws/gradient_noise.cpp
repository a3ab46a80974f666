// SPDX-License-Identifier: Apache-2.0
// How noisy gradients are (P93): the estimate beside the formula over all elements, spelled out
// here in f64, and the moves that follow from it.
#include "halftone/gradient_noise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "adaptation_pair.hpp"
#include "message_of.hpp"

namespace halftone::tests {
namespace {

using Gradient = std::vector<double>;

/// Of the parameters of fc or head, or both, without the loss scale `scale`.
Gradient gradient_of(const Trainer& trainer, double scale, const std::string& layer = {}) {
  Gradient all;
  for (const std::string& name : trainer.parameter_names()) {
    if (!name.starts_with(layer)) continue;
    for (const float value : trainer.gradient(name)) all.push_back(value / scale);
  }
  return all;
}

double square_of(const Gradient& gradient) {
  double sum = 0;
  for (const double value : gradient) sum += value * value;
  return sum;
}

double share_of(const std::vector<Gradient>& steps) {
  const auto count = static_cast<double>(steps.size());
  Gradient mean(steps.front().size());
  double squares = 0;
  for (const Gradient& step : steps) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += step[i] / count;
    squares += square_of(step) / count;
  }
  return std::min(1.0, count / (count - 1) * (1 - square_of(mean) / squares));
}

/// Inputs of one batch, and of another by as much.
void draw_near(Pair& pair, const std::vector<float>& target, float noise) {
  pair.draw();
  auto& wanted = pair.inputs.values.at("wanted");
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = target[i] + noise * wanted[i];
}

AdaptationOptions by_noise(std::int64_t window, std::int64_t steps, double least, double most) {
  return {.moves = {{.from = "f32", .to = "f16", .least_noise = least, .most_noise = most}},
          .window = window,
          .noise_steps = steps};
}

}  // namespace

TEST_CASE("the share of noise is the formula's, by layer, and 0 where batches are one") {
  for (const float noise : {0.0f, 0.3f, 3.0f}) {
    CAPTURE(noise);
    Pair pair = pair_in("f32");
    pair.trainer.set_learning_rate(0.0f);
    pair.trainer.set_weight_decay(0.0f);
    pair.draw();
    const auto x = pair.inputs.values.at("x"), target = pair.inputs.values.at("wanted");
    GradientNoise all, head("head"), weight("{fc,none}.weight");
    std::vector<Gradient> steps, steps_of_head;
    for (int step = 0; step < 20; ++step) {
      CHECK(all.share().has_value() == (step >= 2));
      draw_near(pair, target, noise);
      pair.inputs.values.at("x") = x;
      pair.trainer.step(pair.named_inputs());
      for (GradientNoise* each : {&all, &head, &weight}) each->add(pair.trainer);
      steps.push_back(gradient_of(pair.trainer, 1));
      steps_of_head.push_back(gradient_of(pair.trainer, 1, "head"));
    }
    CHECK(all.steps() == 20);
    REQUIRE(all.share());
    REQUIRE(head.share());
    const double exact = share_of(steps), exact_of_head = share_of(steps_of_head);
    if (noise == 0) {
      CHECK(*all.share() < 1e-12);
      CHECK(*head.share() < 1e-12);
      CHECK(*weight.share() < 1e-12);
    } else {
      CHECK(exact > 0.02);
      CHECK(*all.share() == doctest::Approx(exact).epsilon(0.2));
      CHECK(*head.share() == doctest::Approx(exact_of_head).epsilon(0.2));
      CHECK(*weight.share() != *all.share());
    }
    all.clear();
    CHECK(all.steps() == 0);
    CHECK(!all.share());
  }
}

TEST_CASE("loss scale and number of micro-batches are no noise, and skipped steps do not count") {
  Pair pair = make_pair(find_artifact("stages"), tested_variant, kBatch);
  pair.trainer.enter("full");  // whose loss scale doubles every third step
  pair.trainer.set_learning_rate(0.0f);
  pair.draw();
  const auto inputs = pair.inputs;
  GradientNoise noise;
  std::vector<float> scales;
  std::vector<Gradient> steps;
  for (int step = 0; step < 9; ++step) {
    pair.inputs = inputs;
    if (step == 5) pair.spoil(std::numeric_limits<float>::infinity());
    if (step == 7) pair.trainer.accumulate(pair.named_inputs());
    scales.push_back(pair.trainer.stats().loss_scale);
    pair.trainer.step(pair.named_inputs());
    CHECK(pair.trainer.updated() == (step != 5));
    noise.add(pair.trainer);
    if (step == 5) continue;
    steps.push_back(gradient_of(pair.trainer, scales.back() * (step == 7 ? 2 : 1)));
  }
  CHECK(scales[4] > scales[1]);
  CHECK(scales[6] < scales[4]);
  CHECK(noise.steps() == 8);
  REQUIRE(noise.share());
  // Dropout is, and as much as the formula says.
  CHECK(*noise.share() == doctest::Approx(share_of(steps)).epsilon(0.2));
}

TEST_CASE("a stage is left where the gradients' noise falls below a share, or rises above one") {
  const auto why = [](float noise, double least, double most) {
    Pair pair = pair_in("f32");
    pair.trainer.set_learning_rate(0.0f);
    pair.draw();
    const auto x = pair.inputs.values.at("x"), target = pair.inputs.values.at("wanted");
    Adaptation adaptation(by_noise(10, 4, least, most));
    std::string found;
    std::vector<Gradient> last;
    for (int step = 1; step <= 10; ++step) {
      // What comes before the last four is of no account.
      draw_near(pair, target, step <= 6 ? 3.0f : noise);
      pair.inputs.values.at("x") = x;
      pair.trainer.step(pair.named_inputs());
      if (step > 6) last.push_back(gradient_of(pair.trainer, 1));
      const auto window = adaptation.step(pair.trainer);
      CHECK(window.has_value() == (step == 10));
      if (!window) continue;
      REQUIRE(window->noise.size() == 1);
      REQUIRE(window->noise[0]);
      CHECK(*window->noise[0] == doctest::Approx(share_of(last)).epsilon(0.25));
      if (window->taken) found = window->taken->why;
    }
    CHECK((pair.trainer.stage() == "f16") == !found.empty());
    return found;
  };
  CHECK(why(0.0f, 0.01, 1.0).ends_with(" are noise of their batches, less than 1 %"));
  CHECK(why(0.0f, 0.0, 0.5).empty());
  CHECK(why(3.0f, 0.01, 1.0).empty());
  CHECK(why(3.0f, 0.0, 0.01).starts_with("of the gradients' squares of '**' "));
  CHECK(why(3.0f, 0.0, 0.01).ends_with(" are noise of their batches, more than 1 %"));
}

TEST_CASE("what was measured of noise goes through text, in the middle of a measurement") {
  Pair pair = pair_in("f32");
  Adaptation whole(by_noise(4, 4, 0.5, 1.0)), again(by_noise(4, 4, 0.5, 1.0));
  for (int step = 1; step <= 4; ++step) {
    CAPTURE(step);
    pair.draw();
    pair.trainer.step(pair.named_inputs());
    const auto expected = whole.step(pair.trainer);
    if (step < 4) {
      Adaptation next(by_noise(4, 4, 0.5, 1.0));
      if (step > 1) next.restore(again.state());
      (void)next.step(pair.trainer);
      again = next;
      CHECK(again.state() == whole.state());
      continue;
    }
    pair.trainer.enter("f32");
    const auto found = again.step(pair.trainer);
    REQUIRE(found);
    REQUIRE(expected);
    CHECK(found->noise == expected->noise);
  }
  const std::string state = again.state();
  CHECK(state == "0 0 0 0;0");
  for (const char* wrong : {"0 0 0 0", "0 0 0 0;", "0 0 0 0;1", "0 0 0 0;0;0", "0 0 0 0;-1",
                            "0 0 0 0;1 2 3", "0 0 0 0;0 ", "0 0 0;0"}) {
    CAPTURE(std::string(wrong));
    CHECK(!message_of([&] { again.restore(wrong); }).empty());
    CHECK(again.state() == state);
  }
}

TEST_CASE("measurements of noise that cannot be are refused") {
  CHECK(message_of([] { Adaptation(by_noise(4, 1, 0.5, 1.0)); }) ==
        "adapt stages: the noise of gradients is measured over 1 steps of a window of 4; give 2 or "
        "more, and no more than the window's");
  CHECK(!message_of([] { Adaptation(by_noise(4, 5, 0.5, 1.0)); }).empty());
  CHECK(
      message_of([] { Adaptation(by_noise(4, 4, -0.5, 1.0)); }) ==
      "adapt stages: the move from 'f32' to 'f16' states least_noise as -0.5; give a share from 0 "
      "to 1");
  Pair pair = pair_in("f32");
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  CHECK(message_of([&] { GradientNoise("haed").add(pair.trainer); }) ==
        "measure the noise of gradients: layers 'haed' have no trained parameter; name others");
}

}  // namespace halftone::tests
