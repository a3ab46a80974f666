// SPDX-License-Identifier: Apache-2.0
// The user's states, read, given and begun anew, and a predictor's own.
#include <doctest/doctest.h>

#include "changed_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Predictor, models::line::Trainer;

namespace {

namespace m = halftone::manifest;

std::int32_t add_state(m::Program& program, const char* name, std::vector<m::Dimension> shape,
                       double initial) {
  const auto index = static_cast<std::int32_t>(program.buffers.size());
  const auto slot = static_cast<std::int32_t>(program.slots.size());
  program.buffers.push_back(
      {name, m::Role::state, m::Element::f32, std::move(shape), slot, initial});
  program.slots.push_back({{index}});
  return index;
}

/// "last" (batch, 2), which every update sets to the prediction, and "seen" (2), which stays at 1.
/// Inference computes with the latter in place of the bias.
void add_states(m::Manifest& manifest) {
  constexpr std::int32_t kPrediction = 4, kCast = 9;
  const m::Dimension batch{1, 0}, two{2, -1};
  for (std::size_t i : {0, 1, 2}) {
    m::Program& program = manifest.programs[i];
    const std::int32_t last = add_state(program, "last", {batch, two}, 0.0);
    const std::int32_t seen = add_state(program, "seen", {two}, 1.0);
    if (i == 1) program.phases[0][0].arguments[2] = {seen, 0};
    if (i != 0) continue;
    program.phases[static_cast<std::size_t>(m::Phase::update)].push_back(
        {kCast, {{kPrediction, 0}, {last, 0}}});
  }
}

const ChangedArtifact& with_states() {
  static const ChangedArtifact changed(add_states);
  return changed;
}

Predictor predictor_of(std::int64_t batch) {
  return {with_states().artifact(), device(), {.batch = batch}};
}

const Floats kZeros(6);

}  // namespace

TEST_CASE("states have names, are read, are given and go back to their first values") {
  Trainer trainer = make_trainer(with_states().artifact());
  CHECK(trainer.state_names() == std::vector<std::string>{"last", "seen"});
  CHECK(copy(trainer.state("last")) == Floats(4));
  CHECK(copy(trainer.state("seen")) == Floats{1, 1});
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.state("last")) == kPrediction);
  trainer.set_state("last", Floats{5, 6, 7, 8});
  trainer.set_state("seen", Floats{3, 4});
  CHECK(copy(trainer.state("last")) == Floats{5, 6, 7, 8});
  CHECK(copy(trainer.state("seen")) == Floats{3, 4});
  trainer.reset_states();
  CHECK(copy(trainer.state("last")) == Floats(4));
  CHECK(copy(trainer.state("seen")) == Floats{1, 1});
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
  CHECK(make_trainer().state_names().empty());
}

TEST_CASE("a state with rows holds a trainer and its predictor to all of them") {
  Trainer trainer = make_trainer(with_states().artifact());
  const std::string reason =
      ": input 'features' has 1 row, but state 'last' is batch 2 x 2 and takes part with all of "
      "its rows; give 2 rows, or make a ";
  CHECK(message_of([&] { trainer.step(Floats(3), Floats(2)); }) ==
        "step" + reason + "trainer for fewer");
  CHECK(message_of([&] { predictor_of(2).predict(Floats(3)); }) ==
        "predict" + reason + "predictor for fewer");
  trainer.step(kFeatures, kTarget);
  CHECK(copy(trainer.state("last")) == kPrediction);
}

TEST_CASE("a predictor computes with its own states, and changes none") {
  Predictor predictor = predictor_of(2);
  CHECK(predictor.state_names() == std::vector<std::string>{"last", "seen"});
  CHECK(copy(predictor.predict(kZeros).prediction) == Floats{1, 1, 1, 1});
  predictor.set_state("seen", Floats{2, 3});
  CHECK(copy(predictor.predict(kZeros).prediction) == Floats{2, 3, 2, 3});
  CHECK(copy(predictor.state("seen")) == Floats{2, 3});
  predictor.reset_states();
  CHECK(copy(predictor.predict(kZeros).prediction) == Floats{1, 1, 1, 1});
}

