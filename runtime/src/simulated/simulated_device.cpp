// SPDX-License-Identifier: Apache-2.0
#include "simulated_device.hpp"

#include <string>
#include <utility>
#include <vector>

#include "../cache/kernel_cache.hpp"
#include "../cuda/nvrtc.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"
#include "halftone/simulator/device.hpp"

namespace halftone {

std::shared_ptr<DriverContext> open_simulated_device(std::string_view chip,
                                                     const DriverOptions& driver_options,
                                                     int threads, ObserveLaunch observe) {
  const std::string name = "simulated:" + std::string(chip);
  const SimulatorLibrary& library = process_simulator();
  simulator::LaunchOptions options;
  options.traffic = static_cast<bool>(observe);
  options.threads = static_cast<unsigned>(threads);
  std::unique_ptr<Driver> driver = library.open(chip, options, std::move(observe));
  if (!driver) {
    std::vector<std::string_view> known;
    for (const simulator::Chip& each : library.chips()) known.push_back(each.name);
    throw Error({.operation = "device",
                 .object = named("device", name),
                 .cause = "is of no chip that can be simulated",
                 .hint = "the simulator knows " + listed(known)});
  }
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
