// SPDX-License-Identifier: Apache-2.0
// Training on simulated chips: the worked example, and models whose every operation is of class A
// or ordered, bit for bit as on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "artifacts.hpp"
#include "cuda/nvrtc.hpp"
#include "halftone/device.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/texts.hpp"
#include "halftone/predictor.hpp"
#include "halftone/trainer.hpp"
#include "inputs.hpp"
#include "ordered_cpu.hpp"

using halftone::Device, halftone::Trainer;
using halftone::manifest::ArtifactImage;
using namespace simulated;

namespace {

/// One device per chip, so that every text is compiled once for it.
const Device& device_of(const std::string& chip) {
  static std::map<std::string, Device> devices;
  return devices.try_emplace(chip, Device::simulated(chip)).first->second;
}

/// The same trainer on the CPU and on a simulated chip.
struct Pair {
  Pair(const ArtifactImage& image, const std::string& chip, std::int64_t batch)
      : artifact(Artifact::linked(image)),
        bindings{halftone::Binding{"batch", batch}},
        setup{.model = "", .bindings = bindings, .seed = 3},
        cpu(artifact, halftone::tests::ordered_cpu(artifact), setup),
        chip(artifact, device_of(chip), setup),
        inputs(artifact, batch, 7) {}

  void compare() const {
    for (const halftone::manifest::Parameter& parameter : artifact.manifest().parameters) {
      const std::string& name = parameter.name;
      CAPTURE(name);
      CHECK(bits(chip.parameter(name)) == bits(cpu.parameter(name)));
      if (parameter.trained) CHECK(bits(chip.gradient(name)) == bits(cpu.gradient(name)));
    }
    for (const auto& output : artifact.manifest().outputs) {
      CAPTURE(output.name);
      CHECK(bits(chip.output(output.name)) == bits(cpu.output(output.name)));
    }
    for (const auto& wanted : artifact.manifest().input_gradients) {
      CAPTURE(wanted.input);
      CHECK(bits(chip.input_gradient(wanted.input)) == bits(cpu.input_gradient(wanted.input)));
    }
    const auto a = chip.stats(), b = cpu.stats();
    CHECK(bits(std::array{a.grad_norm, a.loss_scale, a.losses[0].value}) ==
          bits(std::array{b.grad_norm, b.loss_scale, b.losses[0].value}));
    CHECK(a.skipped_steps == b.skipped_steps);
  }

  Artifact artifact;
  std::array<halftone::Binding, 1> bindings;
  halftone::Setup setup;
  Trainer cpu, chip;
  Inputs inputs;
};

}  // namespace

TEST_CASE("the worked example has on every chip the values that were worked out by hand") {
  // worked_example.hpp has the arithmetic.
  const Floats weight = {1, 0, 2, 0, 1, -1}, bias = {1, -1}, features = {1, 2, 0, 0, 1, 1},
               target = {0, 1, 1, 1};
  const Artifact artifact = Artifact::linked(halftone_artifact_worked);
  for (const char* chip : {"sm_75", "sm_80", "sm_90a"}) {
    CAPTURE(chip);
    const std::array bindings = {halftone::Binding{"batch", 2}};
    Trainer trainer(artifact, device_of(chip), {.model = "worked", .bindings = bindings});
    trainer.set_parameter("fc.weight", weight);
    trainer.set_parameter("fc.bias", bias);
    trainer.step(std::array{NamedValues{"features", std::span(features)},
                            NamedValues{"target", std::span(target)}});
    CHECK(trainer.updated());
    CHECK(copy(trainer.output("prediction")) == Floats{2, 1, 3, -1});
    CHECK(trainer.loss("error") == 3.0f);
    CHECK(copy(trainer.gradient("fc.weight")) == Floats{1, 3, 1, 0, -1, -1});
    CHECK(copy(trainer.gradient("fc.bias")) == Floats{2, -1});
    CHECK(copy(trainer.parameter("fc.weight")) == Floats{0.5f, -1.5f, 1.5f, 0, 1.5f, -0.5f});
    CHECK(copy(trainer.parameter("fc.bias")) == Floats{0, -0.5f});
    CHECK(trainer.stats().grad_norm == std::sqrt(18.0f));
    CHECK(trainer.stats().variant == chip);
  }
}

