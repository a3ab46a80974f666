// SPDX-License-Identifier: Apache-2.0
// What cuda_library.hpp declares agrees with cuda.h, where the toolkit is: as many parameters, each
// of the same size and kind, and the enumerators' values.
#include <cuda.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "cuda/cuda_library.hpp"

using namespace halftone;

namespace {

/// A pointer for a pointer, a number of the same size for a number or an enumerator.
template <class Mine, class Theirs>
constexpr bool kAgree =
    sizeof(Mine) == sizeof(Theirs) && std::is_pointer_v<Mine> == std::is_pointer_v<Theirs>;

template <class... Mine, class... Theirs>
constexpr bool agree(int (*)(Mine...), CUresult (*)(Theirs...)) {
  if constexpr (sizeof...(Mine) != sizeof...(Theirs)) {
    return false;
  } else {
    return (kAgree<Mine, Theirs> && ...);
  }
}

#define HALFTONE_CUDA_COMPARE(name, parameters)                                                \
  static_assert(                                                                               \
      agree(static_cast<int(*) parameters>(nullptr), static_cast<decltype(&::name)>(nullptr)), \
      #name);
HALFTONE_CUDA_CALLS(HALFTONE_CUDA_COMPARE)

static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::kMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::kMostDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::kCaptureThisThread == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(cuda::kMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(cuda::kErrorLog == CU_JIT_ERROR_LOG_BUFFER);
static_assert(cuda::kErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(cuda::kMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::kMapOfBytes == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(cuda::kMapOfWords == CU_TENSOR_MAP_DATA_TYPE_UINT32);
static_assert(cuda::kMapOfF16 == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(cuda::kMapOfBf16 == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(cuda::kSwizzle128 == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(cuda::kPromoteTo256 == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) <= 128);
static_assert(cuda::kNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::kNoTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::kForAllContexts == CU_MEMHOSTALLOC_PORTABLE);

}  // namespace

TEST_CASE("the results that a device does not survive are those that cuda.h says it of") {
  const int expected[] = {CUDA_ERROR_ECC_UNCORRECTABLE,    CUDA_ERROR_CONTAINED,
                          CUDA_ERROR_ILLEGAL_ADDRESS,      CUDA_ERROR_LAUNCH_TIMEOUT,
                          CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT,
                          CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                          CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_INVALID_ADDRESS_SPACE,
                          CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED,
                          CUDA_ERROR_TENSOR_MEMORY_LEAK,   CUDA_ERROR_MPS_CLIENT_TERMINATED};
  CHECK(std::ranges::equal(cuda::kSticky, expected));
}
