// SPDX-License-Identifier: Apache-2.0
// The search of the first value that is not finite, on a model by hand.
#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <functional>

#include "changed_artifact.hpp"
#include "halftone/value_statistics.hpp"
#include "line_artifact.hpp"
#include "message_of.hpp"
#include "worked_example.hpp"

using namespace worked_example;
using models::line::Trainer;

namespace {

Floats with(Floats values, std::size_t at, float value) {
  values[at] = value;
  return values;
}

constexpr const char* kDefault = "the language's default";
constexpr const char* kRule = "the rule 'where layer \"fc\" pass forward : result tf32'";

}  // namespace

TEST_CASE("the first value that is not finite is named with place, values and rule") {
  struct Case {
    std::function<void(Trainer&)> fault;
    const char *layer, *op, *pass, *role;
    std::int64_t element;
    float value, before;
    const char *format, *rule;
  };
  const auto set = [](Trainer& trainer, const char* name, const Floats& values) {
    trainer.set_parameter(name, values);
    trainer.step(kFeatures, kTarget);
  };
  const auto external = [](Trainer& trainer, const Floats& features, const Floats& gradient) {
    trainer.forward(features);
    trainer.backward(gradient);
  };
  constexpr float kHuge = 3e38f;
  const Case cases[] = {
      {[&](Trainer& t) { set(t, "fc.weight", with(kWeight, 3, NAN)); }, "fc.weight", "parameter",
       "none", "master", 3, NAN, NAN, "", kDefault},
      {[&](Trainer& t) { set(t, "fc.bias", with(kBias, 1, -INFINITY)); }, "fc.bias", "parameter",
       "none", "master", 1, -INFINITY, -INFINITY, "", kDefault},
      {[&](Trainer& t) { t.step(with(kFeatures, 4, INFINITY), kTarget); }, "features", "input",
       "none", "activation", 4, INFINITY, INFINITY, "", kDefault},
      {[&](Trainer& t) { t.step(kFeatures, with(kTarget, 2, NAN)); }, "target", "input", "none",
       "activation", 2, NAN, NAN, "", kDefault},
      {[&](Trainer& t) { external(t, kFeatures, with(kTarget, 1, NAN)); }, "prediction",
       "output_gradient", "none", "gradient", 1, NAN, NAN, "", kDefault},
      // Past f32: 2 * 3e38.
      {[&](Trainer& t) { set(t, "fc.weight", with(kWeight, 1, kHuge)); }, "fc", "linear", "forward",
       "activation", 0, INFINITY, INFINITY, "", kDefault},
      // The largest f32 rounds to a power that tf32 does not have.
      {[&](Trainer& t) {
         t.set_parameter("fc.weight", Floats(6));
         set(t, "fc.bias", with(kBias, 1, FLT_MAX));
       },
       "fc", "linear", "forward", "activation", 1, INFINITY, FLT_MAX, "tf32", kRule},
      // The square of 1e30.
      {[&](Trainer& t) { t.step(kFeatures, with(kTarget, 2, 1e30f)); }, "error", "mse", "forward",
       "activation", 1, INFINITY, INFINITY, "", kDefault},
      // 2 * 3e38 in the weight's gradient of the first row, second feature.
      {[&](Trainer& t) {
         external(t, kFeatures, {kHuge, 0, 0, 0});
       },
       "fc", "linear", "weight_gradient", "weight_gradient", 1, INFINITY, INFINITY, "", kDefault},
      {[&](Trainer& t) {
         external(t, Floats(6), {0, -kHuge, 0, -kHuge});
       },
       "fc", "linear", "weight_gradient", "weight_gradient", 1, -INFINITY, -INFINITY, "", kDefault},
  };
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    Trainer trainer = make_trainer();
    c.fault(trainer);
    const auto found = trainer.diagnose();
    REQUIRE(found);
    CHECK(found->layer == c.layer);
    CHECK(found->op == c.op);
    CHECK(found->pass == c.pass);
    CHECK(found->role == c.role);
    CHECK(found->element == c.element);
    CHECK((found->value == c.value || (std::isnan(found->value) && std::isnan(c.value))));
    CHECK((found->before == c.before || (std::isnan(found->before) && std::isnan(c.before))));
    CHECK(found->format == c.format);
    CHECK(found->rule == c.rule);
  }
}

