// SPDX-License-Identifier: Apache-2.0
// What each kernel takes on each chip, and the recorded limits that it is held to.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halftone::tests {

/// One text on one chip.
struct KernelUse {
  int registers = 0;     ///< of a thread
  int shared_bytes = 0;  ///< of a block, static and dynamic
  int spill_bytes = 0;   ///< of a thread

  bool operator==(const KernelUse&) const = default;
};

/// By kernel ("digits/fc1") and chip ("sm_80").
using KernelTable = std::map<std::pair<std::string, std::string>, KernelUse>;

/// Registers are recorded in the units in which chips give them out, eight to a thread, so that
/// another release of the compiler may differ by less.
[[nodiscard]] KernelUse recorded_of(const KernelUse& use);

/// Lines "KERNEL REGISTERS SHARED SPILLS CHIP,CHIP,... [# reason of the spills]"; other lines are
/// comments. Throws std::runtime_error with the line that does not parse.
[[nodiscard]] KernelTable parse_limits(const std::string& text);
[[nodiscard]] std::string text_of_limits(const KernelTable& table);

/// A sentence for each kernel that takes more than its limit, spills without a recorded reason, has
/// no limit, or has a limit and is not there.
[[nodiscard]] std::vector<std::string> excesses(const KernelTable& table,
                                                const KernelTable& limits);

/// Warps that an SM of the chip holds over those that it could, in percent, by registers, shared
/// memory and blocks (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
[[nodiscard]] int occupancy_percent(const std::string& chip, const KernelUse& use, int threads);

}  // namespace halftone::tests
