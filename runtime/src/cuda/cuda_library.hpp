// SPDX-License-Identifier: Apache-2.0
// libcuda, opened at run time and without its headers: names, versions and signatures as the CUDA
// Driver API 13.0 documents them. tests/runtime compares them with cuda.h where there is one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halftone {

using CudaContext = void*;
using CudaModule = void*;
using CudaFunction = void*;
using CudaStream = void*;
using CudaEvent = void*;
using CudaGraph = void*;
using CudaGraphExecutable = void*;
using CudaAddress = unsigned long long;

/// Enumerators of cuda.h.
namespace cuda {
inline constexpr int kOutOfMemory = 2, kMajor = 75, kMinor = 76, kMostDynamicShared = 8,
                     kCaptureThisThread = 1, kMemoryType = 2, kErrorLog = 5, kErrorLogBytes = 6,
                     kMultiprocessors = 16, kMapOfBytes = 0, kMapOfWords = 2, kMapOfF16 = 6,
                     kMapOfBf16 = 9, kSwizzle128 = 3, kPromoteTo256 = 3;
inline constexpr unsigned kNonBlocking = 1, kNoTiming = 2, kForAllContexts = 1;

/// Results of which cuda.h says that the process must be terminated, or that the context cannot be
/// used any more.
inline constexpr int kSticky[] = {214, 226, 700, 702, 709, 710, 714,
                                  715, 716, 717, 718, 719, 721, 810};
}  // namespace cuda

// X(name as exported, parameters)
#define HALFTONE_CUDA_CALLS(X)                                                                 \
  X(cuInit, (unsigned))                                                                        \
  X(cuDriverGetVersion, (int*))                                                                \
  X(cuGetErrorName, (int, const char**))                                                       \
  X(cuGetErrorString, (int, const char**))                                                     \
  X(cuDeviceGetCount, (int*))                                                                  \
  X(cuDeviceGet, (int*, int))                                                                  \
  X(cuDeviceGetName, (char*, int, int))                                                        \
  X(cuDeviceGetAttribute, (int*, int, int))                                                    \
  X(cuDeviceTotalMem_v2, (std::size_t*, int))                                                  \
  X(cuDevicePrimaryCtxRetain, (CudaContext*, int))                                             \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                                       \
  X(cuCtxSetCurrent, (CudaContext))                                                            \
  X(cuMemAlloc_v2, (CudaAddress*, std::size_t))                                                \
  X(cuMemFree_v2, (CudaAddress))                                                               \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                             \
  X(cuMemcpyHtoDAsync_v2, (CudaAddress, const void*, std::size_t, CudaStream))                 \
  X(cuMemcpyDtoHAsync_v2, (void*, CudaAddress, std::size_t, CudaStream))                       \
  X(cuMemcpyDtoDAsync_v2, (CudaAddress, CudaAddress, std::size_t, CudaStream))                 \
  X(cuMemsetD8Async, (CudaAddress, unsigned char, std::size_t, CudaStream))                    \
  X(cuMemHostAlloc, (void**, std::size_t, unsigned))                                           \
  X(cuMemFreeHost, (void*))                                                                    \
  X(cuPointerGetAttributes, (unsigned, int*, void**, CudaAddress))                             \
  X(cuModuleLoadDataEx, (CudaModule*, const void*, unsigned, int*, void**))                    \
  X(cuModuleUnload, (CudaModule))                                                              \
  X(cuModuleGetFunction, (CudaFunction*, CudaModule, const char*))                             \
  X(cuFuncSetAttribute, (CudaFunction, int, int))                                              \
  X(cuLaunchKernel, (CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     unsigned, CudaStream, void**, void**))                                    \
  X(cuTensorMapEncodeTiled,                                                                    \
    (void*, int, unsigned, void*, const unsigned long long*, const unsigned long long*,        \
     const unsigned*, const unsigned*, int, int, int, int))                                    \
  X(cuStreamCreate, (CudaStream*, unsigned))                                                   \
  X(cuStreamDestroy_v2, (CudaStream))                                                          \
  X(cuStreamSynchronize, (CudaStream))                                                         \
  X(cuEventSynchronize, (CudaEvent))                                                           \
  X(cuEventCreate, (CudaEvent*, unsigned))                                                     \
  X(cuEventDestroy_v2, (CudaEvent))                                                            \
  X(cuEventRecord, (CudaEvent, CudaStream))                                                    \
  X(cuStreamWaitEvent, (CudaStream, CudaEvent, unsigned))                                      \
  X(cuStreamBeginCapture_v2, (CudaStream, int))                                                \
  X(cuStreamEndCapture, (CudaStream, CudaGraph*))                                              \
  X(cuGraphInstantiateWithFlags, (CudaGraphExecutable*, CudaGraph, unsigned long long))        \
  X(cuGraphDestroy, (CudaGraph))                                                               \
  X(cuGraphLaunch, (CudaGraphExecutable, CudaStream))                                          \
  X(cuGraphExecDestroy, (CudaGraphExecutable))

/// Drivers for CUDA 11 lack it; then it is null.
inline constexpr std::string_view kOptionalCudaCall = "cuTensorMapEncodeTiled";

/// The calls; each returns a CUresult.
struct CudaLibrary {
#define HALFTONE_CUDA_MEMBER(name, parameters) int(*name) parameters = nullptr;
  HALFTONE_CUDA_CALLS(HALFTONE_CUDA_MEMBER)
#undef HALFTONE_CUDA_MEMBER

  /// The driver of this process, initialised; null with half a sentence in `reason`.
  [[nodiscard]] static const CudaLibrary* open(std::string& reason);

  /// "CUDA_ERROR_INVALID_VALUE (1): invalid argument"
  [[nodiscard]] std::string text_of(int result) const;
};

}  // namespace halftone