TEST_CASE("a value that is not finite reads as one sentence") {
  CHECK(halftone::NonFinite{"fc", "linear", "forward", "activation", 7, -INFINITY, -70000.0f, "f16",
                            kRule}
            .text() ==
        "linear 'fc' in forward: element 7 of its activation was -70000 and became -inf in f16 "
        "(format by the rule 'where layer \"fc\" pass forward : result tf32')");
  CHECK(halftone::NonFinite{"xent", "cross_entropy", "input_gradient", "gradient", 0, -NAN, NAN, "",
                            kDefault}
            .text() ==
        "cross_entropy 'xent' in input_gradient: element 0 of its gradient is nan (format by the "
        "language's default)");
  CHECK(
      halftone::NonFinite{"fc.weight", "parameter", "none", "weight", 2, INFINITY, 1e6f, "f16",
                          kDefault}
          .text() ==
      "parameter 'fc.weight': element 2 was 1e+06 and became inf in f16 (format by the language's "
      "default)");
  CHECK(halftone::NonFinite{"digit", "label", "none", "activation", 5, 99, 99, "", kDefault,
                            "error", 99, 10}
            .text() == "label 'digit': element 5 is 99, but the loss 'error' has 10 classes");
  CHECK(halftone::NonFinite{"word", "token", "none", "activation", 5, 99, 99, "", kDefault, "embed",
                            99, 10}
            .text() == "token 'word': element 5 is 99, but the embedding 'embed' has 10 rows");
  CHECK(halftone::NonFinite{"x", "input", "none", "activation", 2, NAN, NAN, "", kDefault}.text() ==
        "input 'x': element 2 is nan");
}

TEST_CASE("the loss scale that the step read counts, not the next step's") {
  // 64 * 1e37 is past f32.
  const ChangedArtifact changed([](auto& manifest) {
    manifest.loss_scale.initial = 64;
    manifest.programs[0].buffers[15].initial = 64;
  });
  Trainer trainer = make_trainer(changed.artifact());
  trainer.forward(Floats(6));
  trainer.backward(Floats{1e37f, 0, 0, 0});
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->layer == "fc");
  CHECK(found->pass == "input_gradient");
  Trainer unscaled = make_trainer();
  unscaled.forward(Floats(6));
  unscaled.backward(Floats{1e37f, 0, 0, 0});
  CHECK_FALSE(unscaled.diagnose());
}

TEST_CASE("a finite step has nothing to name, whatever was called last") {
  Trainer trainer = make_trainer();
  trainer.forward(kFeatures);
  CHECK_FALSE(trainer.diagnose());
  trainer.backward(kPredictionGradient);
  CHECK_FALSE(trainer.diagnose());
  trainer.forward(kFeatures, kTarget);
  CHECK_FALSE(trainer.diagnose());
  trainer.backward();
  trainer.check();
  CHECK_FALSE(trainer.diagnose());
  trainer.update();
  CHECK_FALSE(trainer.diagnose());
  CHECK(copy(trainer.parameter("fc.weight")) == kNewWeight);
}

TEST_CASE("inputs that were not given to the last forward pass are not looked at") {
  Trainer trainer = make_trainer();
  trainer.step(kFeatures, with(kTarget, 2, NAN));
  trainer.forward(kFeatures);
  CHECK_FALSE(trainer.diagnose());
}

TEST_CASE("a diagnosis changes nothing of the training that goes on") {
  Trainer plain = make_trainer(), diagnosed = make_trainer();
  for (Trainer* trainer : {&plain, &diagnosed}) {
    trainer->forward(kFeatures, kTarget);
    if (trainer == &diagnosed) CHECK_FALSE(trainer->diagnose());
    trainer->backward();
    if (trainer == &diagnosed) CHECK_FALSE(trainer->diagnose());
    trainer->check();
    if (trainer == &diagnosed) CHECK_FALSE(trainer->diagnose());
    trainer->update();
  }
  CHECK(copy(diagnosed.parameter("fc.weight")) == kNewWeight);
  CHECK(copy(diagnosed.gradient("fc.weight")) == copy(plain.gradient("fc.weight")));
}

TEST_CASE("a step launches nothing for the diagnosis that it could be asked for") {
  const auto calls_of_a_step = [](const halftone::Artifact& artifact) {
    Trainer trainer(artifact, test_device(1), {.batch = 2, .seed = 1});
    hand_made::start_recording();
    trainer.step(with(kFeatures, 0, INFINITY), kTarget);
    return hand_made::stop_recording().size();
  };
  const ChangedArtifact without([](auto& manifest) { manifest.programs.pop_back(); });
  CHECK(calls_of_a_step(models::line::artifact()) == calls_of_a_step(without.artifact()));
}

TEST_CASE("a diagnosis that cannot be made says why") {
  CHECK(message_of([] { (void)make_trainer().diagnose(); }) ==
        "diagnose: the trainer has run nothing that could be replayed; call it after a step, "
        "forward() or backward()");
  const ChangedArtifact without([](auto& manifest) { manifest.programs.pop_back(); });
  Trainer trainer = make_trainer(without.artifact());
  trainer.step(kFeatures, kTarget);
  CHECK(message_of([&] { (void)trainer.diagnose(); }) ==
        "diagnose: model 'line' has no program for diagnosis; its artifact was made without it");
}

