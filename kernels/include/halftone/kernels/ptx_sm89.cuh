// SPDX-License-Identifier: Apache-2.0
// The inline assembly that only kernels of 8-bit products use, from sm_89 on: one instruction per
// function, as in ptx.cuh.
#pragma once

#include "halftone/kernels/ptx.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
namespace halftone::kernels::ptx {

// 9.7.9.8 ld of a word in the shared window.
template <int kOffset>
__device__ __forceinline__ unsigned int ld_shared(unsigned int address) {
  unsigned int word;
  asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(word) : "r"(address), "n"(kOffset));
  return word;
}

// 9.7.14.5.14 mma.m16n8k32 of two 8-bit floats with f32 sums, a word being four neighbours along k,
// the first in the lowest byte (9.7.14.5.10). With g = lane / 4 and t = lane % 4: a[0] is row g,
// a[1] row g + 8 of k = 4t to 4t + 3, a[2] and a[3] those of 16 + 4t on; b0 and b1 are column g of
// the same; sums are those of ptx.cuh's mma. Which of the sums' digits are kept the ISA does not
// say.

#define HALFTONE_MMA_M16N8K32(name, a_type, b_type)                                     \
  __device__ __forceinline__ void name(float(&sums)[4], const unsigned int(&a)[4],      \
                                       unsigned int b0, unsigned int b1) {              \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." a_type "." b_type             \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));       \
  }
HALFTONE_MMA_M16N8K32(mma_m16n8k32_e4m3, "e4m3", "e4m3")
HALFTONE_MMA_M16N8K32(mma_m16n8k32_e4m3_e5m2, "e4m3", "e5m2")
HALFTONE_MMA_M16N8K32(mma_m16n8k32_e5m2_e4m3, "e5m2", "e4m3")
HALFTONE_MMA_M16N8K32(mma_m16n8k32_e5m2, "e5m2", "e5m2")
#undef HALFTONE_MMA_M16N8K32

}  // namespace halftone::kernels::ptx
#endif
