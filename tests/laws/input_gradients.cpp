// SPDX-License-Identifier: Apache-2.0
// D15: how gradients of inputs are asked for. That they are the reference's check_gradients() of
// steps.hpp holds every step of every model to.
#include <doctest/doctest.h>

#include "artifacts.hpp"
#include "message_of.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 6;

Pair pair_of(const char* name) {
  return {name, *find_artifact(name).image, tested_variant, kBatch};
}

}  // namespace

TEST_CASE("an input that wants no gradient has none, and the sentence names those that do") {
  Pair pair = pair_of("input_gradients");
  CHECK(message_of([&] { (void)pair.trainer.input_gradient("plain"); }) ==
        "input_gradient: input 'plain' wants no gradient; declare it with_gradient in the model; "
        "those that want one are 'x', 'side'");
  Pair without = pair_of("two_inputs");
  CHECK(message_of([&] { (void)without.trainer.input_gradient("left"); }) ==
        "input_gradient: input 'left' wants no gradient; declare it with_gradient in the model");
}

TEST_CASE("gradients of inputs are 0 before a backward pass, and not those of other rows") {
  Pair pair = pair_of("input_gradients");
  for (const float value : pair.trainer.input_gradient("x")) CHECK(value == 0);
  CHECK(pair.trainer.input_gradient("x").size() == kBatch * 12);
  pair.draw();
  pair.trainer.forward(pair.named_inputs());
  pair.trainer.backward();
  const auto gradient = pair.trainer.input_gradient("x");
  const std::vector<float> before(gradient.begin(), gradient.end());
  pair.trainer.forward(pair.named_inputs());
  CHECK(first_difference(pair.trainer.input_gradient("x"), before) == -1);
  auto fewer = pair.inputs.values;
  for (auto& [name, values] : fewer) values.resize(values.size() / kBatch * 2);
  std::vector<NamedValues> named;
  for (const auto& [name, values] : fewer) named.push_back({name, std::span<const float>(values)});
  pair.trainer.forward(named);
  CHECK(message_of([&] { (void)pair.trainer.input_gradient("x"); }) ==
        "input_gradient: input 'x' has a gradient of 6 rows, but a forward pass of 2 came since; "
        "read it before the next forward pass");
  pair.trainer.backward();
  CHECK(pair.trainer.input_gradient("x").size() == 2 * 12);
}

TEST_CASE("a gradient of an input that is not finite skips no step") {
  Pair pair = pair_of("input_gradients");
  pair.draw();
  // Of all that the objective depends on, the gradient of side alone reads this weight.
  auto& weight = pair.state.parameters.at("side_fc.weight");
  weight.assign(weight.size(), 3e38f);
  auto& side = pair.inputs.values.at("side");
  side.assign(side.size(), 0);
  pair.trainer.set_parameter("side_fc.weight", weight);
  const auto expected = pair.reference.backward(pair.reference.forward(pair.state, pair.inputs));
  pair.trainer.step(pair.named_inputs());
  CHECK(pair.trainer.updated());
  CHECK_FALSE(pair.trainer.diagnose());
  const auto gradient = pair.trainer.input_gradient("side");
  CHECK(first_difference(gradient, expected[pair.reference.find("side")]) == -1);
  CHECK_FALSE(std::ranges::all_of(gradient, [](float g) { return std::isfinite(g); }));
}

}  // namespace halftone::tests
