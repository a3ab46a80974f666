// SPDX-License-Identifier: Apache-2.0
// A model by hand: prediction = features * weight^T + bias, rounded to tf32; mean squared error,
// sgd and a dynamic loss scale that starts at its floor, 1. Its kernels are plain C++ and write
// down how they were called, so that tests see what the runtime did. Where LINE_ON_DRIVER is
// defined the artifact also has the target sm_80, whose kernels fake_driver.cpp runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halftone/manifest/manifest.hpp"

extern "C" const halftone::manifest::ArtifactImage halftone_artifact_line;

namespace hand_made {

inline constexpr std::int64_t kFeatures = 3, kTargets = 2;
inline constexpr std::int64_t kBiasOffset = 32, kParameterElements = 64;
inline constexpr std::int64_t kPatience = 3;
inline constexpr std::uint64_t kLineStructure = 0x11ae;

[[nodiscard]] halftone::manifest::Manifest manifest();

/// Adds to training and diagnosis what writes down the counters that it finds.
void let_draw(halftone::manifest::Manifest& manifest);

using Counters = std::array<std::uint32_t, halftone::manifest::kCounters>;

/// What was found since the last call, in the order of the launches.
[[nodiscard]] std::vector<Counters> take_counters();

/// One call of an entry.
struct Call {
  std::string kernel;  ///< ends in ".finish" for a finish, in ".packing" where it packs its rhs
  std::int64_t first = 0, last = 0;
  std::uint32_t mxcsr = 0;
};

/// Starts an empty record.
void start_recording();

/// Stops, and returns the calls in the order in which they began.
[[nodiscard]] std::vector<Call> stop_recording();

/// The next kernel that runs calls this first, once.
void run_in_next_kernel(std::function<void()> action);

}  // namespace hand_made