TEST_CASE("steps on simulated chips have the bits of the CPU") {
  struct Case {
    const char* model;
    const ArtifactImage* image;
    const char* chip;
    int earlier = 0;  // micro-batches before the last one of a step
  };
  const Case cases[] = {{"digits", &halftone_artifact_digits, "sm_75"},
                        {"digits", &halftone_artifact_digits, "sm_80"},
                        {"digits", &halftone_artifact_digits, "sm_90a"},
                        {"digits_bf16", &halftone_artifact_digits_bf16, "sm_80"},
                        {"digits_f16", &halftone_artifact_digits_f16, "sm_75"},
                        {"state_average", &halftone_artifact_state_average, "sm_80"},
                        {"state_average", &halftone_artifact_state_average, "sm_80", 2},
                        {"float8", &halftone_artifact_float8, "sm_75"},
                        {"float8", &halftone_artifact_float8, "sm_90a"},
                        {"input_gradients", &halftone_artifact_input_gradients, "sm_80"},
                        {"narrow_inputs", &halftone_artifact_narrow_inputs, "sm_75"},
                        {"narrow_inputs", &halftone_artifact_narrow_inputs, "sm_80"},
                        {"dropout", &halftone_artifact_dropout, "sm_75"},
                        {"dropout", &halftone_artifact_dropout, "sm_80", 2},
                        {"scaled", &halftone_artifact_scaled, "sm_75"},
                        {"scaled", &halftone_artifact_scaled, "sm_90a"},
                        {"scaled_blocks", &halftone_artifact_scaled_blocks, "sm_80", 2},
                        {"scaled_grids", &halftone_artifact_scaled_grids, "sm_75"},
                        {"scaled_grids", &halftone_artifact_scaled_grids, "sm_90a", 2},
                        {"delayed", &halftone_artifact_delayed, "sm_80"},
                        {"delayed", &halftone_artifact_delayed, "sm_90a", 2},
                        {"factors", &halftone_artifact_factors, "sm_75"},
                        {"factors", &halftone_artifact_factors, "sm_80", 2},
                        {"factors", &halftone_artifact_factors, "sm_90a"},
                        {"rotated", &halftone_artifact_rotated, "sm_75"},
                        {"rotated", &halftone_artifact_rotated, "sm_90a", 2},
                        {"vectors", &halftone_artifact_vectors, "sm_75"},
                        {"vectors", &halftone_artifact_vectors, "sm_90a", 2},
                        {"stochastic", &halftone_artifact_stochastic, "sm_75"},
                        {"stochastic", &halftone_artifact_stochastic, "sm_80", 2},
                        {"stochastic", &halftone_artifact_stochastic, "sm_90a"}};
  for (const Case& c : cases) {
    CAPTURE(c.model);
    CAPTURE(c.chip);
    CAPTURE(c.earlier);
    Pair pair(*c.image, c.chip, 13);
    for (int step = 0; step < 4; ++step) {
      CAPTURE(step);
      for (int earlier = 0; earlier < c.earlier; ++earlier) {
        pair.inputs.draw();
        for (Trainer* each : {&pair.cpu, &pair.chip}) each->accumulate(pair.inputs.named());
      }
      pair.inputs.draw();
      if (step == 2) pair.inputs.spoil();
      for (Trainer* each : {&pair.cpu, &pair.chip}) each->step(pair.inputs.named());
      const bool applied = pair.cpu.updated();
      CHECK(pair.chip.updated() == applied);
      if (step <= 2) CHECK(applied == (step != 2));
      pair.compare();
    }
  }
}

TEST_CASE("steps of fewer rows have the bits of the CPU, and those of trainers made for them") {
  struct Case {
    const char* model;
    const ArtifactImage* image;
    const char* chip;
  };
  const Case cases[] = {{"digits", &halftone_artifact_digits, "sm_80"},
                        {"digits_bf16", &halftone_artifact_digits_bf16, "sm_90a"},
                        {"scaled", &halftone_artifact_scaled, "sm_80"},
                        {"scaled_grids", &halftone_artifact_scaled_grids, "sm_80"},
                        {"dropout", &halftone_artifact_dropout, "sm_75"}};
  for (const Case& c : cases) {
    CAPTURE(c.model);
    CAPTURE(c.chip);
    Pair pair(*c.image, c.chip, 40);
    for (const std::int64_t rows : {7, 40, 1, 33}) {
      CAPTURE(rows);
      const bool is_first = rows == 7;
      Pair fresh(*c.image, c.chip, rows);
      if (is_first) fresh.chip.step(fresh.inputs.named());
      for (Trainer* each : {&pair.cpu, &pair.chip}) each->step(fresh.inputs.named());
      CHECK(pair.chip.updated());
      pair.compare();
      if (is_first) CHECK(weights_of(pair.chip) == weights_of(fresh.chip));
    }
  }
}

