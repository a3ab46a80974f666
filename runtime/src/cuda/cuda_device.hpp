// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, through the driver that NVIDIA installs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../driver_context.hpp"

namespace halftone {

struct CudaDevice {
  int index = 0;
  std::string name;  ///< "NVIDIA H200"
  std::string chip;  ///< "sm_90"
};

/// Fills `devices`; when there are none, says why in half a sentence: "there is no libcuda.so.1 on
/// this machine". Never throws.
[[nodiscard]] std::string list_cuda_devices(std::vector<CudaDevice>& devices);

/// Throws Error when there is no such GPU.
[[nodiscard]] std::shared_ptr<DriverContext> open_cuda_device(int index, bool checks_launches);

}  // namespace halftone
