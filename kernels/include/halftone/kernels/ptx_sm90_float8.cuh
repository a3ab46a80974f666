// SPDX-License-Identifier: Apache-2.0
// wgmma of 8-bit floats, which sm_90a alone has: one instruction per function, as in ptx_sm90.cuh.
#pragma once

#include "halftone/kernels/ptx_sm90.cuh"

#if defined(__CUDA_ARCH__)
namespace halftone::kernels::ptx {

// 9.7.15.5 wgmma.mma_async of two 8-bit floats with f32 sums: as those of ptx_sm90.cuh, with 32 of
// k, both operands K-major. Which of the sums' digits are kept the ISA does not say.

#define HALFTONE_SUMS_8(n)                                                                   \
  "+f"(sums[n]), "+f"(sums[n + 1]), "+f"(sums[n + 2]), "+f"(sums[n + 3]), "+f"(sums[n + 4]), \
      "+f"(sums[n + 5]), "+f"(sums[n + 6]), "+f"(sums[n + 7])
#define HALFTONE_SUMS_32(n) \
  HALFTONE_SUMS_8(n), HALFTONE_SUMS_8(n + 8), HALFTONE_SUMS_8(n + 16), HALFTONE_SUMS_8(n + 24)
#define HALFTONE_SUMS_64(n) HALFTONE_SUMS_32(n), HALFTONE_SUMS_32(n + 32)
#define HALFTONE_NAMES_0                                                   \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HALFTONE_NAMES_1                                                             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HALFTONE_NAMES_2                                                             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define HALFTONE_NAMES_3                                                                         \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define HALFTONE_WGMMA(name, shape, count, types, names, lists, a_at, b_at, accumulate_at)        \
  __device__ __forceinline__ void name(float(&sums)[count], unsigned long long a,                 \
                                       unsigned long long b, int accumulate) {                    \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #accumulate_at                                \
                 ", 0; wgmma.mma_async.sync.aligned." shape ".f32." types " {" names "}, %" #a_at \
                 ", %" #b_at ", p, 1, 1; }"                                                       \
                 : lists                                                                          \
                 : "l"(a), "l"(b), "r"(accumulate)                                                \
                 : "memory");                                                                     \
  }
#define HALFTONE_LIST(...) __VA_ARGS__
#define HALFTONE_SIZES(formats, types)                                                           \
  HALFTONE_WGMMA(wgmma_m64n64k32_##formats, "m64n64k32", 32, types, HALFTONE_NAMES_0,            \
                 HALFTONE_LIST(HALFTONE_SUMS_32(0)), 32, 33, 34)                                 \
  HALFTONE_WGMMA(wgmma_m64n128k32_##formats, "m64n128k32", 64, types,                            \
                 HALFTONE_NAMES_0 ", " HALFTONE_NAMES_1, HALFTONE_LIST(HALFTONE_SUMS_64(0)), 64, \
                 65, 66)                                                                         \
  HALFTONE_WGMMA(wgmma_m64n192k32_##formats, "m64n192k32", 96, types,                            \
                 HALFTONE_NAMES_0 ", " HALFTONE_NAMES_1 ", " HALFTONE_NAMES_2,                   \
                 HALFTONE_LIST(HALFTONE_SUMS_64(0), HALFTONE_SUMS_32(64)), 96, 97, 98)           \
  HALFTONE_WGMMA(wgmma_m64n256k32_##formats, "m64n256k32", 128, types,                           \
                 HALFTONE_NAMES_0 ", " HALFTONE_NAMES_1 ", " HALFTONE_NAMES_2                    \
                                  ", " HALFTONE_NAMES_3,                                         \
                 HALFTONE_LIST(HALFTONE_SUMS_64(0), HALFTONE_SUMS_64(64)), 128, 129, 130)
HALFTONE_SIZES(e4m3, "e4m3.e4m3")
HALFTONE_SIZES(e4m3_e5m2, "e4m3.e5m2")
HALFTONE_SIZES(e5m2_e4m3, "e5m2.e4m3")
HALFTONE_SIZES(e5m2, "e5m2.e5m2")
#undef HALFTONE_SIZES
#undef HALFTONE_WGMMA
#undef HALFTONE_LIST
#undef HALFTONE_NAMES_0
#undef HALFTONE_NAMES_1
#undef HALFTONE_NAMES_2
#undef HALFTONE_NAMES_3
#undef HALFTONE_SUMS_64
#undef HALFTONE_SUMS_32
#undef HALFTONE_SUMS_8

/// Behind wgmma_wait_group: no use of the sums is moved before it, of which a compiler knows
/// nothing.
template <int kSums>
__device__ __forceinline__ void wgmma_take(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

}  // namespace halftone::kernels::ptx
#endif
