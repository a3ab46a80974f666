// SPDX-License-Identifier: Apache-2.0
// Where kernels work: offsets worked out by hand.
#include "workspace.hpp"

#include <doctest/doctest.h>

#include <array>
#include <utility>

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
       kernel({work(9999, false)})}};                              // not used
  const std::array<std::size_t, 4> used = {0, 1, 2, 3};
  const halftone::WorkspaceLayout layout = halftone::plan_workspaces(target, used, {});
  CHECK(layout.offsets == std::vector<std::int64_t>{768 - 256, -1, 0, 768, -1});
  CHECK(layout.bytes == 768 + 2048);
}

TEST_CASE("zeroed parts end at the same address for fewer rows, and all stays inside") {
  m::CudaKernel split = kernel({work(4, true), work(1, true), work(100, false)});
  split.workspace[0].count = split.workspace[2].count = {{{{1, 0}}, 8}};  // for every 8 rows
  const std::array<std::int64_t, 1> planned = {1000};
  CHECK(halftone::workspace_shift(split, planned, planned) == 0);
  // 125 counters are 500 bytes, 64 are 256.
  for (const auto& [rows, shift] : {std::pair{1, 256}, {512, 256}, {513, 0}, {999, 0}}) {
    CAPTURE(rows);
    const std::array<std::int64_t, 1> symbols = {rows};
    CHECK(halftone::workspace_shift(split, planned, symbols) == shift);
    CHECK(shift + m::plan_workspace(split, symbols).bytes <=
          m::plan_workspace(split, planned).bytes);
  }
}

TEST_CASE("no kernel that works beside its buffers, no bytes") {
  const m::CudaTarget target{"sm_80", {kernel({}), kernel({})}};
  CHECK(halftone::plan_workspaces(target, std::array<std::size_t, 2>{0, 1}, {}).bytes == 0);
}
