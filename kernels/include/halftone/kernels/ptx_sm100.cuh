// SPDX-License-Identifier: Apache-2.0
// What ptx_sm90.cuh gains for sm_100a, sm_103a and sm_110a: the tensor cores of the fifth
// generation, which keep sums in a memory of their own. The sections quoted are those of the PTX
// ISA 9.0. An address of tensor memory is a lane, 0 to 127, in the upper half of a word and a
// column of 32 bits, 0 to 511, in the lower.
#pragma once

#include "halftone/kernels/ptx_sm90.cuh"

#if defined(__CUDA_ARCH__)
namespace halftone::kernels::ptx {

// 9.7.16.7 tcgen05.alloc and tcgen05.dealloc, by all lanes of one warp: kColumns, a power of two
// from 32 on, of all lanes. A block that finds none waits for another one's to be given back.

/// Stores the address at `to`, of the shared window.
template <int kColumns>
__device__ __forceinline__ void tcgen05_alloc(unsigned int to) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to),
               "n"(kColumns)
               : "memory");
}
/// This block allocates no more.
__device__ __forceinline__ void tcgen05_relinquish_alloc_permit() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
template <int kColumns>
__device__ __forceinline__ void tcgen05_dealloc(unsigned int address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(kColumns)
               : "memory");
}

// 9.7.16.11 tcgen05.fence: before what tells other threads, and after what other threads told.

__device__ __forceinline__ void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// 9.7.16.8.2 tcgen05.cp, by one thread: 32 rows of 16 bytes in shared memory, as a descriptor says,
// to four columns of lanes 0 to 31, and the same of lanes 32 to 63, 64 to 95 and 96 to 127.
__device__ __forceinline__ void tcgen05_cp_32x128b_warpx4(unsigned int to,
                                                          unsigned long long from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}

// 9.7.16.10.9 tcgen05.mma, by one thread: sums = a * b, plus what they were unless `accumulate` is
// 0, of codes of 8 bits, 32 of k. a and b lie in shared memory by their matrix descriptors
// (9.7.16.4.1), whatever else is said by the instruction descriptor (9.7.16.4.2). Of one thread
// products wait for copies that it asked for before, and those of the same sums for one another
// (9.7.16.6.2); that copies wait for products, too, is what programs rely on that run.

__device__ __forceinline__ void tcgen05_mma_f8f6f4(unsigned int sums, unsigned long long a,
                                                   unsigned long long b, unsigned int descriptor,
                                                   int accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %4, 0; "
      "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }" ::"r"(sums),
      "l"(a), "l"(b), "r"(descriptor), "r"(accumulate)
      : "memory");
}

// With .block_scale parts of each row of a and of each column of b are multiplied by scales, too:
// bytes of the words from `a_scales` and `b_scales` on. Row or column i has the word of lane i % 32
// and column i / 32, in all four quarters of the lanes (9.7.16.10.7).

#define HALFTONE_TCGEN05_MMA(name, kind)                                                          \
  __device__ __forceinline__ void name(                                                           \
      unsigned int sums, unsigned long long a, unsigned long long b, unsigned int descriptor,     \
      unsigned int a_scales, unsigned int b_scales, int accumulate) {                             \
    asm volatile(                                                                                 \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                                                  \
        "tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(sums), \
        "l"(a), "l"(b), "r"(descriptor), "r"(a_scales), "r"(b_scales), "r"(accumulate)            \
        : "memory");                                                                              \
  }
/// Codes of 8 bits, an f8e8m0 for all 32 places, whose byte the descriptor chooses.
HALFTONE_TCGEN05_MMA(tcgen05_mma_mxf8f6f4, "mxf8f6f4.block_scale.scale_vec::1X")
/// Two e2m1 a byte, the first in the lower half, 64 of k in 32 bytes, along k alone; of a word an
/// f8e4m3 without its sign for each 16 places, or two f8e8m0, from the byte on that the descriptor
/// says, for each 32.
HALFTONE_TCGEN05_MMA(tcgen05_mma_nvf4, "mxf4nvf4.block_scale.scale_vec::4X")
HALFTONE_TCGEN05_MMA(tcgen05_mma_mxf4, "mxf4.block_scale.scale_vec::2X")
#undef HALFTONE_TCGEN05_MMA

// 9.7.16.10.10 tcgen05.commit: one arrival at the mbarrier when all that this thread asked of the
// tensor cores before is done. A fence before a thread's word to others is part of it.
__device__ __forceinline__ void tcgen05_commit(unsigned int barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

// 9.7.16.8.1 tcgen05.ld by all lanes of a warp, from the quarter of the lanes that its number in
// its warp group says: 16 lanes from the address on by 64 columns. sums of a lane, g = lane / 4, t
// = lane % 4: sums[4 * j + 2 * h + i] is lane 8 * h + g, column 8 * j + 2 * t + i. They are there
// after tcgen05_wait_load.
__device__ __forceinline__ void tcgen05_ld_16x256b_x8(float (&sums)[32], unsigned int address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.16x256b.x8.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
      "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, [%32];"
      : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3]), "=f"(sums[4]), "=f"(sums[5]),
        "=f"(sums[6]), "=f"(sums[7]), "=f"(sums[8]), "=f"(sums[9]), "=f"(sums[10]), "=f"(sums[11]),
        "=f"(sums[12]), "=f"(sums[13]), "=f"(sums[14]), "=f"(sums[15]), "=f"(sums[16]),
        "=f"(sums[17]), "=f"(sums[18]), "=f"(sums[19]), "=f"(sums[20]), "=f"(sums[21]),
        "=f"(sums[22]), "=f"(sums[23]), "=f"(sums[24]), "=f"(sums[25]), "=f"(sums[26]),
        "=f"(sums[27]), "=f"(sums[28]), "=f"(sums[29]), "=f"(sums[30]), "=f"(sums[31])
      : "r"(address)
      : "memory");
}
__device__ __forceinline__ void tcgen05_wait_load() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
/// Behind it: no use of what was loaded is moved before it, of which a compiler knows nothing.
template <int kSums>
__device__ __forceinline__ void tcgen05_take(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

}  // namespace halftone::kernels::ptx
#endif
