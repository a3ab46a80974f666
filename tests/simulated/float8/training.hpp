// SPDX-License-Identifier: Apache-2.0
// Whole steps of products in blocks on a simulated sm_120a beside the CPU's.
#pragma once

#include <cstddef>
#include <string_view>

#include "halftone/simulator/device.hpp"
#include "products.hpp"

namespace halftone::tests {

struct Steps {
  double off = 0;  ///< the largest share, over parameters, of what each moved that it is off by
  std::size_t findings = 0;
  int kernels = 0, changed = 0;  ///< of such products that were compiled, and that have the fault
};

/// Of an artifact with the inputs and weights of blocks.halftone, whose blocks differ in size. The
/// second step has an infinite input, and is skipped. Kernels whose text holds `run` are counted,
/// and have the mutant's fault.
[[nodiscard]] Steps train_beside_cpu(const char* artifact, std::string_view run,
                                     const simulator::LaunchOptions& options, const Mutant& mutant,
                                     int steps);

}  // namespace halftone::tests
