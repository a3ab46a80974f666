// SPDX-License-Identifier: Apache-2.0
// States of 16 bits and in blocks in the reference (P68, P86) against numpy's bits
// (record_states.py), and what M5 leaves of masters (P69) against all pairs of halves.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "halftone/reference/rounding.hpp"
#include "problem.hpp"
#include "states_expected.hpp"

using namespace halftone::reference;
using namespace halftone::reference::tests;
using halftone::description::Element;

namespace {

const char* kModel = R"(input %x : f32[40]
input %z : f32[7]
parameter %p0 : [40] init constant(0)
parameter %p1 : [7] init constant(0) no_decay learning_rate_scale 0.3
%y = add(a: %x, b: %p0) : [40]
%w = add(a: %z, b: %p1) : [7]
output "y" = %y
output "w" = %w
)";

const char* kOptimizer =
    "optimizer adamw learning_rate 0.3 beta1 0.9 beta2 0.999 epsilon 1e-08 weight_decay 0.7\n"
    "clip 0.5\n";

std::vector<float> joined(const Tensors<float>& tensors) {
  std::vector<float> all;
  for (const auto& [name, values] : tensors) all.insert(all.end(), values.begin(), values.end());
  return all;
}

Evaluator<float> evaluator_of(const std::string& rule) {
  return {parse_model(kModel + rule, kOptimizer), {}};
}

