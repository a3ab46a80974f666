// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, through the driver that NVIDIA installs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../driver_context.hpp"
#include "halftone/device.hpp"

namespace halftone {

struct CudaDevice {
  int index = 0;
  std::string name;  ///< "NVIDIA H200"
  std::string chip;  ///< "sm_90"
  std::int64_t memory_bytes = 0;
  int cuda_version = 0;  ///< the latest CUDA that the driver speaks: 13000
  bool encodes_maps = false;
};

/// What an artifact offers to GPUs.
struct KernelOffer {
  std::vector<std::string> targets;
  std::vector<AheadOfTime> ahead;
  std::string model;                        ///< "model 'gpt'"
  std::vector<std::string> with_maps = {};  ///< targets that want a driver that encodes maps
};

/// As DriverContext::choose() for a GPU that need not be open, with this machine's NVRTC; where it
/// is needed and there is none `why` says so.
[[nodiscard]] std::optional<KernelChoice> choose_on(const CudaDevice& gpu, const KernelOffer& offer,
                                                    Jit jit, std::string& why);

/// Fills `devices`; when there are none, says why in half a sentence: "there is no libcuda.so.1 on
/// this machine". Never throws.
[[nodiscard]] std::string list_cuda_devices(std::vector<CudaDevice>& devices);

/// The first that is as wished for, or null.
[[nodiscard]] const CudaDevice* find_gpu(std::span<const CudaDevice> devices, const GpuWish& wish);

/// The one with that index, or the first that is as wished for. Throws Error when there is none.
[[nodiscard]] CudaDevice require_gpu(int index);
[[nodiscard]] CudaDevice require_gpu(const GpuWish& wish);

/// "cuda:0 NVIDIA H200 (sm_90, 139.8 GiB)"
[[nodiscard]] std::string text_of(const CudaDevice& gpu);

/// All of them.
[[nodiscard]] std::string texts_of(std::span<const CudaDevice> devices);

/// The GPU that Device::best takes for kernels for these chips.
struct GpuChoice {
  std::optional<int> index;
  KernelChoice kernels;  ///< where there is one
  std::string why;       ///< half a sentence, where there is none
};
[[nodiscard]] GpuChoice choose_gpu(const KernelOffer& offer, Jit jit);

/// Throws Error when there is no such GPU.
[[nodiscard]] std::shared_ptr<DriverContext> open_cuda_device(int index,
                                                              const DriverOptions& options);

}  // namespace halftone
