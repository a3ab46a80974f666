// SPDX-License-Identifier: Apache-2.0
// One step of the model of line_artifact.hpp, whose every value is exact in f32, worked out by
// hand:
//   prediction = {{2, 1}, {3, -1}}, prediction - target = {{2, 0}, {2, -2}}, error = (4 + 0 + 4 +
//   4) / 4 = 3, d error / d prediction = {{1, 0}, {1, -1}}, and with learning rate 0.5 the
//   parameters below.
#pragma once

#include <span>
#include <vector>

#include "generated_example.hpp"
#include "test_device.hpp"

namespace worked_example {

using Floats = std::vector<float>;

inline const Floats kWeight = {1, 0, 2, 0, 1, -1}, kBias = {1, -1};
inline const Floats kFeatures = {1, 2, 0, 0, 1, 1}, kTarget = {0, 1, 1, 1};
inline const Floats kPrediction = {2, 1, 3, -1}, kPredictionGradient = {1, 0, 1, -1};
inline const Floats kWeightGradient = {1, 3, 1, 0, -1, -1}, kBiasGradient = {2, -1};
inline const Floats kNewWeight = {0.5f, -1.5f, 1.5f, 0, 1.5f, -0.5f}, kNewBias = {0, -0.5f};

inline halftone::Device device() { return test_device(); }

/// Before the step.
inline models::line::Trainer make_trainer(
    const halftone::Artifact& artifact = models::line::artifact()) {
  models::line::Trainer trainer(artifact, device(), {.batch = 2, .seed = 1});
  trainer.set_parameter("fc.weight", kWeight);
  trainer.set_parameter("fc.bias", kBias);
  return trainer;
}

inline Floats copy(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace worked_example
