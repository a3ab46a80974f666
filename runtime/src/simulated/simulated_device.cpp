// SPDX-License-Identifier: Apache-2.0
#include "simulated_device.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../cache/kernel_cache.hpp"
#include "../cuda/nvrtc.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"
#include "halftone/simulator/device.hpp"

namespace halftone {
namespace {

[[noreturn]] void refuse(std::string_view chip) {
  std::vector<std::string_view> known;
  for (const simulator::Chip& each : process_simulator().chips()) known.push_back(each.name);
  throw Error({.operation = "device",
               .object = named("device", "simulated:" + std::string(chip)),
               .cause = "is of no chip that can be simulated",
               .hint = "the simulator knows " + listed(known)});
}

}  // namespace

void require_simulated_chip(std::string_view chip) {
  const auto chips = process_simulator().chips();
  if (std::ranges::find(chips, chip, &simulator::Chip::name) == chips.end()) refuse(chip);
}

std::shared_ptr<DriverContext> open_simulated_device(std::string_view chip,
                                                     const DriverOptions& driver_options,
                                                     int threads, ObserveLaunch observe) {
  const std::string name = "simulated:" + std::string(chip);
  const SimulatorLibrary& library = process_simulator();
  simulator::LaunchOptions options;
  options.traffic = static_cast<bool>(observe);
  options.threads = static_cast<unsigned>(threads);
  std::unique_ptr<Driver> driver = library.open(chip, options, std::move(observe));
  if (!driver) refuse(chip);
  return std::make_shared<DriverContext>(
      name, std::move(driver),
      cached(
          [](const std::string& text, const std::string& kernel, const std::string& architecture) {
            return Nvrtc::instance().compile_ptx(text, kernel, architecture);
          },
          process_kernel_cache(),
          [](const std::string& architecture) {
            return Nvrtc::instance().ptx_compiler(architecture);
          }),
      driver_options);
}

}  // namespace halftone
