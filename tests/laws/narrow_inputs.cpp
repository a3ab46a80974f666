// SPDX-License-Identifier: Apache-2.0
// D16: inputs of integers and of 16 bits reach a trainer as they are stored, by hand and by a
// loader. That it makes the reference's values of them, same_bits.cpp and others hold the models
// narrow_inputs to.
#include <doctest/doctest.h>

#include <limits>

#include "artifacts.hpp"
#include "data/gather.hpp"
#include "halftone/description/text.hpp"
#include "halftone/loader.hpp"
#include "message_of.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {

namespace {

constexpr std::int64_t kBatch = 5;

Pair pair_of(const char* name) {
  return {name, *find_artifact(name).image, tested_variant, kBatch};
}

/// One that the pair's trainer is given in the place of its own.
NamedValues& named(std::vector<NamedValues>& inputs, std::string_view name) {
  return *std::ranges::find(inputs, name, &NamedValues::name);
}

}  // namespace

TEST_CASE("the reference makes of every u8 what a loader makes of it") {
  auto parsed = description::parse(
      "halftone description 1\nmodel \"m\"\ninput %x : u8[256] scale 0.00392156862745098 offset "
      "-0.3\n%y = relu(x: %x) : [256]\noutput \"y\" = %y\nrule everywhere : store f32\noptimizer "
      "sgd learning_rate 0 momentum 0 weight_decay 0\n");
  REQUIRE(std::holds_alternative<description::Description>(parsed));
  const auto& model = std::get<description::Description>(parsed);
  const auto how = description::input_attributes(model.nodes[0]);
  std::vector<std::uint8_t> codes(256);
  reference::Inputs<float> inputs;
  for (int i = 0; i < 256; ++i) {
    codes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
    inputs.integers["x"].push_back(i);
  }
  const reference::Declared reference(model, {});
  const auto forward = reference.predict(reference.initial_state({}), inputs);
  data::Column column = data::make_column(
      "x", "s", {256}, data::Stored::u8, {.scale = static_cast<float>(how.scale), .offset = -0.3f});
  column.begin = reinterpret_cast<const std::byte*>(codes.data());
  std::vector<float> converted(256);
  const std::int64_t row = 0;
  data::gather(column, std::span(&row, 1), std::span(converted));
  CHECK(first_difference(forward.values[0], converted) == -1);
}

TEST_CASE("a loader hands narrow inputs over as they are, and a trainer takes them") {
  Pair pair = pair_of("narrow_inputs");
  Trainer by_loader(pair.artifact, pair.device, pair.setup(1));
  pair.draw();
  std::vector<NamedValues> inputs = pair.named_inputs();
  const std::vector<Bf16> brain = [&] {
    std::vector<Bf16> codes;
    for (const float value : pair.inputs.values.at("brain"))
      codes.push_back({reference::encode({description::Element::bf16}, value)});
    return codes;
  }();
  const std::vector<F16> half = [&] {
    std::vector<F16> codes;
    for (const float value : pair.inputs.values.at("half"))
      codes.push_back({reference::encode({description::Element::f16}, value)});
    return codes;
  }();
  named(inputs, "brain").values = std::span(brain);
  named(inputs, "half").values = std::span(half);
  Loader loader(Dataset::view(inputs, kBatch), {.batch = kBatch, .shuffle = false, .threads = 0});
  const auto batch = loader.next();
  REQUIRE(batch);
  by_loader.step(batch->inputs);
  pair.trainer.step(pair.named_inputs());  // f16 and bf16 as f32
  for (const std::string& name : pair.trainer.parameter_names()) {
    CAPTURE(name);
    CHECK(first_difference(by_loader.parameter(name), pair.trainer.parameter(name)) == -1);
  }
}

TEST_CASE("another element than the model takes is refused, and nothing changes") {
  Pair pair = pair_of("narrow_inputs");
  pair.draw();
  const std::vector<float> floats(kBatch * 24);
  const std::vector<std::int32_t> integers(kBatch), many(kBatch * 24);
  std::vector<NamedValues> inputs = pair.named_inputs();
  named(inputs, "pixels").values = std::span(floats);
  CHECK(message_of([&] { pair.trainer.step(inputs); }) ==
        "step: input 'pixels' takes u8 values, but was given f32; give it a span of std::uint8_t");
  inputs = pair.named_inputs();
  named(inputs, "rank").values = std::span(integers);
  CHECK(message_of([&] { pair.trainer.step(inputs); }) ==
        "step: input 'rank' takes i64 values, but was given i32; give it a span of std::int64_t");
  inputs = pair.named_inputs();
  named(inputs, "brain").values = std::span(many);
  CHECK(message_of([&] { pair.trainer.step(inputs); }) ==
        "step: input 'brain' takes f32 or bf16 values, but was given i32; give it a span of float "
        "or halftone::Bf16");
  CHECK(pair.trainer.stats().steps == 0);
}

TEST_CASE("an i64 that i32 does not hold is no class, and diagnose() names it") {
  Pair pair = pair_of("narrow_inputs");
  for (const std::int64_t wrong :
       {std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1, std::int64_t{-1},
        std::numeric_limits<std::int64_t>::min(), std::int64_t{7}}) {
    CAPTURE(wrong);
    pair.draw();
    std::vector<NamedValues> inputs = pair.named_inputs();
    std::vector<std::int64_t> rank(kBatch, 3);
    rank[2] = wrong;
    named(inputs, "rank").values = std::span(std::as_const(rank));
    pair.trainer.step(inputs);
    CHECK_FALSE(pair.trainer.updated());
    const auto found = pair.trainer.diagnose();
    REQUIRE(found);
    CHECK(found->text() == "label 'rank': element 2 is " + std::to_string(wrong) +
                               ", but the loss 'ranked' has 7 classes");
  }
}

}  // namespace halftone::tests
