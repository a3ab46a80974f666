// SPDX-License-Identifier: Apache-2.0
// consumer [gate]: fits target = 3 x0 - x1 with both models; exit status 0 when each has brought
// its error below a hundredth. With `gate`, that one alone makes ten steps, which must lower it.
#include <array>
#include <cstdio>
#include <exception>
#include <gate.hpp>
#include <halftone/device.hpp>
#include <line.hpp>

namespace {

constexpr std::array<float, 8> kInputs = {0, 0, 0, 1, 1, 0, 1, 1};
constexpr std::array<float, 4> kTargets = {0, -1, 3, 2};

template <class Trainer>
bool trains(const char* name, int steps = 500, float part = 0.01f) {
  const auto device = halftone::Device::named_by_environment().value_or(halftone::Device::cpu());
  Trainer trainer(device, {.batch = 4, .seed = 1});
  trainer.step(kInputs, kTargets);
  const float before = trainer.loss("error");
  for (int i = 0; i < steps; ++i) trainer.step(kInputs, kTargets);
  const float after = trainer.loss("error");
  std::printf("%s: error %g, then %g\n", name, before, after);
  return after < part * before;
}

}  // namespace

int main(int count, char**) try {
  if (count > 1) return trains<models::gate::Trainer>("gate", 10, 1.0f) ? 0 : 1;
  const bool line = trains<models::line::Trainer>("line");
  const bool gate = trains<models::gate::Trainer>("gate");
  return line && gate ? 0 : 1;
} catch (const std::exception& error) {
  std::puts(error.what());
  return 1;
}
