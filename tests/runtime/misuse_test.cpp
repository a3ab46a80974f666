// SPDX-License-Identifier: Apache-2.0
// Every sentence that a wrong call of trainer or predictor ends in.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "changed_artifact.hpp"
#include "generated_example.hpp"
#include "message_of.hpp"
#include "test_device.hpp"

using halftone::Binding;
using halftone::Device;
using halftone::NamedValues;
using Floats = std::vector<float>;

namespace {

const Floats kFeatures(6), kTarget(4);

models::line::Trainer trainer() { return {test_device(1), {.batch = 2}}; }

std::string binding_error(std::vector<Binding> bindings) {
  return message_of([&] {
    halftone::Trainer(models::line::artifact(), test_device(1),
                      {.model = "line", .bindings = bindings});
  });
}

}  // namespace

TEST_CASE("wrong inputs of a step are refused with name, numbers and remedy") {
  halftone::Trainer erased(models::line::artifact(), test_device(1),
                           {.model = "", .bindings = std::array{Binding{"batch", 2}}});
  const std::vector<std::int32_t> integers(4);
  struct Case {
    std::vector<NamedValues> inputs;
    const char* message;
  };
  const Floats short_features(5);
  const Case cases[] = {
      {{{"features", short_features}, {"target", kTarget}},
       "step: input 'features' has 5 values, but a row of it has 3; give 1 to 2 rows, row-major"},
      {{{"features", kFeatures}, {"target", integers}},
       "step: input 'target' takes f32 values, but was given i32; give it a span of float"},
      {{{"features", kFeatures}, {"label", kTarget}},
       "step: input 'label' is unknown; it takes 'features', 'target'"},
      {{{"features", kFeatures}}, "step: input 'target' is missing; it takes 'features', 'target'"},
      {{}, "step: input 'features' is missing; it takes 'features', 'target'"},
      {{{"features", kFeatures}, {"target", kTarget}, {"features", kFeatures}},
       "step: input 'features' is given twice; give it once"},
  };
  for (const Case& c : cases) CHECK(message_of([&] { erased.step(c.inputs); }) == c.message);
  const std::span<const float> nowhere(static_cast<const float*>(nullptr), kFeatures.size());
  CHECK(message_of([&] {
          erased.step(std::array{NamedValues{"features", nowhere}, NamedValues{"target", kTarget}});
        }) ==
        "step: input 'features' was given a null pointer; give the address of its first value");
  CHECK(message_of([&] { erased.set_parameter("fc.weight", nowhere); }) ==
        "set_parameter: parameter 'fc.weight' was given a null pointer; give the address of its "
        "first value");
  CHECK(erased.stats().steps == 0);
  CHECK(message_of([&] { trainer().forward({}, kTarget); }) ==
        "forward: input 'features' has 0 values, but a row of it has 3; give 1 to 2 rows, "
        "row-major");
}

TEST_CASE("an i32 input does not take floats") {
  const ChangedArtifact changed([](auto& manifest) {
    for (std::size_t program : {0, 2}) {
      manifest.programs[program].buffers[1].encoding = halftone::manifest::Element::i32;
    }
  });
  models::line::Trainer trainer(changed.artifact(), test_device(1), {.batch = 2});
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) ==
        "step: input 'target' takes i32 values, but was given f32; give it a span of std::int32_t");
}

TEST_CASE("the parts of a step called in a wrong order say which order is right") {
  const std::string order = "; call forward, backward, check and update in this order";
  models::line::Trainer trainer = ::trainer();
  CHECK(message_of([&] { trainer.backward(); }) ==
        "backward: the trainer has not done forward() directly before" + order);
  CHECK(message_of([&] { trainer.backward(kTarget); }) ==
        "backward: the trainer has not done forward() directly before" + order);
  CHECK(message_of([&] { trainer.check(); }) ==
        "check: the trainer has not done backward() directly before" + order);
  trainer.forward(kFeatures, kTarget);
  CHECK(message_of([&] { trainer.update(); }) ==
        "update: the trainer has not done check() directly before" + order);
  trainer.backward();
  CHECK(message_of([&] { trainer.backward(); }) ==
        "backward: the trainer has not done forward() directly before" + order);
  trainer.check();
  trainer.update();
  CHECK(message_of([&] { trainer.update(); }) ==
        "update: the trainer has not done check() directly before" + order);
}

