// SPDX-License-Identifier: Apache-2.0
// Every line of inline assembly: one instruction per function, named after it. The sections quoted
// are those of the PTX ISA 9.0.
#pragma once

#if defined(__CUDA_ARCH__)
namespace halftone::kernels::ptx {

// 9.7.9.21 cvt. Without .ftz subnormal inputs and results are kept, on every chip. What a NaN
// becomes is said for .relu and .satfinite alone, so callers choose its code.
//
// | to, from     | rounding | chips  |
// |--------------|----------|--------|
// | f16 from f32 | rn, rz   | all    |
// | bf16 from f32| rn       | sm_80+ |
// | f32 from f16 | exact    | all    |
//
// Not here: bf16 toward zero and f32 from bf16, which are shifts; tf32, since .rna rounds ties away
// from zero, .rn and .rz want sm_90, and the layout of a tf32 register is implementation defined
// (5.2.3), which integer arithmetic on f32 does not depend on.

__device__ __forceinline__ unsigned short cvt_rn_f16_f32(float x) {
  unsigned short code;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
  return code;
}

__device__ __forceinline__ unsigned short cvt_rz_f16_f32(float x) {
  unsigned short code;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(code) : "f"(x));
  return code;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned short cvt_rn_bf16_f32(float x) {
  unsigned short code;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(code) : "f"(x));
  return code;
}
#endif

__device__ __forceinline__ float cvt_f32_f16(unsigned short code) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(code));
  return x;
}

}  // namespace halftone::kernels::ptx
#endif
