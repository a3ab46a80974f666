// SPDX-License-Identifier: Apache-2.0
// Judges launches of contraction.cu on the simulator.
#pragma once

#include <string>

#include "contraction_case.hpp"

namespace halftone::tests {

/// What NVRTC makes of the instance, once in a process.
[[nodiscard]] const std::string& ptx_of(const Instance& instance);

/// One launch in full: the simulator found nothing; sums are inside N8, or of 8 bits N13 or N14,
/// and inside N8 where the simulator keeps all of their digits; all else has the bits that it had
/// to have, and counters are zero again.
Outcome check(const Instance& instance, long long rows, long long depth, int splits = 1,
              const simulator::LaunchOptions& options = {});

/// That no two lanes of a wavefront want one bank of shared memory.
void check_banks(const Instance& instance, long long rows, long long depth);

}  // namespace halftone::tests
