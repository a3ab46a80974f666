// SPDX-License-Identifier: Apache-2.0
// Runs that enter stages for what roundings did (P96): what is counted is counted again here from
// what inspect() shows, and each decision follows from it.
#include "halftone/adaptation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "adaptation_pair.hpp"
#include "halftone/error.hpp"
#include "message_of.hpp"

namespace halftone::tests {
namespace {

/// Weights with which fc is ten quarters of what draw_large() gives, 150000, past f16's 65504.
void take_large_weights(Pair& pair) {
  pair.trainer.set_parameter("fc.weight", std::vector<float>(8 * 10, 0.25f));
}
void draw_large(Pair& pair) {
  pair.draw();
  std::ranges::fill(pair.inputs.values.at("x"), 60000.0f);
}

/// The largest share of a layer's roundings that became 0 of what was not.
double flushed_of(const Trainer& trainer, const std::string& layer) {
  double most = 0.0;
  trainer.inspect([&](const InspectedValue& value) {
    if (value.layer != layer || value.before.empty()) return;
    double lost = 0.0, all = 0.0;
    for (std::size_t i = 0; i < value.before.size(); ++i) {
      all += value.before[i] != 0;
      lost += value.before[i] != 0 && value.values[i] == 0;
    }
    if (all > 0) most = std::max(most, lost / all);
  });
  return most;
}

}  // namespace

TEST_CASE("a layer leaves a stage where its own roundings lose too much, the others stay") {
  Pair pair = pair_in("f8");
  Adaptation adaptation(by_layer(3));
  std::vector<StageSwitch> taken;
  for (int step = 1; step <= 12; ++step) {
    CAPTURE(step);
    draw(pair, step <= 3 ? 1.0f : kFaint);
    pair.trainer.step(pair.named_inputs());
    const double head = flushed_of(pair.trainer, "head");
    const double others = std::max(flushed_of(pair.trainer, "act"), flushed_of(pair.trainer, "fc"));
    const std::string stage = pair.trainer.stage();
    const auto window = adaptation.step(pair.trainer);
    CHECK(window.has_value() == (step % 3 == 0));  // at the ends of windows alone
    if (!window) continue;
    CHECK(window->sample.has_value() == (stage != "f32"));
    const bool is_due = stage == "f8" ? head > 0.5 : stage == "f8_but_head" && others > 0.5;
    CHECK(window->taken.has_value() == is_due);
    if (window->taken) taken.push_back(*window->taken);
    if (window->sample) {
      double most = 0.0;
      for (const ValueStatistics& value : window->sample->values)
        if (value.layer == "head") most = std::max(most, value.flushed_share());
      CHECK(most == head);
      CHECK(window->sample->step == step);
      CHECK(window->sample->stage == stage);
    }
  }
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].step == 6);
  CHECK(taken[0].from == "f8");
  CHECK(taken[0].to == "f8_but_head");
  CHECK(taken[0].why.find("gradient of head") != std::string::npos);
  CHECK(taken[0].why.find("of what was not 0 became 0, more than 50 %") != std::string::npos);
  CHECK(taken[1].to == "f32");
  CHECK(pair.trainer.stage() == "f32");
}

TEST_CASE("a limit must be exceeded in as many windows in a row as the move says") {
  Pair pair = pair_in("f8");
  Adaptation adaptation(by_layer(1, 3));
  std::string stages;
  // Faint in the windows of an f: the third in a row moves on.
  for (const char kind : std::string("ff-ffff")) {
    draw(pair, kind == 'f' ? kFaint : 1.0f);
    pair.trainer.step(pair.named_inputs());
    (void)adaptation.step(pair.trainer);
    stages += pair.trainer.stage() == "f8" ? 'a' : 'b';
    if (stages.back() == 'b') break;
  }
  CHECK(stages == "aaaaab");
}

