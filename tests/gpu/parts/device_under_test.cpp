// SPDX-License-Identifier: Apache-2.0
#include "device_under_test.hpp"

#include <cstdlib>
#include <memory>

#include "cuda/nvrtc.hpp"
#include "driver_context.hpp"
#include "halftone/error.hpp"
#include "halftone/simulator/chip.hpp"
#include "simulator/src/simulated_driver.hpp"
#include "test_report.hpp"

namespace halftone::tests {

Device device_under_test() {
  const char* setting = std::getenv("HALFTONE_DEVICE");
  try {
    (void)Nvrtc::instance();
    if (!setting || !*setting) return Device::cuda(0);
    Device device = *Device::named_by_environment();
    if (!device.driver()) throw Skipped("HALFTONE_DEVICE names the CPU; name a GPU, or unset it");
    return device;
  } catch (const Error& error) {
    throw Skipped(error.what());
  }
}

std::string simulated_chip_of(const Device& device) {
  const std::string& chip = device.driver()->properties().chip;
  const std::string special = chip + "a";
  return simulator::find_chip(special) ? special : chip;
}

bool is_simulated(const Device& device) { return device.name().starts_with("simulated:"); }

Device simulator_of(const std::string& chip, const simulator::LaunchOptions& options) {
  return Device::driven(
      std::make_shared<DriverContext>(
          "simulated:" + chip, std::make_unique<SimulatedDriver>(chip, options),
          [](const std::string& text, const std::string& kernel, const std::string& architecture) {
            return Nvrtc::instance().compile_ptx(text, kernel, architecture);
          }),
      "a test asked for it");
}

}  // namespace halftone::tests