TEST_CASE("between check and update nothing else runs") {
  const std::string reason =
      ": the trainer has done check() and not update(), which belongs to it; call update() first; "
      "where gradients are not finite it changes nothing";
  models::line::Trainer trainer = ::trainer(), plain = ::trainer();
  trainer.forward(kFeatures, kTarget);
  trainer.backward();
  trainer.check();
  CHECK(message_of([&] { trainer.step(kFeatures, kTarget); }) == "step" + reason);
  CHECK(message_of([&] { trainer.forward(kFeatures, kTarget); }) == "forward" + reason);
  CHECK(message_of([&] { trainer.accumulate(kFeatures, kTarget); }) == "accumulate" + reason);
  trainer.update();
  plain.step(kFeatures, kTarget);
  for (const std::string& name : plain.parameter_names()) {
    CHECK(std::ranges::equal(trainer.parameter(name), plain.parameter(name)));
  }
}

TEST_CASE("backward after a forward without the losses' inputs is refused") {
  models::line::Trainer trainer = ::trainer();
  trainer.forward(kFeatures);
  CHECK(message_of([&] { trainer.backward(); }) ==
        "backward: the last forward() was not given the inputs that the losses need; give all "
        "inputs, or call backward() with the outputs' gradients");
}

TEST_CASE("the caller's gradients are checked like inputs") {
  models::line::Trainer trainer = ::trainer();
  trainer.forward(kFeatures);
  CHECK(message_of([&] { trainer.backward(Floats(3)); }) ==
        "backward: output gradient 'prediction' has 3 values, but batch 2 x 2 needs 4; give the "
        "whole tensor, row-major");
}

TEST_CASE("an output that takes no gradient says so") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.outputs.push_back({"again", manifest.outputs[0].buffer, ""});
  });
  models::line::Trainer trainer(changed.artifact(), test_device(1), {.batch = 2});
  trainer.forward(kFeatures);
  const std::vector<float> one(4);
  halftone::Trainer& plain = trainer;
  const std::array gradients{halftone::NamedValues{"prediction", std::span<const float>(one)},
                             halftone::NamedValues{"again", std::span<const float>(one)}};
  CHECK(message_of([&] { plain.backward(gradients); }) ==
        "backward: output 'again' takes no gradient: no loss of a weight other than 0 reads it, it "
        "depends on no trained parameter, or it is another name of one that takes it; those that "
        "take one are 'prediction'; add a loss that reads it, or add its gradient to that of its "
        "value's first name");
  plain.backward(std::span(gradients).first(1));
}

TEST_CASE("a loss that reads no output forbids the caller's gradients") {
  const ChangedArtifact changed(
      [](auto& manifest) { manifest.programs[0].loss_without_output = "penalty"; });
  models::line::Trainer trainer(changed.artifact(), test_device(1), {.batch = 2});
  trainer.forward(kFeatures);
  CHECK(message_of([&] { trainer.backward(kTarget); }) ==
        "backward: loss 'penalty' reads values that are no output, so gradients of outputs cannot "
        "stand in for it; declare what it reads as an output, or call backward() without them");
}

TEST_CASE("unknown names and wrong sizes of parameters, outputs and losses are refused") {
  models::line::Trainer trainer = ::trainer();
  CHECK(message_of([&] { (void)trainer.parameter("fc"); }) ==
        "parameter: parameter 'fc' is unknown; the model's parameters are 'fc.weight', 'fc.bias'");
  CHECK(message_of([&] { trainer.set_parameter("fc.bias", Floats(3)); }) ==
        "set_parameter: parameter 'fc.bias' has 2 values, but was given 3; give all of them, "
        "row-major");
  CHECK(message_of([&] { (void)trainer.output("logits"); }) ==
        "output: output 'logits' is unknown; the model's outputs are 'prediction'");
  CHECK(message_of([&] { (void)trainer.loss("mse"); }) ==
        "loss: loss 'mse' is unknown; the model's losses are 'error'");
}

