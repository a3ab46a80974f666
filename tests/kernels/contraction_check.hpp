// SPDX-License-Identifier: Apache-2.0
// Judges launches of contraction.cu on the simulator.
#pragma once

#include <string>

#include "contraction_case.hpp"

namespace halftone::tests {

inline constexpr bool kEither[] = {false, true};
inline constexpr simulator::LaunchOptions kTruncating = {.accumulation =
                                                             simulator::Accumulation::truncating};

/// What NVRTC makes of the instance, once in a process.
[[nodiscard]] const std::string& ptx_of(const Instance& instance);

/// One launch in full: the simulator found nothing; sums are inside N8, or of 8 bits N13, N14 or
/// N17, and inside N8 where the simulator keeps all of their digits; all else has the bits that it
/// had to have, and counters are zero again.
Outcome check(const Instance& instance, long long rows, long long depth, int splits = 1,
              const simulator::LaunchOptions& options = {});

/// That a depth in so many splits gives the same bits in whatever order their blocks arrive.
void check_order(const Instance& instance, long long rows, long long depth, int splits);

/// That no two lanes of a wavefront want one bank of shared memory.
void check_banks(const Instance& instance, long long rows, long long depth);

/// Whose banks are checked where operands are of 8 bits or 4. Depths are in bytes.
inline constexpr TilePlan kTilesOfBytes[] = {{128, 128, 64, 64, 32, 3, 16, 16},
                                             {64, 64, 128, 32, 32, 3, 16, 16},
                                             {32, 128, 128, 32, 32, 3, 16, 16}};

/// That all sums of such operands are `promoted` where parts of 128 products are added in f32, and
/// `kept`, which N14 does not allow and N13 does, where they are not.
void check_parts(Instance instance, const Operands& operands, float promoted, float kept);

/// That in blocks of 32 places of a row a scale of 2^113 makes all of its row's sums NaN, and one
/// of 2^112 none.
void check_large_scales(const Instance& instance);

/// Of codes of 8 bits that lie along 384 of k, each 128 with a factor: that factors' products count
/// whose factors alone are tiny or huge, a NaN stays in its row, and an infinite factor in its.
void check_factors_of_parts(const Instance& instance);

/// What the main loop takes more for a depth that is longer by 1024, of 128 rows and columns.
struct Turns {
  double instructions = 0, shared_wavefronts = 0;
};
[[nodiscard]] Turns turns_of(Instance instance);

}  // namespace halftone::tests
