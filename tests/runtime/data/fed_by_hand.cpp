// SPDX-License-Identifier: Apache-2.0
// A program that trains without a loader; the test looks at what was linked into it.
#include <array>

#include "generated_example.hpp"
#include "halftone/device.hpp"

int main() {
  models::line::Trainer trainer(halftone::Device::cpu(), {.batch = 1});
  trainer.step(std::array{1.0f, 2.0f, 3.0f}, std::array{1.0f, 2.0f});
  return trainer.updated() ? 0 : 1;
}