TEST_CASE("kernels compiled ahead of time and those compiled at the start agree to the bit") {
  ArtifactImage image = halftone_artifact_digits;
  std::vector<std::string> texts;
  halftone::manifest::DecodeError error;
  REQUIRE(halftone::manifest::unpack_texts({image.texts, image.text_bytes}, texts, error));
  const Artifact artifact = Artifact::linked(image);
  const halftone::Nvrtc& nvrtc = halftone::Nvrtc::instance();
  const auto* target = halftone::manifest::find_cuda(artifact.manifest(), "sm_80");
  REQUIRE(target);
  std::map<std::int32_t, std::string> names;  // as halftonec --aot compute_80 does
  for (const auto& kernel : target->kernels) names[kernel.text] = kernel.entry;
  for (const auto& [text, name] : names) {
    texts.push_back(halftone::manifest::entry_of(
        {text, "compute_80", "13.0",
         nvrtc.compile_cubin(texts[static_cast<std::size_t>(text)], name, "compute_80")}));
  }
  const std::vector<std::byte> packed = halftone::manifest::pack_texts(texts);
  image.texts = packed.data();
  image.text_bytes = packed.size();
  const auto weights_after = [&](const char* jit) {
    setenv("HALFTONE_JIT", jit, 1);
    const Device device = Device::simulated("sm_80");  // which asks for the setting
    unsetenv("HALFTONE_JIT");
    const Artifact whole = Artifact::linked(image);
    const halftone::Binding batch{"batch", 5};
    Trainer trainer(whole, device, {.model = "", .bindings = std::span(&batch, 1), .seed = 3});
    Inputs inputs(whole, 5, 7);
    for (int step = 0; step < 2; ++step) trainer.step(inputs.named());
    return weights_of(trainer);
  };
  CHECK(weights_after("never") == weights_after("first"));
}

TEST_CASE("two simulated chips train at once in one process") {
  Pair first(halftone_artifact_digits, "sm_80", 5), second(halftone_artifact_digits, "sm_90a", 5);
  const auto train = [](Pair& pair) {
    for (int step = 0; step < 2; ++step) pair.chip.step(pair.inputs.named());
  };
  std::thread other([&] { train(second); });
  train(first);
  other.join();
  for (Pair* pair : {&first, &second}) {
    for (int step = 0; step < 2; ++step) pair->cpu.step(pair->inputs.named());
    pair->compare();
  }
}

TEST_CASE("parts, micro-batches, diagnosis and prediction on a simulated chip are the CPU's") {
  Pair pair(halftone_artifact_digits_f16, "sm_80", 6);
  const auto both = [&](const auto& action) {
    action(pair.cpu);
    action(pair.chip);
  };
  both([&](Trainer& trainer) { trainer.accumulate(pair.inputs.named()); });
  pair.inputs.draw();
  both([&](Trainer& trainer) { trainer.step(pair.inputs.named()); });
  pair.compare();
  both([&](Trainer& trainer) {
    trainer.set_learning_rate(0.25f);
    trainer.forward(pair.inputs.named());
    trainer.backward();
    trainer.check();
    trainer.update();
  });
  pair.compare();
  const Floats gradient(60, 0.125f);
  both([&](Trainer& trainer) {
    trainer.forward(pair.inputs.named());
    trainer.backward(std::array{NamedValues{"logits", std::span(gradient)}});
    trainer.check();
    trainer.update();
    CHECK_FALSE(trainer.diagnose());
  });
  pair.compare();
  halftone::Predictor cpu(pair.artifact, halftone::tests::ordered_cpu(pair.artifact), pair.setup),
      chip(pair.artifact, device_of("sm_80"), pair.setup);
  cpu.copy_parameters(pair.cpu);
  chip.copy_parameters(pair.chip);
  const auto named = pair.inputs.named();
  const auto pixels = std::ranges::find(named, "pixels", &NamedValues::name);
  cpu.predict(std::array{*pixels});
  chip.predict(std::array{*pixels});
  CHECK(bits(chip.output("logits")) == bits(cpu.output("logits")));
  pair.inputs.spoil();
  both([&](Trainer& trainer) {
    trainer.step(pair.inputs.named());
    CHECK_FALSE(trainer.updated());
  });
  const auto found = pair.chip.diagnose(), expected = pair.cpu.diagnose();
  REQUIRE((found && expected));
  CHECK(found->text() == expected->text());
}

TEST_CASE("bytes on a simulated chip are as predicted") {
  const Pair pair(halftone_artifact_digits, "sm_80", 6);
  const auto stats = pair.chip.stats();
  CHECK(stats.peak_bytes_predicted == stats.peak_bytes_measured);
  CHECK(stats.peak_bytes_measured > 0);
}
