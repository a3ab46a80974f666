// SPDX-License-Identifier: Apache-2.0
// What ptxas -v says about each entry of a compilation.
#pragma once

#include <string>
#include <vector>

namespace halftone::tests {

/// One kernel's use of the chip; bytes are per thread, but shared_bytes are per block.
struct EntryUsage {
  std::string entry;
  int registers = 0;
  int shared_bytes = 0;
  int stack_bytes = 0;
  int spill_bytes = 0;  ///< stores and loads together
};

/// One record per "Compiling entry function" of the log, in its order.
[[nodiscard]] std::vector<EntryUsage> parse_ptxas_log(const std::string& log);

}  // namespace halftone::tests
