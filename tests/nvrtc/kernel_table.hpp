// SPDX-License-Identifier: Apache-2.0
// What kernels take on each chip, and the recorded limits that their shapes are held to.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halftone::tests {

/// One text on one chip, or the most that texts of one shape take.
struct KernelUse {
  int registers = 0;     ///< of a thread
  int shared_bytes = 0;  ///< of a block, static and dynamic
  int spill_bytes = 0;   ///< of a thread
  int mma_percent = 0;   ///< of the main loop's instructions; 0 without mma or without a loop

  bool operator==(const KernelUse&) const = default;
};

/// By kernel ("digits/fc1") or shape ("row 128"), and chip ("sm_80").
using KernelTable = std::map<std::pair<std::string, std::string>, KernelUse>;

/// The larger of both, of shares of mma that are not 0 the smaller; registers in the units in which
/// chips give them out, eight to a thread, so that another release of the compiler may differ by
/// less.
[[nodiscard]] KernelUse limit_of(const KernelUse& limit, const KernelUse& use);

/// Lines "REGISTERS SHARED SPILLS MMA% CHIP,CHIP,... SHAPE [# reason of the spills]"; empty lines
/// and those that begin with # are comments. Throws std::runtime_error with the line that does not
/// parse.
[[nodiscard]] KernelTable parse_limits(const std::string& text);
/// Spills get their reasons from `reasons`, by shape.
[[nodiscard]] std::string text_of_limits(const KernelTable& table,
                                         const std::map<std::string, std::string>& reasons);
[[nodiscard]] std::map<std::string, std::string> parse_reasons(const std::string& text);

/// A sentence for each number by which `who` exceeds the limit.
[[nodiscard]] std::vector<std::string> excesses(const std::string& who, const KernelUse& use,
                                                const KernelUse& limit);

/// Warps that an SM of the chip holds over those that it could, in percent, by registers, shared
/// memory and blocks (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
[[nodiscard]] int occupancy_percent(const std::string& chip, const KernelUse& use, int threads);

}  // namespace halftone::tests
