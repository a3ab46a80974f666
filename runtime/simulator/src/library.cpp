// SPDX-License-Identifier: Apache-2.0
// What libhalftone_simulator.so exports.
#include "halftone/manifest/version.hpp"
#include "simulated_driver.hpp"

namespace halftone {
namespace {

std::unique_ptr<Driver> open(std::string_view chip, const simulator::LaunchOptions& options,
                             ObserveLaunch observe) {
  if (!simulator::find_chip(chip)) return nullptr;
  return std::make_unique<SimulatedDriver>(chip, options, std::move(observe));
}

constexpr SimulatorLibrary kLibrary = {
    .version = kVersionOfHalftone,
    .interface = HALFTONE_SIMULATOR_INTERFACE,
    .chips = simulator::chips,
    .open = open,
};

}  // namespace
}  // namespace halftone

extern "C" [[gnu::visibility("default")]] const halftone::SimulatorLibrary* halftone_simulator() {
  return &halftone::kLibrary;
}
