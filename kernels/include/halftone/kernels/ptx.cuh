// SPDX-License-Identifier: Apache-2.0
// Every line of inline assembly: one instruction per function, named after it. The sections quoted
// are those of the PTX ISA 9.0.
#pragma once

#if defined(__CUDA_ARCH__)
namespace halftone::kernels::ptx {

// 9.7.9.21 cvt. Without .ftz subnormal inputs and results are kept, on every chip. What a NaN
// becomes is said for .relu and .satfinite alone: to nearest even it is 0x7fff, as all 2^32 floats
// on an H200 showed (tests/bench/gpu/calibration.cu); elsewhere callers choose its code.
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

#if __CUDA_ARCH__ >= 800
// 9.7.3.11 min and 9.7.3.12 max of f32: NaN where either is; -0 is less than +0.
__device__ __forceinline__ float min_nan(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
__device__ __forceinline__ float max_nan(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
#endif

// 9.7.9.11 st of 8 or 16 bytes. What the compiler makes of a vector's store when a branch beside it
// stores the same elements one by one is, below sm_100, one by one as well. It may exchange these
// with other accesses, so they are for results, which no thread reads again in the same kernel.

__device__ __forceinline__ void st_global(void* pointer, const unsigned int (&words)[2]) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(pointer)),
               "r"(words[0]), "r"(words[1]));
}

__device__ __forceinline__ void st_global(void* pointer, const unsigned int (&words)[4]) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(pointer)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
}

/// In its place among other accesses: for what other threads of the kernel read after a barrier.
__device__ __forceinline__ void st_global_in_order(float* pointer, const float (&values)[4]) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(pointer)),
               "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
}

// 9.7.9.8 ld and 9.7.9.11 st in the shared window, for operands that ldmatrix cannot transpose. An
// address is one of the window's 32-bit addresses; kOffset, here and below, is added by the
// instruction itself.

template <int kOffset>
__device__ __forceinline__ void ld_shared(unsigned int address, unsigned int (&words)[2]) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2+%3];"
               : "=r"(words[0]), "=r"(words[1])
               : "r"(address), "n"(kOffset));
}

template <int kOffset>
__device__ __forceinline__ void ld_shared(unsigned int address, unsigned int (&words)[4]) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4+%5];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address), "n"(kOffset));
}

__device__ __forceinline__ void st_shared(unsigned int address, const unsigned int (&words)[1]) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(words[0]) : "memory");
}

__device__ __forceinline__ void st_shared(unsigned int address, const unsigned int (&words)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(words[0]), "r"(words[1])
               : "memory");
}

__device__ __forceinline__ void st_shared(unsigned int address, const unsigned int (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// 9.7.14.5.15 ldmatrix: lane l holds the address of row l % 8 of matrix l / 8, 16 bytes each.
// words[m] of a lane are the elements 2 (l % 4) and the next of row l / 4 of matrix m; with .trans
// of column l / 4. A row of four words instead of eight halves is read the same way: word l % 4.

template <int kOffset>
__device__ __forceinline__ void ldmatrix_x4(unsigned int address, unsigned int (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4+%5];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address), "n"(kOffset));
}

template <int kOffset>
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned int address, unsigned int (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4+%5];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address), "n"(kOffset));
}

// 9.7.14.5.14 mma with f32 sums: sums += a * b, a of 16 rows, b of 8 columns. Which elements a lane
// holds: 9.7.14.5.7 for m16n8k8, 9.7.14.5.8 for m16n8k16. With g = lane / 4 and t = lane % 4:
// sums are rows g, g, g + 8, g + 8 of columns 2t, 2t + 1, 2t, 2t + 1; a[0] is row g, a[1] row g + 8
// of the first half of k, a[2] and a[3] those of the second; b[0] and b[1] are column g of either
// half. A half is four words: words t.
//
// | shape, type       | k of a half | chips  |
// |-------------------|-------------|--------|
// | m16n8k8 f16       | 8, no second| sm_75+ |
// | m16n8k16 f16, bf16| 8           | sm_80+ |
// | m16n8k8 tf32      | 4           | sm_80+ |

__device__ __forceinline__ void mma_m16n8k8_f16(float (&sums)[4], unsigned int a0, unsigned int a1,
                                                unsigned int b0) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void mma_m16n8k16_f16(float (&sums)[4], const unsigned int (&a)[4],
                                                 unsigned int b0, unsigned int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_m16n8k16_bf16(float (&sums)[4], const unsigned int (&a)[4],
                                                  unsigned int b0, unsigned int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_m16n8k8_tf32(float (&sums)[4], const unsigned int (&a)[4],
                                                 unsigned int b0, unsigned int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 9.7.9.25.3.1 cp.async: kBytes from global to shared memory past the registers; of the zero_fill
// form only the first `valid` bytes are read, the rest is zero. .ca keeps lines in L1, .cg does not
// and wants 16 bytes. Both addresses are multiples of kBytes.

template <int kBytes, int kOffset>
__device__ __forceinline__ void cp_async_ca(unsigned int to, unsigned long long from) {
  asm volatile("cp.async.ca.shared.global [%0+%2], [%1], %3;" ::"r"(to), "l"(from), "n"(kOffset),
               "n"(kBytes)
               : "memory");
}

template <int kBytes, int kOffset>
__device__ __forceinline__ void cp_async_ca_zero_fill(unsigned int to, unsigned long long from,
                                                      unsigned int valid) {
  asm volatile("cp.async.ca.shared.global [%0+%2], [%1], %3, %4;" ::"r"(to), "l"(from),
               "n"(kOffset), "n"(kBytes), "r"(valid)
               : "memory");
}

template <int kOffset>
__device__ __forceinline__ void cp_async_cg(unsigned int to, unsigned long long from) {
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1], 16;" ::"r"(to), "l"(from), "n"(kOffset)
               : "memory");
}

template <int kOffset>
__device__ __forceinline__ void cp_async_cg_zero_fill(unsigned int to, unsigned long long from,
                                                      unsigned int valid) {
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1], 16, %3;" ::"r"(to), "l"(from),
               "n"(kOffset), "r"(valid)
               : "memory");
}

// 9.7.9.25.3.2 cp.async.commit_group
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// 9.7.9.25.3.3 cp.async.wait_group: until at most kPending of this thread's groups are under way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#endif

// 9.7.13.5 atom: *counter = *counter >= last ? 0 : *counter + 1; the value before. What this thread
// has seen written, that thread sees which reads the counter next.
__device__ __forceinline__ unsigned int atom_inc_acq_rel(unsigned int* counter, unsigned int last) {
  unsigned int before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(last)
               : "memory");
  return before;
}

}  // namespace halftone::kernels::ptx
#endif