/// What masters with a remainder become as soon as they are there.
std::vector<float> settled(const std::vector<float>& masters) {
  static const Evaluator<float> evaluator =
      evaluator_of("rule everywhere : master bf16 remainder\n");
  std::vector<float> result;
  for (std::size_t at = 0; at < masters.size(); at += 40) {
    std::vector<float> part(
        masters.begin() + static_cast<std::ptrdiff_t>(at),
        masters.begin() + static_cast<std::ptrdiff_t>(std::min(at + 40, masters.size())));
    const std::size_t count = part.size();
    part.resize(40);
    const auto state = evaluator.initial_state({{"p0", part}, {"p1", std::vector<float>(7)}});
    const auto& kept = state.parameters.at("p0");
    result.insert(result.end(), kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

}  // namespace

TEST_CASE("P68, P86: states are f32 in the update and rounded behind it, as numpy has them") {
  for (const std::string store :
       {"bf16", "f16 toward_zero", "bf16 stochastic", "f8e4m3 scaled block 32 f32 saturate",
        "f8e5m2 scaled block 64 f32 saturate stochastic"}) {
    CAPTURE(store);
    std::size_t end = store.size();
    for (const char* rounding : {" toward_zero", " stochastic"})
      if (store.ends_with(rounding)) end = store.rfind(' ');
    const Evaluator<float> evaluator =
        evaluator_of("rule where role optimizer_state if_any : store " + store.substr(0, end) +
                     (end == store.size() ? "" : " rounding" + store.substr(end)) + "\n");
    State<float> state =
        evaluator.initial_state({{"p0", data<float>(40, 1)}, {"p1", data<float>(7, 2)}});
    state.seed = 0x0123456789abcdef;
    for (int step = 0; step < 5; ++step) {
      Gradients<float> gradients(evaluator.description().nodes.size());
      gradients[evaluator.find("p0")] = data<float>(40, 10 + step);
      gradients[evaluator.find("p1")] = data<float>(7, 20 + step);
      state = evaluator.update(state, gradients).state;
    }
    check_bits(kStateBits, store + " p", joined(state.parameters));
    check_bits(kStateBits, store + " first", joined(state.first_moments));
    check_bits(kStateBits, store + " second", joined(state.second_moments));
  }
}

TEST_CASE("P68: an update that is skipped leaves what was drawn") {
  const Evaluator<float> evaluator =
      evaluator_of("rule where role optimizer_state if_any : store bf16 rounding stochastic\n");
  State<float> state =
      evaluator.initial_state({{"p0", data<float>(40, 1)}, {"p1", data<float>(7, 2)}});
  Gradients<float> gradients(evaluator.description().nodes.size());
  gradients[evaluator.find("p0")] = data<float>(40, 10);
  gradients[evaluator.find("p1")] = data<float>(7, 20);
  state = evaluator.update(state, gradients).state;
  gradients[evaluator.find("p1")][3] = INFINITY;
  const auto skipped = evaluator.update(state, gradients);
  CHECK_FALSE(skipped.finite);
  CHECK(skipped.state.first_moments == state.first_moments);
  CHECK(skipped.state.second_moments == state.second_moments);
}

TEST_CASE("P86: a block's largest number is kept, and one of less than 1e-12 has no finer scale") {
  const Evaluator<float> evaluator(
      parse_model(std::string(kModel) +
                      "rule where role optimizer_state if_any : store f8e4m3 scaled block 32 f32 "
                      "saturate\n",
                  "optimizer sgd learning_rate 0.1 momentum 0.5 weight_decay 0\n"),
      {});
  State<float> state =
      evaluator.initial_state({{"p0", std::vector<float>(40)}, {"p1", std::vector<float>(7)}});
  Gradients<float> gradients(evaluator.description().nodes.size());
  std::vector<float> first(40, 0.0009f), second(7, 1e-13f);
  first[3] = -448, first[7] = 431.9f, first[8] = 432.1f, first[9] = 0.02f, first[35] = 3e-13f;
  for (std::size_t e = 32; e < 40; ++e) first[e] = e == 35 ? 2e-9f : 1e-12f;
  gradients[evaluator.find("p0")] = first;
  gradients[evaluator.find("p1")] = second;
  state = evaluator.update(state, gradients).state;
  const auto& p0 = state.first_moments.at("p0");
  CHECK(p0[3] == -448);
  CHECK(p0[7] == 416);  // of 416 and 448 the nearer one
  CHECK(p0[8] == 448);
  CHECK(p0[9] == 0.01953125f);  // ten of the least number's 2^-9
  CHECK(p0[0] == 0.0f);         // less than half of it
  const auto scale = [](float most) { return most / 448.0f; };
  CHECK(p0[35] == 448.0f * scale(2e-9f));
  CHECK(p0[32] == 0.21875f * scale(2e-9f));                         // 0.224 in its scale
  CHECK(state.first_moments.at("p1")[6] == 44.0f * scale(1e-12f));  // 44.8
}

TEST_CASE("P68: first values are rounded to the nearest") {
  const std::string adagrad =
      "optimizer adagrad learning_rate 0.3 epsilon 1e-10 weight_decay 0 initial_accumulator_value "
      "0.1\n";
  const Evaluator<float> evaluator(
      parse_model(std::string(kModel) +
                      "rule where role optimizer_state if_any : store bf16 rounding toward_zero\n",
                  adagrad),
      {});
  const auto state =
      evaluator.initial_state({{"p0", std::vector<float>(40)}, {"p1", std::vector<float>(7)}});
  CHECK(state.second_moments.at("p0")[39] == 0.10009765625f);  // 0.1 lies between 0.09960938 and it
}

TEST_CASE("M5: a master is the f32 of a bf16 that is nearest to it and of an i16, or a place off") {
  // All lower halves, beside upper ones of both parities, of both signs, at both ends.
  std::vector<float> masters;
  for (const std::uint32_t upper :
       {0x0000u, 0x0001u, 0x3f80u, 0x3f81u, 0xbf80u, 0xbfffu, 0x7f7eu, 0x7f7fu, 0x007fu, 0x0080u})
    for (std::uint32_t lower = 0; lower < 1 << 16; ++lower)
      masters.push_back(std::bit_cast<float>(upper << 16 | lower));
  const std::vector<float> kept = settled(masters);
  std::size_t wrong = 0, moved = 0;
  for (std::size_t i = 0; i < masters.size(); ++i) {
    const auto has = [](float master) {  // some i16 makes it of the bf16 nearest to it
      const std::uint32_t nearest = encode({Element::bf16}, master);
      const auto rest = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(master)) -
                        static_cast<std::int64_t>(nearest << 16);
      return rest >= -32768 && rest <= 32767;
    };
    if (has(masters[i])) {
      wrong += std::bit_cast<std::uint32_t>(kept[i]) != std::bit_cast<std::uint32_t>(masters[i]);
    } else {
      ++moved;
      wrong +=
          std::bit_cast<std::uint32_t>(kept[i]) + 1 != std::bit_cast<std::uint32_t>(masters[i]);
      wrong += !has(kept[i]);
    }
  }
  CHECK(wrong == 0);
  CHECK(moved == 5);  // one beside each even upper half
  CHECK(std::isnan(settled({NAN})[0]));
  CHECK(settled({INFINITY, -INFINITY}) == std::vector<float>{INFINITY, -INFINITY});
}

TEST_CASE("P69: averages are of what the update leaves, masters are settled behind them") {
  const std::string text = std::string(kModel) + "rule everywhere : master bf16 remainder\n";
  const Evaluator<float> evaluator(
      parse_model(text, "optimizer sgd learning_rate 1 momentum 0 weight_decay 0\naverage 0\n"),
      {});
  const float middle = std::bit_cast<float>(0x3f808000u);
  State<float> state =
      evaluator.initial_state({{"p0", std::vector<float>(40)}, {"p1", std::vector<float>(7)}});
  Gradients<float> gradients(evaluator.description().nodes.size());
  gradients[evaluator.find("p0")] = std::vector<float>(40, -middle);
  gradients[evaluator.find("p1")] = std::vector<float>(7);
  state = evaluator.update(state, gradients).state;
  CHECK(state.averages.at("p0")[0] == middle);
  CHECK(std::bit_cast<std::uint32_t>(state.parameters.at("p0")[0]) == 0x3f807fff);
}
