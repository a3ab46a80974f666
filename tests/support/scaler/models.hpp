// SPDX-License-Identifier: Apache-2.0
// The models of tests/support/scaler/models: two weights of three elements whose gradients are the
// inputs, times the loss scale.
#pragma once

#include <filesystem>
#include <string>

#include "../models.hpp"
#include "schedules.hpp"

namespace halftone::tests {

/// In the order of the ARTIFACTS of record_traces.py.
inline constexpr const char* kScaledModels[] = {"scaled_momentum", "scaled_adamw",
                                                "fractions_momentum", "fractions_adamw"};

/// The same model with a scale that is always a power of two, and without a scale.
struct ScaledAndNot {
  const char* scaled;
  const char* unscaled;
};
inline constexpr ScaledAndNot kScaledAndNot[] = {{"scaled_momentum", "unscaled_momentum"},
                                                 {"scaled_adamw", "unscaled_adamw"}};

/// Hysteresis above 1, bounds that bind, and a patience that schedules with many hits exhaust.
inline constexpr const char* kBoundedModels[] = {"bounded_momentum", "bounded_adamw"};

inline description::Description load_scaler_model(const std::string& name) {
  const auto path = std::filesystem::path(HALFTONE_SCALER_TRACES) / "models" / (name + ".halftone");
  auto parsed = description::parse(read_text(path));
  if (const auto* error = std::get_if<description::ParseError>(&parsed))
    throw std::runtime_error(error->str(path.string()));
  return std::get<description::Description>(std::move(parsed));
}

/// Makes the last rule's loss scale that of `settings`, and the clip norm too.
inline void apply(const ScheduleSettings& settings, description::Description& model) {
  auto& scale = model.rules.back().loss_scale.value();
  scale.kind = description::LossScale::Kind::dynamic;
  scale.initial = settings.initial;
  scale.growth = settings.growth;
  scale.backoff = settings.backoff;
  scale.interval = settings.interval;
  scale.floor = settings.floor;
  scale.ceiling = settings.ceiling;
  scale.hysteresis = settings.hysteresis;
  scale.patience = settings.patience;
  model.clip.reset();
  if (settings.clip) model.clip = *settings.clip;
}

/// The model's loss scale and clip norm in place of those of `settings`.
inline void take_from(const description::Description& model, ScheduleSettings& settings) {
  const auto& scale = model.rules.back().loss_scale.value();
  settings.initial = static_cast<float>(scale.initial);
  settings.growth = static_cast<float>(scale.growth);
  settings.backoff = static_cast<float>(scale.backoff);
  settings.interval = static_cast<int>(scale.interval);
  settings.floor = static_cast<float>(scale.floor);
  settings.ceiling = static_cast<float>(scale.ceiling);
  settings.hysteresis = static_cast<int>(scale.hysteresis);
  settings.patience = static_cast<int>(scale.patience);
  settings.clip.reset();
  if (model.clip) settings.clip = static_cast<float>(*model.clip);
}

/// Input %xa (optimizer 0) or %xb (1) of one micro-batch; zeros for an optimizer that the schedule
/// has not got.
inline std::vector<float> input_of(const StepEvents& events, std::size_t micro_batch,
                                   std::size_t optimizer) {
  const auto& gradients = events.gradients[micro_batch];
  if (optimizer >= gradients.size()) return std::vector<float>(kElements, 0.0f);
  return {gradients[optimizer].begin(), gradients[optimizer].end()};
}

}  // namespace halftone::tests
