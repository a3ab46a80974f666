// SPDX-License-Identifier: Apache-2.0
// A choice by memory (P92 of docs/spec/precision.md): of artifacts of one model under other rules,
// best first, that whose training fits what a device has left.
//
//   const std::vector<Artifact> artifacts = {models::gpt_f32::artifact(),
//                                            models::gpt_states_in_host::artifact()};
//   const Binding batch{"batch", 32};
//   const Fit fit = first_that_fits(artifacts, device, {.bindings = {&batch, 1}});
//   std::puts(fit.why.c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "halftone/artifact.hpp"
#include "halftone/device.hpp"
#include "halftone/values.hpp"

namespace halftone {

struct Fit {
  std::size_t index = 0;        ///< of the artifact in the list
  std::int64_t bytes = 0;       ///< StageMemory::bytes() of its largest stage
  std::int64_t host_bytes = 0;  ///< StageMemory::host (P91, P98)
  std::int64_t free_bytes = 0;  ///< Device::free_bytes()
  std::string why;              ///< in one line, which those before it failed for, too
};

/// The first whose trainer would take at most the share `most_of_free` of what is free: the rest is
/// for what plan_stages() does not count, as what kernels work in, kernels and the driver's own.
/// Of the device's memory; of the host's too, for what rules place there. What is free may change
/// between this call and the trainer's. Throws Error where none fits, the list is empty, the share
/// is not in (0, 1], and as plan_stages() and Device::free_bytes() do.
[[nodiscard]] Fit first_that_fits(std::span<const Artifact> artifacts, const Device& device,
                                  const Setup& setup, double most_of_free = 0.9);

}  // namespace halftone
