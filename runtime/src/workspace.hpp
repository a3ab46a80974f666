// SPDX-License-Identifier: Apache-2.0
// Where the kernels of a program work beside their buffers. Launches follow one another, so one
// piece of memory serves them all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/manifest/plan.hpp"

namespace halftone {

struct WorkspaceLayout {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> offsets;  ///< by kernel; -1 for those without a workspace
};

/// Parts that must hold zeros between launches lie in front, where no other kernel writes but
/// those that leave zeros too; what follows them is shared. `used`: indices into target.kernels.
[[nodiscard]] WorkspaceLayout plan_workspaces(const manifest::CudaTarget& target,
                                              std::span<const std::size_t> used,
                                              std::span<const std::int64_t> symbols);

/// How many bytes behind its place in the layout for the `planned` sizes a kernel's workspace
/// begins for smaller ones, so that its zeroed parts end at the same address.
[[nodiscard]] std::int64_t workspace_shift(const manifest::CudaKernel& kernel,
                                           std::span<const std::int64_t> planned,
                                           std::span<const std::int64_t> symbols);

}  // namespace halftone
