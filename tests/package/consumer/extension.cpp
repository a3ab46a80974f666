// SPDX-License-Identifier: Apache-2.0
// A shared library that trains, for a host that knows nothing of Halftone.
#include <array>
#include <halftone/device.hpp>
#include <line.hpp>

/// The error of target = 3 x0 - x1 before and after some steps, as a ratio.
extern "C" float train_line() {
  constexpr std::array<float, 8> kInputs = {0, 0, 0, 1, 1, 0, 1, 1};
  constexpr std::array<float, 4> kTargets = {0, -1, 3, 2};
  models::line::Trainer trainer(halftone::Device::best(models::line::artifact()), {.batch = kTargets.size(), .seed = 1});
  trainer.step(kInputs, kTargets);
  const float before = trainer.loss("error");
  for (int i = 0; i < 500; ++i) trainer.step(kInputs, kTargets);
  return trainer.loss("error") / before;
}
