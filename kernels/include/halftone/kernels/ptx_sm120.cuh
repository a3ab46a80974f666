// SPDX-License-Identifier: Apache-2.0
// The inline assembly that only kernels of block-scaled products use, on sm_120a and sm_121a: one
// instruction per function, as in ptx.cuh.
#pragma once

#include "halftone/kernels/ptx_sm89.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
namespace halftone::kernels::ptx {

// 9.7.14.5.14 mma.m16n8k32 with .block_scale and .scale_vec::1X: operands and sums as those of
// ptx_sm89.cuh; each row of a and each column of b is multiplied by one f8e8m0, 2^(code - 127), or
// NaN where the code is 255 (9.7.14.3). Byte 0 of each scale is taken (byte ids of 0), a's of rows
// g and g + 8 from lanes t = 0 and t = 1, b's of column g from lane t = 0 (thread ids of 0).

#define HALFTONE_MMA_BLOCK_SCALED(name, a_type, b_type)                                          \
  __device__ __forceinline__ void name(float(&sums)[4], const unsigned int(&a)[4],               \
                                       unsigned int b0, unsigned int b1, unsigned int a_scale,   \
                                       unsigned int b_scale) {                                   \
    asm volatile(                                                                                \
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32." a_type \
        "." b_type                                                                               \
        ".f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                              \
        "{%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"                                        \
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scale),            \
          "r"(b_scale));                                                                         \
  }
HALFTONE_MMA_BLOCK_SCALED(mma_block_scaled_e4m3, "e4m3", "e4m3")
HALFTONE_MMA_BLOCK_SCALED(mma_block_scaled_e4m3_e5m2, "e4m3", "e5m2")
HALFTONE_MMA_BLOCK_SCALED(mma_block_scaled_e5m2_e4m3, "e5m2", "e4m3")
HALFTONE_MMA_BLOCK_SCALED(mma_block_scaled_e5m2, "e5m2", "e5m2")
#undef HALFTONE_MMA_BLOCK_SCALED

}  // namespace halftone::kernels::ptx
#endif
