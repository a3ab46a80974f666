// SPDX-License-Identifier: Apache-2.0
#include "workspace.hpp"

#include <algorithm>

namespace halftone {
namespace {

struct Extent {
  std::int64_t zeroed = 0, bytes = 0;  ///< of the zeroed parts in front, and of all
  bool shareable = true;
};

Extent extent_of(const manifest::CudaKernel& kernel, std::span<const std::int64_t> symbols) {
  const manifest::WorkspacePlan plan = manifest::plan_workspace(kernel, symbols);
  Extent extent{.bytes = plan.bytes};
  bool in_front = true;
  for (std::size_t i = 0; i < kernel.workspace.size(); ++i) {
    in_front = in_front && kernel.workspace[i].zeroed;
    if (in_front) extent.zeroed = i + 1 < plan.offsets.size() ? plan.offsets[i + 1] : plan.bytes;
    if (kernel.workspace[i].zeroed && !in_front) extent.shareable = false;
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
    if (!extent.shareable) continue;
    zeroed = std::max(zeroed, extent.zeroed);
    rest = std::max(rest, extent.bytes - extent.zeroed);
  }
  WorkspaceLayout layout{zeroed + rest, std::vector<std::int64_t>(target.kernels.size(), -1)};
  for (std::size_t kernel : used) {
    const Extent& extent = extents[kernel];
    std::int64_t& offset = layout.offsets[kernel];
    if (extent.bytes == 0 || offset >= 0) continue;
    offset = zeroed - extent.zeroed;
    if (extent.shareable) continue;
    offset = layout.bytes;
    layout.bytes += extent.bytes;
  }
  return layout;
}

}  // namespace halftone