TEST_CASE("a learning rate that is none is told in its own digits") {
  models::line::Trainer trainer = ::trainer();
  for (const auto& [rate, text] :
       {std::pair{-1e-9f, "-1e-09"}, {-1.0f, "-1"}, {INFINITY, "inf"}, {NAN, "nan"}}) {
    CHECK(message_of([&, given = rate] { trainer.set_learning_rate(given); }) ==
          "set_learning_rate: the learning rate is " + std::string(text) +
              "; give a finite number that is not negative");
  }
  CHECK(trainer.learning_rate() == 0.5f);
}

TEST_CASE("a frozen parameter has no gradient") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.parameters[1].trained = false;
    manifest.trained_elements = 32;
    for (auto [program, buffer] : {std::pair{0, 3}, {0, 12}, {2, 3}}) {
      manifest.programs[program].buffers[buffer].shape = {{32, -1}};
    }
    manifest.programs[0].phases[3].clear();
    manifest.programs[2].phases[3][0].arguments[3].offset = 0;  // where there are gradients
    manifest.outputs[0].gradient.clear();
  });
  models::line::Trainer trainer(changed.artifact(), test_device(1), {.batch = 2});
  CHECK(message_of([&] { (void)trainer.gradient("fc.bias"); }) ==
        "gradient: parameter 'fc.bias' is frozen and has no gradient");
}

TEST_CASE("symbols are bound once each, to positive sizes") {
  const std::string hint = "; the model's symbols are 'batch'";
  CHECK(binding_error({}) == "trainer: symbol 'batch' is not bound to a size" + hint);
  CHECK(binding_error({{"batch", 0}}) ==
        "trainer: symbol 'batch' is 0, but must be positive" + hint);
  CHECK(binding_error({{"batch", -4}}) ==
        "trainer: symbol 'batch' is -4, but must be positive" + hint);
  CHECK(binding_error({{"time", 4}}) == "trainer: symbol 'time' is unknown" + hint);
  CHECK(binding_error({{"batch", 4}, {"batch", 4}}) ==
        "trainer: symbol 'batch' is bound twice" + hint);
  CHECK(
      binding_error({{"batch", std::int64_t{1} << 60}}) ==
      "trainer: model 'line' with batch 1152921504606846976 needs more than 2^62 bytes of memory; "
      "bind smaller sizes or free memory");
}

TEST_CASE("a row whose length is a symbol holds at most 2^30 elements") {
  const ChangedArtifact changed([](auto& manifest) {
    manifest.kernels[0].tasks.push_back({{{1, 0}}, halftone::manifest::kMostColumns});
  });
  const auto bound = [&](std::int64_t batch) {
    return message_of([&] {
      models::line::Trainer(changed.artifact(), halftone::Device::cpu(), {.batch = batch});
    });
  };
  const std::string name = changed.artifact().manifest().kernels[0].name;
  CHECK(bound((std::int64_t{1} << 30) + 1) ==
        "trainer: symbol 'batch' is 1073741825, but the rows of kernel '" + name +
            "' hold at most 2^30 elements; bind a smaller size");
  CHECK(bound(4) == "no error");

  const ChangedArtifact padded([](auto& manifest) {
    manifest.kernels[0].tasks.push_back({{{1, 0, 1, 2}}, halftone::manifest::kMostColumns});
  });
  CHECK(message_of([&] {
          models::line::Trainer(padded.artifact(), halftone::Device::cpu(),
                                {.batch = (std::int64_t{1} << 30) - 1});
        }) == "trainer: symbol 'batch' is 1073741823, but the rows of kernel '" + name +
                  "' hold at most 2^30 elements; bind a smaller size");
}

TEST_CASE("an artifact without the program, the code or the model that is asked for is refused") {
  const ChangedArtifact no_inference(
      [](auto& manifest) { manifest.programs.erase(manifest.programs.begin() + 1); });
  CHECK(message_of([&] {
          models::line::Predictor(no_inference.artifact(), test_device(), {.batch = 2});
        }) ==
        "predictor: model 'line' has no program for inference; its artifact was made without it");

  const ChangedArtifact other_code([](auto& manifest) {
    manifest.variants = {"riscv", "aarch64-sve"};
  });
  CHECK(message_of([&] {
          models::line::Trainer(other_code.artifact(), Device::cpu("x86-64"), {.batch = 2});
        }) ==
        "trainer: model 'line' has code for 'riscv', 'aarch64-sve', but the device 'cpu:x86-64' "
        "runs 'x86-64'; choose another device or make the artifact for this one");

  const ChangedArtifact other_model([](auto& manifest) { manifest.model = "digits"; });
  CHECK(message_of(
            [&] { models::line::Trainer(other_model.artifact(), test_device(), {.batch = 2}); }) ==
        "trainer: the artifact holds model 'digits', not 'line'; load an artifact that was made "
        "from that model");
}

