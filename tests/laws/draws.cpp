// SPDX-License-Identifier: Apache-2.0
// D35 as users see it: what seeds and predictors do to layers that draw.
#include <doctest/doctest.h>

#include <cmath>

#include "artifacts.hpp"
#include "pair.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

/// Those that `pair` began with.
void take_parameters(Trainer& trainer, const Pair& pair) {
  for (const auto& [name, values] : pair.state.parameters) trainer.set_parameter(name, values);
}

}  // namespace

TEST_CASE("trainers of one seed draw alike, those of others otherwise, in each half of the seed") {
  Pair pair("dropout", *find_artifact("dropout").image, baseline_variant, 9);
  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  const std::vector<float> expected = copied(pair.trainer.output("prediction"));
  for (const std::uint64_t seed :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32 | 1}) {
    CAPTURE(seed);
    Trainer other(pair.artifact, pair.device, pair.setup(seed));
    take_parameters(other, pair);
    other.forward(pair.named_inputs());
    const bool alike = first_difference(other.output("prediction"), expected) == -1;
    CHECK(alike == (seed == 1));
  }
}

TEST_CASE("dropout drops its rate of the elements, scales the others and draws anew every step") {
  constexpr double kRate = 0.3;
  Pair pair("dropout_f16", *find_artifact("dropout_f16").image, baseline_variant, 200);
  pair.draw();
  Predictor predictor(pair.artifact, pair.device, pair.setup(1));
  predictor.copy_parameters(pair.trainer);
  std::vector<NamedValues> x;
  for (const NamedValues& input : pair.named_inputs())
    if (input.name == "x") x.push_back(input);
  predictor.predict(x);
  const std::vector<float> whole = copied(predictor.output("hidden"));
  std::vector<float> before;
  for (int step = 0; step < 2; ++step) {
    pair.trainer.forward(pair.named_inputs());
    const std::vector<float> hidden = copied(pair.trainer.output("hidden"));
    REQUIRE(hidden.size() == whole.size());
    double dropped = 0, both = 0;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      if (hidden[i] == 0.0f) {
        CHECK_FALSE(std::signbit(hidden[i]));
        ++dropped;
        both += !before.empty() && before[i] == 0.0f;
      } else {
        const double exact = whole[i] / (1 - kRate);
        CHECK(std::fabs(hidden[i] - exact) <= 0x1.01p-11 * std::fabs(exact) + 0x1p-25);
      }
    }
    const double count = static_cast<double>(hidden.size());
    const auto is_likely = [&](double found, double rate) {
      return std::fabs(found - count * rate) <= 5 * std::sqrt(count * rate * (1 - rate));
    };
    CHECK(is_likely(dropped, kRate));
    if (step == 1) CHECK(is_likely(both, kRate * kRate));
    before = hidden;
    pair.trainer.step(pair.named_inputs());
    take_parameters(pair.trainer, pair);
  }
}

}  // namespace halftone::tests
