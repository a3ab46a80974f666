// SPDX-License-Identifier: Apache-2.0
// Where kernels work: offsets worked out by hand.
#include "workspace.hpp"

#include <doctest/doctest.h>

#include <array>

namespace m = halftone::manifest;

namespace {

m::CudaKernel kernel(std::vector<m::Work> work) {
  m::CudaKernel kernel;
  kernel.workspace = std::move(work);
  return kernel;
}

m::Work work(std::int64_t bytes, bool zeroed) {
  return {.bytes = bytes, .count = {}, .zeroed = zeroed};
}

}  // namespace

TEST_CASE("zeroed parts end where the room that all share begins") {
  const m::CudaTarget target{
      "sm_80",
      {kernel({work(4, true), work(1000, false)}),                 // 256 zeroed, 1024
       kernel({}),                                                 // nothing
       kernel({work(300, true), work(1, true), work(10, false)}),  // 512 + 256 zeroed, 256
       kernel({work(2000, false)}),                                // 2048
       kernel(
           {work(256, false), work(4, true), work(3000, false)}),  // not in front: 256, 256, 3072
       kernel({work(9999, false)})}};                              // not used
  const std::array<std::size_t, 5> used = {0, 1, 2, 3, 4};
  const halftone::WorkspaceLayout layout = halftone::plan_workspaces(target, used, {});
  CHECK(layout.offsets == std::vector<std::int64_t>{768 - 256, -1, 0, 768, 768 + 2048, -1});
  CHECK(layout.bytes == 768 + 2048 + 3584);
}

TEST_CASE("no kernel that works beside its buffers, no bytes") {
  const m::CudaTarget target{"sm_80", {kernel({}), kernel({})}};
  CHECK(halftone::plan_workspaces(target, std::array<std::size_t, 2>{0, 1}, {}).bytes == 0);
}
