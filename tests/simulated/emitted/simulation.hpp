// SPDX-License-Identifier: Apache-2.0
// Simulated devices with launch options and a compiler of a test's choosing.
#pragma once

#include <string>

#include "driver_context.hpp"
#include "halftone/device.hpp"
#include "halftone/simulator/device.hpp"
#include "simulator/src/simulated_driver.hpp"

namespace halftone::tests {

/// NVRTC, through the cache that the environment describes.
[[nodiscard]] std::string compile_with_nvrtc(const std::string& text, const std::string& name,
                                             const std::string& architecture);

/// clang's CUDA front end, without contraction of products and sums, through the same cache. Throws
/// std::runtime_error with its messages.
[[nodiscard]] std::string compile_with_clang(const std::string& text, const std::string& name,
                                             const std::string& architecture);

/// Why compile_with_clang cannot be used here; empty when it can.
[[nodiscard]] std::string clang_missing();

/// PTX of a kernel that is loaded and never launched.
[[nodiscard]] std::string empty_kernel(const std::string& entry, const std::string& architecture);

/// `observe` is told of every launch.
[[nodiscard]] Device simulated(const std::string& chip,
                               const simulator::LaunchOptions& options = {},
                               CompileKernel compile = compile_with_nvrtc,
                               SimulatedDriver::Observe observe = {});

/// The same under options of the driver, where simulated() checks each launch.
[[nodiscard]] Device simulated_under(const DriverOptions& driver_options, const std::string& chip,
                                     const simulator::LaunchOptions& options = {},
                                     CompileKernel compile = compile_with_nvrtc,
                                     SimulatedDriver::Observe observe = {});

/// Its steps are graphs, whose other streams run early and late in turn.
[[nodiscard]] Device in_graphs(const std::string& chip);

}  // namespace halftone::tests
