// SPDX-License-Identifier: Apache-2.0
// A program that trains and predicts and does nothing else, so that a test can see what is linked
// into such a one.
#include <vector>

#include "generated_example.hpp"

int main() {
  const halftone::Device device = halftone::Device::cpu();
  models::line::Trainer trainer(device, {.batch = 1});
  const std::vector<float> features(3), target(2);
  trainer.step(features, target);
  models::line::Predictor predictor(device, {.batch = 1});
  predictor.copy_parameters(trainer);
  return predictor.predict(features).prediction.size() == 2 ? 0 : 1;
}
