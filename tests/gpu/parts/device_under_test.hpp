// SPDX-License-Identifier: Apache-2.0
// The GPU that the programs of this folder are about, and the simulator beside it.
#pragma once

#include <string>

#include "halftone/device.hpp"
#include "halftone/simulator/device.hpp"

namespace halftone::tests {

/// HALFTONE_DEVICE, "cuda:0" unless it is set. Throws Skipped with the reason where it cannot be
/// used.
[[nodiscard]] Device device_under_test();

/// "sm_90a" of a device of chip "sm_90": what its kernels are compiled for and the simulator plays.
[[nodiscard]] std::string simulated_chip_of(const Device& device);

[[nodiscard]] bool is_simulated(const Device& device);

/// The simulator as the chip, with these options.
[[nodiscard]] Device simulator_of(const std::string& chip, const simulator::LaunchOptions& options);

}  // namespace halftone::tests
