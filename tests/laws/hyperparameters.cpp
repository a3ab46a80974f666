// SPDX-License-Identifier: Apache-2.0
// U3: what the host sets between steps is what the reference computes with another description; a
// checkpoint has it, and a model that has no such number says so.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <variant>

#include "artifacts.hpp"
#include "message_of.hpp"
#include "steps.hpp"
#include "tested_variant.hpp"

namespace halftone::tests {
namespace {

constexpr std::int64_t kBatch = 5;

bool decays(const description::Description& model) {
  for (const auto& node : model.nodes) {
    const auto* parameter = std::get_if<description::ParameterAttributes>(&node.attributes);
    if (parameter != nullptr && parameter->decay && !parameter->frozen) return true;
  }
  return false;
}

bool has_momentum(const description::Description& model) {
  const auto* sgd = std::get_if<description::Sgd>(&model.optimizer);
  return sgd != nullptr && sgd->momentum != 0;
}

struct Setting {
  float learning_rate, weight_decay, momentum;
};
constexpr Setting kSettings[] = {
    {0.01f, 0.5f, 0.25f}, {0.002f, 0.0f, 0.999f}, {0.02f, 0.125f, 0x1p-140f}};

/// For both: the trainer is told, and the reference gets a description that states it.
void set(Pair& pair, const Setting& to) {
  pair.trainer.set_learning_rate(to.learning_rate);
  if (decays(pair.description)) pair.trainer.set_weight_decay(to.weight_decay);
  if (has_momentum(pair.description)) pair.trainer.set_momentum(to.momentum);
  description::Description described = pair.description;
  std::visit(
      [&](auto& optimizer) {
        optimizer.learning_rate = to.learning_rate;
        optimizer.weight_decay = to.weight_decay;
      },
      described.optimizer);
  if (has_momentum(described))
    std::get<description::Sgd>(described.optimizer).momentum = to.momentum;
  pair.reference = reference::Declared(described, pair.symbols);
}

void check_values(const Trainer& trainer, const description::Description& model,
                  const Setting& expected) {
  const float decay = decays(model) ? expected.weight_decay : 0.0f;
  const float momentum = has_momentum(model) ? expected.momentum : 0.0f;
  CHECK(trainer.learning_rate() == expected.learning_rate);
  CHECK(trainer.weight_decay() == decay);
  CHECK(trainer.momentum() == momentum);
  CHECK(trainer.stats().weight_decay == decay);
  CHECK(trainer.stats().momentum == momentum);
}

}  // namespace

TEST_CASE("steps with a rate, a decay and a momentum that were set equal the reference's") {
  int with_momentum = 0, without_decay = 0;
  for (const LinkedArtifact& artifact : kArtifacts)
    for (const std::string& variant : tested_variants()) {
      CAPTURE(std::string(artifact.name));
      CAPTURE(variant);
      Pair pair(artifact.name, *artifact.image, variant, kBatch);
      for (const Setting& setting : kSettings) {
        CAPTURE(setting.momentum);
        for (int step = 0; step < 2; ++step) {
          pair.draw();
          check_step(pair);
        }
        set(pair, setting);
        check_values(pair.trainer, pair.description, setting);
      }
      pair.draw();
      check_step(pair);
      with_momentum += has_momentum(pair.description);
      without_decay += !decays(pair.description);
    }
  CHECK(with_momentum > 0);
  CHECK(without_decay > 0);
}

TEST_CASE("a checkpoint has the decay and the momentum that were set") {
  const std::string file = std::filesystem::temp_directory_path() /
                           ("halftone_hyperparameters_" + std::to_string(getpid()));
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
    set(pair, kSettings[0]);
    pair.trainer.save(file);
    Trainer other(pair.artifact, pair.device, pair.setup(2));
    const Resumed resumed = other.resume(file);
    CHECK(resumed.kept.empty());
    check_values(other, pair.description, kSettings[0]);
    pair.draw();
    pair.trainer.step(pair.named_inputs());
    other.step(pair.named_inputs());
    for (const std::string& name : other.parameter_names())
      CHECK(first_difference(other.parameter(name), pair.trainer.parameter(name)) == -1);
  }
  std::remove(file.c_str());
}

TEST_CASE("a decay or a momentum that is none, or that the model has not, is refused") {
  for (const LinkedArtifact& artifact : kArtifacts) {
    CAPTURE(std::string(artifact.name));
    Pair pair(artifact.name, *artifact.image, tested_variant, kBatch);
    Trainer& trainer = pair.trainer;
    const Setting before = {trainer.learning_rate(), trainer.weight_decay(), trainer.momentum()};
    const std::string no_part = "has no part in this model's updates; ";
    CHECK(message_of([&] { trainer.set_weight_decay(-1); }) ==
          "set_weight_decay: the weight decay " +
              (decays(pair.description)
                   ? "is -1; give a finite number that is not negative"
                   : no_part + "let some trained parameter be without no_decay"));
    CHECK(message_of([&] { trainer.set_momentum(1); }) ==
          "set_momentum: the momentum " +
              (has_momentum(pair.description) ? "is 1; give a number from 0 to below 1"
                                              : no_part + "state one, as sgd(momentum(0.9)) does"));
    if (has_momentum(pair.description))
      CHECK(message_of([&] { trainer.set_momentum(NAN); }) ==
            "set_momentum: the momentum is nan; give a number from 0 to below 1");
    check_values(trainer, pair.description, before);
  }
}

}  // namespace halftone::tests
