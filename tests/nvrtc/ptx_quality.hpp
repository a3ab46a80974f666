// SPDX-License-Identifier: Apache-2.0
// What a kernel's PTX says of it before any GPU has seen it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::tests {

/// How many accesses of 1, 2, 4, 8 and 16 bytes per thread.
using AccessCounts = std::array<int, 5>;

struct PtxQuality {
  int instructions = 0;
  int doubles = 0;                           ///< instructions on f64
  int local = 0;                             ///< instructions that name local memory
  int approximate = 0;                       ///< .approx and .ftz
  AccessCounts loads{}, stores{}, copies{};  ///< of global memory; copies: cp.async
  int loop_instructions = 0, loop_mma = 0;   ///< of the loop with the most mma

  /// Of the main loop's instructions, in percent; 0 without mma.
  [[nodiscard]] int mma_percent() const {
    return loop_instructions == 0 ? 0 : 100 * loop_mma / loop_instructions;
  }
};

/// Of the one entry of a text that NVRTC made.
[[nodiscard]] PtxQuality quality_of(std::string_view ptx);

/// What no kernel may have, each as half a sentence: f64, local memory, approximations, and
/// narrower accesses than the kernel's CUDA text can have. Where rows are a multiple of them,
/// kWidth neighbouring elements are one access; operands of tensor cores whose rows have 16 bytes
/// come 16 bytes at a time.
[[nodiscard]] std::vector<std::string> faults_of(const PtxQuality& quality, std::string_view text);

/// "12x16 1x4": how many accesses to global memory of how many bytes, widest first; "-" for none.
[[nodiscard]] std::string accesses_text(const PtxQuality& quality);

}  // namespace halftone::tests