TEST_CASE("parameters are copied without the states, and states without the parameters") {
  Trainer trainer = make_trainer(with_states().artifact());
  trainer.set_state("seen", Floats{4, 5});
  Predictor predictor = predictor_of(2);
  predictor.copy_parameters(trainer);
  CHECK(copy(predictor.parameter("fc.weight")) == kWeight);
  CHECK(copy(predictor.state("seen")) == Floats{1, 1});
  predictor.set_parameter("fc.weight", kZeros);
  trainer.step(kFeatures, kTarget);
  predictor.copy_states(trainer);
  CHECK(copy(predictor.state("seen")) == Floats{4, 5});
  CHECK(copy(predictor.state("last")) == kPrediction);
  CHECK(copy(predictor.parameter("fc.weight")) == kZeros);
}

TEST_CASE("a predictor of another batch takes the parameters, and refuses states with it whole") {
  Trainer trainer = make_trainer(with_states().artifact());
  trainer.set_state("seen", Floats{4, 5});
  Predictor predictor = predictor_of(3);
  predictor.copy_parameters(trainer);
  CHECK(copy(predictor.parameter("fc.bias")) == kBias);
  CHECK(message_of([&] { predictor.copy_states(trainer); }) ==
        "copy_states: state 'last' is batch 3 x 2 in the predictor, but batch 2 x 2 in the "
        "trainer; give both the same sizes, or give it values with set_state()");
  CHECK(copy(predictor.state("seen")) == Floats{1, 1});
}

TEST_CASE("unknown states and wrong sizes are refused") {
  Trainer trainer = make_trainer(with_states().artifact());
  CHECK(message_of([&] { (void)trainer.state("mean"); }) ==
        "state: state 'mean' is unknown; the trainer's states are 'last', 'seen'");
  CHECK(message_of([&] { trainer.set_state("loss_scale", Floats(1)); }) ==
        "set_state: state 'loss_scale' is unknown; the trainer's states are 'last', 'seen'");
  CHECK(message_of([&] { trainer.set_state("last", Floats(3)); }) ==
        "set_state: state 'last' was given 3 values, but batch 2 x 2 needs 4; give the whole "
        "tensor, row-major");
  CHECK(message_of(
            [&] { trainer.set_state("seen", std::span(static_cast<const float*>(nullptr), 2)); }) ==
        "set_state: state 'seen' was given a null pointer; give the address of its first value");
  Predictor without(device(), {.batch = 2}), with = predictor_of(2);
  CHECK(message_of([&] { without.set_state("last", Floats(4)); }) ==
        "set_state: state 'last' is unknown; the predictor's states are none");
  const Trainer plain = make_trainer();
  CHECK(message_of([&] { with.copy_states(plain); }) ==
        "copy_states: state 'last' is unknown; the trainer's states are none");
  without.copy_states(trainer);
  without.reset_states();
}

TEST_CASE("parameters that differ are refused in the name of the copy, and none is copied") {
  const Trainer trainer = make_trainer();
  const auto refused = [&](auto change) {
    const ChangedArtifact changed(change);
    Predictor predictor(changed.artifact(), device(), {.batch = 2});
    predictor.set_parameter("fc.weight", kZeros);
    const std::string message = message_of([&] { predictor.copy_parameters(trainer); });
    CHECK(copy(predictor.parameter("fc.weight")) == kZeros);
    return message;
  };
  CHECK(refused([](m::Manifest& manifest) { manifest.parameters[1].name = "fc.shift"; }) ==
        "copy_parameters: parameter 'fc.shift' is none of the trainer's, which are 'fc.weight', "
        "'fc.bias'; make both from one model");
  CHECK(refused([](m::Manifest& manifest) { manifest.parameters[1].shape = {4}; }) ==
        "copy_parameters: parameter 'fc.bias' is 4 in the predictor, but 2 in the trainer; make "
        "both from one model");
}