TEST_CASE("an artifact of the same name and another structure is refused") {
  const ChangedArtifact wider([](auto& manifest) { ++manifest.structure; });
  const std::string refusal =
      "the artifact holds another model 'line' than the program was compiled for: of other names, "
      "shapes, layers or their settings; make both from one spec, in which rules and optimizer "
      "alone may differ";
  CHECK(message_of([&] { models::line::Trainer(wider.artifact(), test_device(), {.batch = 2}); }) ==
        "trainer: " + refusal);
  CHECK(message_of([&] {
          models::line::Predictor(wider.artifact(), test_device(), {.batch = 2});
        }) == "predictor: " + refusal);
  const Binding batch{"batch", 2};
  CHECK(message_of([&] {  // who names no structure takes any
          halftone::Trainer(wider.artifact(), test_device(),
                            {.model = "line", .bindings = std::span(&batch, 1)});
        }) == "no error");
}

TEST_CASE("a size is given in any integer type, and refused where it is none") {
  const auto batch_of = [](halftone::Size size) {
    return message_of(
        [&] { models::line::Trainer(models::line::artifact(), test_device(1), {.batch = size}); });
  };
  const Floats rows(2);
  CHECK(message_of([&] {
          models::line::Trainer(models::line::artifact(), test_device(1), {.batch = rows.size()});
        }) == "no error");
  CHECK(batch_of(std::int8_t{2}) == "no error");
  CHECK(batch_of(std::uint16_t{2}) == "no error");
  CHECK(batch_of(-2) ==
        "trainer: symbol 'batch' is -2, but must be positive; the model's symbols are 'batch'");
  CHECK(batch_of(std::size_t{0}) ==
        "trainer: symbol 'batch' is 0, but must be positive; the model's symbols are 'batch'");
  CHECK(batch_of(~std::size_t{0}) ==  // not -1
        "trainer: model 'line' with batch 9223372036854775807 needs more than 2^62 bytes of "
        "memory; bind smaller sizes or free memory");
}

TEST_CASE("an argument behind the end of its buffer is refused before anything runs") {
  const ChangedArtifact changed(
      [](auto& manifest) { manifest.programs[0].phases[0][0].arguments[0].offset = 6; });
  CHECK(message_of([&] { (void)changed.artifact(); }) ==
        "artifact: the linked artifact cannot be used: the manifest is inconsistent: program "
        "'training': kernel 'line_forward' is given what lies behind the end of buffer 'features'; "
        "make it with halftonec");
}

TEST_CASE("an input of a narrower format takes floats and rounds them") {
  const ChangedArtifact changed([](auto& manifest) {
    for (std::size_t program : {0, 1, 2}) {
      manifest.programs[program].buffers[0].encoding = halftone::manifest::Element::f16;
    }
  });
  models::line::Trainer trainer(changed.artifact(), test_device(1), {.batch = 2});
  trainer.forward(Floats{1, 2, 3, 70000.0f, 5, 6}, Floats{1, 2, 3, 4});
  const auto found = trainer.diagnose();
  REQUIRE(found);
  CHECK(found->layer == "features");
  CHECK(found->element == 3);
}

