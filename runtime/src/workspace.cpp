// SPDX-License-Identifier: Apache-2.0
#include "workspace.hpp"

#include <algorithm>

namespace halftone {
namespace {

struct Extent {
  std::int64_t zeroed = 0, bytes = 0;  ///< of the zeroed parts, which come first, and of all
};

Extent extent_of(const manifest::CudaKernel& kernel, std::span<const std::int64_t> symbols) {
  const manifest::WorkspacePlan plan = manifest::plan_workspace(kernel, symbols);
  Extent extent{.bytes = plan.bytes};
  for (std::size_t i = 0; i < kernel.workspace.size() && kernel.workspace[i].zeroed; ++i) {
    extent.zeroed = i + 1 < plan.offsets.size() ? plan.offsets[i + 1] : plan.bytes;
  }
  return extent;
}

}  // namespace

WorkspaceLayout plan_workspaces(const manifest::CudaTarget& target,
                                std::span<const std::size_t> used,
                                std::span<const std::int64_t> symbols) {
  std::vector<Extent> extents(target.kernels.size());
  std::int64_t zeroed = 0, rest = 0;
  for (std::size_t kernel : used) {
    const Extent extent = extents[kernel] = extent_of(target.kernels[kernel], symbols);
    zeroed = std::max(zeroed, extent.zeroed);
    rest = std::max(rest, extent.bytes - extent.zeroed);
  }
  WorkspaceLayout layout{zeroed + rest, std::vector<std::int64_t>(target.kernels.size(), -1)};
  for (std::size_t kernel : used) {
    if (extents[kernel].bytes > 0) layout.offsets[kernel] = zeroed - extents[kernel].zeroed;
  }
  return layout;
}

std::int64_t workspace_shift(const manifest::CudaKernel& kernel,
                             std::span<const std::int64_t> planned,
                             std::span<const std::int64_t> symbols) {
  return extent_of(kernel, planned).zeroed - extent_of(kernel, symbols).zeroed;
}

}  // namespace halftone
