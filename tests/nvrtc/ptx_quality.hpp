// SPDX-License-Identifier: Apache-2.0
// What a kernel's PTX says of it before any GPU has seen it.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace halftone::tests {

struct PtxQuality {
  int instructions = 0;
  int doubles = 0;      ///< instructions on f64
  int local = 0;        ///< accesses to local memory
  int approximate = 0;  ///< .approx and .ftz
  /// Accesses to global memory of 1, 2, 4, 8 and 16 bytes per thread; cp.async counts.
  std::array<int, 5> global{};
  int loop_instructions = 0, loop_mma = 0;  ///< of the loop with the most mma

  /// Of the main loop's instructions, in percent; 0 without mma.
  [[nodiscard]] int mma_percent() const {
    return loop_instructions == 0 ? 0 : 100 * loop_mma / loop_instructions;
  }
};

/// Of the one entry of a text that NVRTC made.
[[nodiscard]] PtxQuality quality_of(std::string_view ptx);

/// "12x16 1x4": how many accesses of how many bytes, widest first; "-" for none.
[[nodiscard]] std::string accesses_text(const PtxQuality& quality);

}  // namespace halftone::tests
