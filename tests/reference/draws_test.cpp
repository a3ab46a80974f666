// SPDX-License-Identifier: Apache-2.0
// D35: what layers draw by, and the hash of their names.
#include "halftone/reference/draws.hpp"

#define XXH_INLINE_ALL
#include <doctest/doctest.h>
#include <xxhash.h>

#include <limits>
#include <string>

#include "halftone/description/text.hpp"
#include "halftone/reference/evaluator.hpp"
#include "xxh3.hpp"

using namespace halftone::reference;
namespace description = halftone::description;

namespace {

// One loss over x and a weight; its gradient is finite where x is.
Declared evaluator() {
  auto parsed = description::parse(R"(halftone description 1
model "m"
input %x : f32[batch, 2]
parameter %w : [1, 2] init constant(0)
%y = linear(x: %x, weight: %w) : [batch, 1]
%loss = mse(x: %y, target: %y) : []
output "y" = %y
loss %loss weight 1
rule everywhere : store f32
optimizer sgd learning_rate 0.5 momentum 0 weight_decay 0
)");
  return Declared(std::get<description::Description>(std::move(parsed)), {{"batch", 1}});
}

Inputs<float> inputs(float x) { return {{{"x", {x, 1}}}, {}}; }

void check(const Draws& draws, std::uint32_t step, std::uint32_t micro_batch) {
  CHECK(draws.training);
  CHECK(draws.seed == 77);
  CHECK(draws.step == step);
  CHECK(draws.micro_batch == micro_batch);
}

}  // namespace

TEST_CASE("names are hashed as xxHash does, whatever their length") {
  std::string name;
  std::uint32_t letter = 1;
  for (int length = 0; length < 3000; ++length) {
    CAPTURE(length);
    CHECK(xxh3(name) == XXH3_64bits(name.data(), name.size()));
    letter = letter * 1664525u + 1013904223u;
    name.push_back(static_cast<char>(letter >> 24));
  }
}

TEST_CASE(
    "a pass counts the steps that ended, skipped ones too, and the micro-batches that joined") {
  const Declared reference = evaluator();
  State<float> state = reference.initial_state({{"w", {1, 2}}});
  state.seed = 77;
  check(reference.forward(state, inputs(1)).draws, 0, 0);
  state.micro_batches = 3;
  check(reference.forward(state, inputs(1)).draws, 0, 3);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {1.0f, infinity, 1.0f}) {
    const auto ended = reference.step(state, inputs(x));
    CHECK(ended.finite == (x == 1));
    state = ended.state;
    state.micro_batches = 0;
  }
  check(reference.forward(state, inputs(1)).draws, 3, 0);
  CHECK(state.steps == 2);
  CHECK_FALSE(reference.predict(state, inputs(1)).draws.training);
}

TEST_CASE("a step of several micro-batches leaves none that joined the next one") {
  const Declared reference = evaluator();
  const State<float> state = reference.initial_state({{"w", {1, 2}}});
  const Inputs<float> parts[] = {inputs(1), inputs(2), inputs(3)};
  const State<float> after = reference.step(state, parts).state;
  CHECK(after.micro_batches == 0);
  CHECK(after.ended == 1);
}