namespace {

/// Training and diagnosis get a state that every update sets to the prediction.
void add_moved_state(halftone::manifest::Manifest& manifest) {
  using halftone::manifest::Element, halftone::manifest::Role;
  constexpr std::int32_t kPrediction = 4, kCast = 9;
  for (std::size_t i : {0, 2}) {
    halftone::manifest::Program& program = manifest.programs[i];
    const auto index = static_cast<std::int32_t>(program.buffers.size());
    const auto slot = static_cast<std::int32_t>(program.slots.size());
    program.buffers.push_back({"last", Role::state, Element::f32, {{1, 0}, {2, -1}}, slot, 1.0});
    program.slots.push_back({{index}});
    if (i != 0) continue;
    auto& update = program.phases[static_cast<std::size_t>(halftone::manifest::Phase::update)];
    update.push_back({kCast, {{kPrediction, 0}, {index, 0}}});
  }
}

}  // namespace

TEST_CASE("an earlier micro-batch is replayed with the states that the step began with") {
  // Accumulation moves the state on, as S2 has it, and keeps what it was.
  const ChangedArtifact changed([](halftone::manifest::Manifest& manifest) {
    using halftone::manifest::Element, halftone::manifest::Phase, halftone::manifest::Role;
    add_moved_state(manifest);
    halftone::manifest::Program& training = manifest.programs[0];
    auto& update = training.phases[static_cast<std::size_t>(Phase::update)];
    training.phases[static_cast<std::size_t>(Phase::accumulate)].push_back(update.back());
    update.pop_back();
    const auto index = static_cast<std::int32_t>(training.buffers.size());
    const auto slot = static_cast<std::int32_t>(training.slots.size());
    training.buffers.push_back(
        {"before=last", Role::optimizer_state, Element::f32, {{1, 0}, {2, -1}}, slot, 1.0});
    training.slots.push_back({{index}});
  });
  Trainer trainer = make_trainer(changed.artifact());
  trainer.set_parameter("fc.weight", with(kWeight, 0, 2));
  trainer.accumulate(with(kFeatures, 0, 3e38f), kTarget);  // past f32, and into the state
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->text().starts_with("micro-batch 1 of 2, linear 'fc' in forward: element 0"));
}

TEST_CASE("after a skipped step the states are as that step read them, after another as it left") {
  const ChangedArtifact changed(add_moved_state);
  Trainer trainer = make_trainer(changed.artifact());
  trainer.set_parameter("fc.weight", with(kWeight, 1, 3e38f));  // past f32 in the forward pass
  trainer.step(kFeatures, kTarget);
  CHECK_FALSE(trainer.updated());
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->op == "linear");
  trainer.forward(kFeatures, kTarget);  // reads what the skipped step left
  const auto moved = trainer.diagnose();
  REQUIRE(moved);
  CHECK(moved->op == "state");
  CHECK(moved->layer == "last");
}

TEST_CASE("a sample tells what the rounding of a step lost, and inspect() shows parts of buffers") {
  Trainer trainer = make_trainer();
  trainer.step(with(kFeatures, 0, 1 + 0x1p-12f), kTarget);
  trainer.set_parameter("fc.weight", kWeight);  // after an applied step those that it left count
  trainer.set_parameter("fc.bias", kBias);
  const halftone::ValueSample sample = halftone::sample_values(trainer);
  CHECK(sample.step == 1);
  CHECK(sample.stage.empty());
  CHECK(sample.seconds > 0);
  REQUIRE(sample.values.size() == 1);
  const halftone::ValueStatistics& fc = sample.values[0];
  CHECK(fc.layer == "fc");
  CHECK(fc.format == "tf32");
  CHECK(fc.rule == "where layer \"fc\" pass forward : result tf32");
  CHECK(fc.elements == 4);
  CHECK(fc.flushed == 0);
  // {2 + 2^-12, 1, 3, -1} towards zero.
  const double first = 2 + 0x1p-12;
  CHECK(fc.error == doctest::Approx(0x1p-12 / std::sqrt(first * first + 11)).epsilon(1e-9));

  trainer.forward(kFeatures, kTarget);
  trainer.backward();
  std::vector<Floats> gradients;
  trainer.inspect([&](const halftone::InspectedValue& value) {
    if (value.role == "weight_gradient") gradients.push_back(copy(value.values));
  });
  CHECK(gradients == std::vector<Floats>{kWeightGradient, kBiasGradient});
}
