// SPDX-License-Identifier: Apache-2.0
// libcuda played by the simulator, so that what is written for a GPU's driver can be rehearsed
// without one.
#pragma once

#include <string>

#include "cuda/cuda_library.hpp"

namespace halftone::tests {

/// A table with one device of the chip, such as "sm_90a"; modules are PTX. One at a time. Calls
/// that it does not play give CUDA_ERROR_NOT_SUPPORTED.
[[nodiscard]] CudaLibrary simulated_cuda(const std::string& chip);

}  // namespace halftone::tests