TEST_CASE("skipped steps count for the layer whose value was the first that is not finite") {
  const auto run = [](const std::string& layers, int spoiled) {
    Pair pair = pair_in("f16");
    Adaptation adaptation(
        {.moves = {{.from = "f16", .to = "f32", .layers = layers, .most_skipped = 0.5}},
         .window = 4});
    std::string why;
    take_large_weights(pair);
    for (int step = 0; step < 4; ++step) {
      step < spoiled ? draw_large(pair) : draw(pair);
      pair.trainer.step(pair.named_inputs());
      CHECK(pair.trainer.updated() == (step >= spoiled));
      if (const auto window = adaptation.step(pair.trainer); window && window->taken)
        why = window->taken->why;
    }
    CHECK((pair.trainer.stage() == "f32") == !why.empty());
    return why;
  };
  // A gradient past f16 is of the layer whose result's it is, not of the loss that computes it.
  const auto run_far = [](const std::string& layers) {
    Pair pair = pair_in("f16");
    Adaptation adaptation(
        {.moves = {{.from = "f16", .to = "f32", .layers = layers, .most_skipped = 0}},
         .window = 1});
    draw(pair);
    std::ranges::fill(pair.inputs.values.at("wanted"), 0x1p21f);  // times 2 / 18
    pair.trainer.step(pair.named_inputs());
    CHECK(!pair.trainer.updated());
    (void)adaptation.step(pair.trainer);
    return pair.trainer.stage();
  };
  CHECK(run_far("head") == "f32");
  CHECK(run_far("error") == "f16");
  CHECK(run_far("fc") == "f16");
  CHECK(run("**", 2).empty());  // a half is not more than a half
  CHECK(run("**", 3) == "3 of 4 steps were skipped, more than 50 %");
  CHECK(run("fc", 3) == "3 of 4 steps were skipped for values of 'fc', more than 50 %");
  CHECK(run("head", 3).empty());
}

TEST_CASE("errors and overflows are limits, of parameters by their layer, too") {
  const auto why = [](const StageMove& move, bool is_large = false) {
    Pair pair = pair_in("f16");
    Adaptation adaptation({.moves = {move}, .window = 1});
    if (is_large) take_large_weights(pair);
    is_large ? draw_large(pair) : draw(pair);
    pair.trainer.step(pair.named_inputs());
    const auto window = adaptation.step(pair.trainer);
    REQUIRE(window);
    return window->taken ? window->taken->why : std::string();
  };
  // Half of f16's last place is 2^-11 of a number: the error of a rounding is below it, and above
  // 0.
  const std::string found =
      why({.from = "f16", .to = "f32", .layers = "head", .most_error = 0x1p-20});
  CHECK(found.find("weight of head.weight in f16: an error of ") == 0);
  CHECK(why({.from = "f16", .to = "f32", .layers = "**", .most_error = 0x1p-10}).empty());
  CHECK(why({.from = "f16", .to = "f32", .layers = "fc", .most_overflowed = 0}).empty());
  CHECK(why({.from = "f16", .to = "f32", .layers = "fc", .most_overflowed = 0.01}, true)
            .find(" overflowed, more than 1 %") != std::string::npos);
}

TEST_CASE("moves that cannot be are refused") {
  const auto refusal = [](const StageMove& move) {
    return message_of([&] { Adaptation({.moves = {move}}); });
  };
  const std::string begin = "adapt stages: the move from 'a' to 'b' ";
  CHECK(message_of([] { Adaptation({.moves = {}}); }) ==
        "adapt stages: the list of moves is empty; give one or more, or train without it");
  CHECK(message_of([] {
          Adaptation({.moves = {{.from = "a", .to = "b", .most_skipped = 0}}, .window = 0});
        }) == "adapt stages: the window is of 0 steps; give 1 or more");
  CHECK(refusal({.from = "a", .to = "a", .most_skipped = 0}) ==
        "adapt stages: the move from 'a' to 'a' goes nowhere; name two stages");
  CHECK(refusal({.from = "a", .to = "b", .most_skipped = 1.5}) ==
        begin + "states most_skipped as 1.5; give a share from 0 to 1");
  CHECK(refusal({.from = "a", .to = "b", .most_error = -1}) ==
        begin + "states most_error as -1; give a number that is not negative");
  CHECK(refusal({.from = "a", .to = "b", .most_skipped = 0, .windows = 0}) ==
        begin + "is of 0 windows; give 1 or more");
  CHECK(refusal({.from = "a", .to = "b"}) ==
        begin +
            "has no limit, so that it is never made; state most_skipped, most_overflowed, "
            "most_flushed, most_error, least_noise or most_noise");
  Pair pair = pair_in("f8");
  pair.draw();
  pair.trainer.step(pair.named_inputs());
  const auto at_step = [&](const StageMove& move) {
    return message_of([&] { (void)Adaptation({.moves = {move}, .window = 1}).step(pair.trainer); });
  };
  CHECK(at_step({.from = "f8", .to = "f6", .most_skipped = 0}) ==
        "adapt stages: the move from 'f8' to 'f6' names stage 'f6', which is none of the model's; "
        "the model's stages are 'f8', 'f8_but_head', 'f16', 'f32'");
  CHECK(at_step({.from = "f8", .to = "f32", .layers = "haed", .most_flushed = 0.5}) ==
        "adapt stages: the move from 'f8' to 'f32' is about layers 'haed', of which stage 'f8' "
        "rounds no value; name others, or leave its limits on values out");
}

}  // namespace halftone::tests
