// SPDX-License-Identifier: Apache-2.0
// Fits target = 3 x0 - x1 with both models; exit status 0 when each has brought its error below a
// hundredth.
#include <array>
#include <cstdio>
#include <gate.hpp>
#include <halftone/device.hpp>
#include <line.hpp>

namespace {

constexpr std::array<float, 8> kInputs = {0, 0, 0, 1, 1, 0, 1, 1};
constexpr std::array<float, 4> kTargets = {0, -1, 3, 2};

template <class Trainer>
bool trains(const char* name) {
  const auto device = halftone::Device::named_by_environment().value_or(halftone::Device::cpu());
  Trainer trainer(device, {.batch = 4, .seed = 1});
  trainer.step(kInputs, kTargets);
  const float before = trainer.loss("error");
  for (int i = 0; i < 500; ++i) trainer.step(kInputs, kTargets);
  const float after = trainer.loss("error");
  std::printf("%s: error %g, then %g\n", name, before, after);
  return after < 0.01f * before;
}

}  // namespace

int main() {
  const bool line = trains<models::line::Trainer>("line");
  const bool gate = trains<models::gate::Trainer>("gate");
  return line && gate ? 0 : 1;
}
