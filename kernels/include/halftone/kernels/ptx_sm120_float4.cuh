// SPDX-License-Identifier: Apache-2.0
// The inline assembly that only products of 4 bits use, on sm_120a and sm_121a: one instruction per
// function, as in ptx.cuh.
#pragma once

#include "halftone/kernels/ptx_sm120.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
namespace halftone::kernels::ptx {

// 9.7.14.5.14 mma.m16n8k64 of two e2m1 with .block_scale, sums and lanes as those of
// ptx_sm120.cuh: a word is eight neighbours along k, the first in the lowest bits,
// so that registers hold the bytes that those of m16n8k32 do (9.7.14.5.13). A scale's register has
// a byte for each part of the 64 places, the first in the lowest bits: with scale_vec::4X an f8e4m3
// without its sign for 16 of them, with 2X an f8e8m0 for 32, from byte 0 on.

#define HALFTONE_MMA_OF_4_BITS(name, kind, scale_type)                                            \
  __device__ __forceinline__ void name(float(&sums)[4], const unsigned int(&a)[4],                \
                                       unsigned int b0, unsigned int b1, unsigned int a_scales,   \
                                       unsigned int b_scales) {                                   \
    asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::" kind ".f32.e2m1.e2m1.f32." scale_type \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "              \
                 "{%10}, {0, 0}, {%11}, {0, 0};"                                                  \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scales),   \
                   "r"(b_scales));                                                                \
  }
HALFTONE_MMA_OF_4_BITS(mma_nvf4, "mxf4nvf4.block_scale.scale_vec::4X", "ue4m3")
HALFTONE_MMA_OF_4_BITS(mma_mxf4, "mxf4.block_scale.scale_vec::2X", "ue8m0")
#undef HALFTONE_MMA_OF_4_BITS

}  // namespace halftone::kernels::ptx
#endif
