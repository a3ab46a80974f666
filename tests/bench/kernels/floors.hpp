// SPDX-License-Identifier: Apache-2.0
// What a kernel did against its floor: the bytes that must move and the operations that must run.
// Ratios, each counted over needed:
//
//   memory  : every operand and result once, and partial sums of a split depth written and read
//             / every operand and result once
//   traffic : 32-byte sectors of global memory, for each warp instruction
//             / every operand and result once; of a contraction lhs once for each column of tiles
//               and rhs once for each row of tiles, and partial sums
//   work    : on tensor cores multiplications and additions / 2 rows columns depth;
//             else instructions of threads / (scalar operations, multiply-adds, 16-byte accesses)
//   time    : the longest of memory, traffic, instructions and tensor operations at full rates
//             / the longest of bytes that must move and operations that must run
//
// Rates are those of the chips that plans are made for (codegen/plan/Chips.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launches.hpp"

namespace halftone::bench {

/// A ratio above kMostOverFloor: "memory", "traffic", "work" or "time".
struct Excess {
  std::string ratio;
  double value = 0;
};

struct Floor {
  double bytes = 0, operations = 0;  ///< that must move, and run
  double memory = 1, traffic = 1, work = 1, time = 1;
  double mma_percent = 0;   ///< of the instructions that warps executed
  double microseconds = 0;  ///< counted, at full rates and without the launch
  bool is_issue = false;    ///< instructions take the longest of what was counted
  /// Why a ratio is above kMostOverFloor: a sentence for each; ratios without one are
  /// `unexplained`.
  std::string reasons = {}, unexplained = {};
  std::vector<Excess> excesses = {};  ///< with a reason or without
};

/// Work of kernels without tensor cores is told, not judged: what it costs is part of the time.
inline constexpr double kMostOverFloor = 1.25;

/// `size` is what symbols were bound to and plans were made for.
[[nodiscard]] Floor floor_of(const MeasuredLaunch& launch, const std::string& chip,
                             std::int64_t size);

}  // namespace halftone::bench
