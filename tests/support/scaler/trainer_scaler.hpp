// SPDX-License-Identifier: Apache-2.0
// Generated code of a model of tests/support/scaler/models as a loss scale under test.
#pragma once

#include <optional>
#include <utility>

#include "halftone/device.hpp"
#include "halftone/trainer.hpp"
#include "models.hpp"

namespace halftone::tests {

/// The schedule's settings must be the model's (take_from). Micro-batches are rows of one batch:
/// the loss divides by their number, as torch's users do.
class TrainerScaler final : public ScalerUnderTest {
 public:
  TrainerScaler(const manifest::ArtifactImage& image, const std::string& variant)
      : artifact_(Artifact::linked(image)), device_(Device::cpu(variant)) {}

  void reset(const ScheduleSettings& settings) override {
    const Binding batch[] = {{"batch", settings.micro_batches}};
    trainer_.emplace(artifact_, device_, Setup{.model = "", .bindings = batch, .seed = 1});
  }

  Outcome step(const StepEvents& events) override {
    std::vector<float> inputs[2];
    for (std::size_t i = 0; i < events.gradients.size(); ++i)
      for (std::size_t optimizer = 0; optimizer < 2; ++optimizer)
        for (const float x : input_of(events, i, optimizer)) inputs[optimizer].push_back(x);
    const NamedValues named[] = {{"xa", std::span<const float>(inputs[0])},
                                 {"xb", std::span<const float>(inputs[1])}};
    trainer_->step(named);
    const bool updated = trainer_->updated();
    const Statistics now = trainer_->stats();
    return {.scale = now.loss_scale, .skipped = !updated, .floored = static_cast<int>(now.floored)};
  }

  [[nodiscard]] const Trainer& trainer() const { return *trainer_; }

 private:
  Artifact artifact_;
  Device device_;
  std::optional<Trainer> trainer_;
};

}  // namespace halftone::tests
