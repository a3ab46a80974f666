// SPDX-License-Identifier: Apache-2.0
// One training step of an artifact on a simulated chip, launch by launch, with what each counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halftone/artifact.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/simulator/counters.hpp"
#include "nvrtc_library.hpp"

namespace halftone::bench {

struct MeasuredLaunch {
  const manifest::Kernel* kernel = nullptr;
  const manifest::CudaKernel* cuda = nullptr;
  std::string phase;
  std::string text;                              ///< the kernel's CUDA text
  std::vector<std::int64_t> element_bytes = {};  ///< of each argument
  double partial_bytes = 0;                      ///< of the sums of a split depth
  simulator::Counters counters = {};
};

/// Every launch of a step in its order, with all symbols at `size`. Buffers hold zeros: what is
/// counted does not depend on them. The artifact must stay. Throws std::runtime_error where the
/// artifact has no kernels for the chip, or a kernel is refused or at fault.
[[nodiscard]] std::vector<MeasuredLaunch> measure_step(const Artifact& artifact,
                                                       const tests::NvrtcLibrary& nvrtc,
                                                       const std::string& chip, std::int64_t size);

}  // namespace halftone::bench