TEST_CASE("a trainer or predictor that was moved from says so in every method") {
  models::line::Trainer trainer = ::trainer();
  const models::line::Trainer taken = std::move(trainer);
  models::line::Predictor predictor(test_device(1), {.batch = 2});
  const models::line::Predictor taken_too = std::move(predictor);
  models::line::Predictor whole(test_device(1), {.batch = 2});
  struct Case {
    const char* operation;
    std::function<void()> call;
  };
  // NOLINTBEGIN(bugprone-use-after-move): that is the point
  const Case trainers[] = {
      {"step", [&] { trainer.step(kFeatures, kTarget); }},
      {"accumulate", [&] { trainer.accumulate(kFeatures, kTarget); }},
      {"forward", [&] { trainer.forward(kFeatures); }},
      {"backward", [&] { trainer.backward(); }},
      {"backward", [&] { trainer.backward(kTarget); }},
      {"accumulate_gradients", [&] { trainer.accumulate_gradients(); }},
      {"check", [&] { trainer.check(); }},
      {"update", [&] { trainer.update(); }},
      {"diagnose", [&] { (void)trainer.diagnose(); }},
      {"loss", [&] { (void)trainer.loss("error"); }},
      {"output", [&] { (void)trainer.output("prediction"); }},
      {"parameter", [&] { (void)trainer.parameter("fc.bias"); }},
      {"gradient", [&] { (void)trainer.gradient("fc.bias"); }},
      {"parameter_names", [&] { (void)trainer.parameter_names(); }},
      {"set_parameter", [&] { trainer.set_parameter("fc.bias", Floats(2)); }},
      {"state_names", [&] { (void)trainer.state_names(); }},
      {"state", [&] { (void)trainer.state("mean"); }},
      {"set_state", [&] { trainer.set_state("mean", Floats(2)); }},
      {"reset_states", [&] { trainer.reset_states(); }},
      {"set_learning_rate", [&] { trainer.set_learning_rate(1.0f); }},
      {"learning_rate", [&] { (void)trainer.learning_rate(); }},
      {"set_weight_decay", [&] { trainer.set_weight_decay(1.0f); }},
      {"weight_decay", [&] { (void)trainer.weight_decay(); }},
      {"set_momentum", [&] { trainer.set_momentum(0.5f); }},
      {"momentum", [&] { (void)trainer.momentum(); }},
      {"stats", [&] { (void)trainer.stats(); }},
      {"copy_parameters", [&] { whole.copy_parameters(trainer); }},
      {"copy_parameters", [&] { trainer.copy_parameters(taken); }},
      {"parameter_shape", [&] { (void)trainer.parameter_shape("fc.bias"); }},
      {"save_weights", [&] { trainer.save_weights("weights"); }},
      {"load_weights", [&] { trainer.load_weights("weights"); }},
      {"copy_states", [&] { whole.copy_states(trainer); }},
  };
  for (const Case& c : trainers) {
    CHECK(message_of(c.call) ==
          std::string(c.operation) +
              ": the trainer was moved from; use the one that it was moved to");
  }
  const Case predictors[] = {
      {"copy_parameters", [&] { predictor.copy_parameters(taken); }},
      {"copy_parameters", [&] { whole.copy_parameters(predictor); }},
      {"parameter_shape", [&] { (void)predictor.parameter_shape("fc.bias"); }},
      {"save_weights", [&] { predictor.save_weights("weights"); }},
      {"load_weights", [&] { predictor.load_weights("weights"); }},
      {"copy_states", [&] { predictor.copy_states(taken); }},
      {"parameter_names", [&] { (void)predictor.parameter_names(); }},
      {"set_parameter", [&] { predictor.set_parameter("fc.bias", Floats(2)); }},
      {"state_names", [&] { (void)predictor.state_names(); }},
      {"state", [&] { (void)predictor.state("mean"); }},
      {"set_state", [&] { predictor.set_state("mean", Floats(2)); }},
      {"reset_states", [&] { predictor.reset_states(); }},
      {"parameter", [&] { (void)predictor.parameter("fc.bias"); }},
      {"predict", [&] { predictor.predict(kFeatures); }},
      {"output", [&] { (void)predictor.output("prediction"); }},
      {"peak_bytes_predicted", [&] { (void)predictor.peak_bytes_predicted(); }},
      {"peak_bytes_measured", [&] { (void)predictor.peak_bytes_measured(); }},
  };
  // NOLINTEND(bugprone-use-after-move)
  for (const Case& c : predictors) {
    CHECK(message_of(c.call) ==
          std::string(c.operation) +
              ": the predictor was moved from; use the one that it was moved to");
  }
}
