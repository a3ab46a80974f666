// SPDX-License-Identifier: Apache-2.0
// What attention's kernels by warp groups of sm_90a share: how lines of an operand lie in shared
// memory, their products, and the ring of slots that one thread fills by tensor copies.
#pragma once

#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/intervals.cuh"
#include "halftone/kernels/ptx_sm90_attention.cuh"
#include "halftone/kernels/warpgroup_stages.cuh"

namespace halftone::kernels::warpgroup_attention {

using warpgroup_contraction::Turn;

constexpr int kLineBytes = 128;  // of a box: 64 columns of 16 bits, the span of the swizzle

/// kLines lines (queries or keys) of kColumns columns in shared memory: boxes of 64 columns after
/// another, zero past the operand's own. A box begins at a multiple of 1024 bytes.
template <int kLines_, int kColumns_>
struct Lines {
  static constexpr int kLines = kLines_, kColumns = kColumns_;
  static constexpr int kBoxes = (kColumns + 63) / 64, kPadded = 64 * kBoxes;
  static constexpr int kBoxBytes = kLines * kLineBytes, kBytes = kBoxes * kBoxBytes;
  static_assert(kLines % 8 == 0 && kColumns <= 128, "a swizzle repeats after eight lines");

  /// kBytes of the operand from the line `at` on, which complete on `barrier`.
  __device__ __forceinline__ static void fetch(unsigned int to, const TensorMap& map,
                                               unsigned int barrier, const int (&at)[3]) {
#pragma unroll
    for (int box = 0; box < kBoxes; ++box)
      ptx::tensor_load(to + box * kBoxBytes, map, barrier, 64 * box, at);
  }

  /// A matrix of lines, from number `line` on, by sixteen columns, number `step` of them, which the
  /// product sums (K-major). `line` is a multiple of eight.
  __device__ __forceinline__ static unsigned long long along(unsigned int address, int step,
                                                             int line = 0) {
    return (kDescriptor | 1ull << 16 | (address + line * kLineBytes) >> 4) +
           ((step / 4 * kBoxBytes + step % 4 * 32) >> 4);
  }
  /// A matrix of all columns by sixteen lines, number `step` of them, which the product sums
  /// (MN-major).
  __device__ __forceinline__ static unsigned long long across(unsigned int address, int step) {
    return (kDescriptor | (kBoxBytes >> 4 & 0x3fffull) << 16 | address >> 4) +
           (step * 16 * kLineBytes >> 4);
  }

 private:
  /// The 128-byte swizzle; 1024 bytes from eight lines to the next.
  static constexpr unsigned long long kDescriptor = 1ull << 62 | (1024ull >> 4) << 32;
};

template <class T>
inline constexpr bool kIsF16 = false;
template <>
inline constexpr bool kIsF16<f16> = true;

/// sums = a * b, plus what they were unless `accumulate` is 0. a: a descriptor of 64 K-major lines,
/// or a lane's four words. kAcross: b is a descriptor of Lines::across.
template <class T, bool kAcross, int kSums>
__device__ __forceinline__ void multiply(float (&sums)[kSums], unsigned long long a,
                                         unsigned long long b, int accumulate) {
  static_assert(kSums == 32 || kSums == 64, "64 or 128 columns of a product");
  if constexpr (kSums == 32 && kIsF16<T>)
    ptx::wgmma_m64n64k16_f16<false, kAcross>(sums, a, b, accumulate);
  else if constexpr (kSums == 32)
    ptx::wgmma_m64n64k16_bf16<false, kAcross>(sums, a, b, accumulate);
  else if constexpr (kIsF16<T>)
    ptx::wgmma_m64n128k16_f16<false, kAcross>(sums, a, b, accumulate);
  else
    ptx::wgmma_m64n128k16_bf16<false, kAcross>(sums, a, b, accumulate);
}
template <class T, bool kAcross, int kSums>
__device__ __forceinline__ void multiply(float (&sums)[kSums], const unsigned int (&a)[4],
                                         unsigned long long b, int accumulate) {
  static_assert(kSums == 32 || kSums == 64, "64 or 128 columns of a product");
  if constexpr (kSums == 32 && kIsF16<T>)
    ptx::wgmma_m64n64k16_f16<kAcross>(sums, a, b, accumulate);
  else if constexpr (kSums == 32)
    ptx::wgmma_m64n64k16_bf16<kAcross>(sums, a, b, accumulate);
  else if constexpr (kIsF16<T>)
    ptx::wgmma_m64n128k16_f16<kAcross>(sums, a, b, accumulate);
  else
    ptx::wgmma_m64n128k16_bf16<kAcross>(sums, a, b, accumulate);
}

/// Waits for the phase of this parity.
__device__ __forceinline__ void wait(unsigned int barrier, unsigned int parity) {
  while (!ptx::mbarrier_try_wait(barrier, parity)) {
  }
}

/// kSlots slots of kSlotBytes, each with an mbarrier that completes when it is full (kFillers arrive
/// there: the thread that asks for copies, and whoever else writes), one when
/// kGroups warp groups have emptied it, and a note of what it holds; and one mbarrier of what stays
/// in shared memory. The caller places it: slots at a multiple of 1024 bytes, kBytes in all.
template <int kSlots_, int kSlotBytes_, int kGroups, int kFillers = 1>
class Ring {
 public:
  static constexpr int kSlots = kSlots_, kSlotBytes = kSlotBytes_;
  static constexpr int kBytes = kSlots * (kSlotBytes + 20) + 16;

  __device__ __forceinline__ Ring(unsigned char* storage)
      : shared_(static_cast<unsigned int>(__cvta_generic_to_shared(storage))),
        notes_(reinterpret_cast<int*>(storage + kSlots * (kSlotBytes + 16) + 16)) {}

  /// By one thread, before all others go on.
  __device__ __forceinline__ void begin() const {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      ptx::mbarrier_init(full(s), kFillers);
      ptx::mbarrier_init(empty(s), 4 * kGroups);
    }
    ptx::mbarrier_init(resident(), 1);
    ptx::fence_mbarrier_init();
  }
  __device__ __forceinline__ unsigned int slot(int s) const { return shared_ + s * kSlotBytes; }
  __device__ __forceinline__ unsigned int full(int s) const {
    return shared_ + kSlots * kSlotBytes + 16 * s;
  }
  __device__ __forceinline__ unsigned int empty(int s) const { return full(s) + 8; }
  /// Its only phase completes when what stays is there.
  __device__ __forceinline__ unsigned int resident() const { return full(kSlots); }

  /// The producer: once the slot is empty, a note and how many bytes come.
  __device__ __forceinline__ void open(const Turn<kSlots>& turn, int bytes, int note) const {
    wait(empty(turn.stage), turn.parity ^ 1);
    notes_[turn.stage] = note;
    ptx::mbarrier_arrive_expect_tx(full(turn.stage), bytes);
  }
  /// A consumer: once the slot is full, its note.
  __device__ __forceinline__ int read(const Turn<kSlots>& turn) const {
    wait(full(turn.stage), turn.parity);
    return notes_[turn.stage];
  }
  /// By every warp of the consumers, when it has read slot s.
  __device__ __forceinline__ void release(int s) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty(s));
  }

 private:
  const unsigned int shared_;
  int* const notes_;
};

}  // namespace halftone::kernels::warpgroup_attention
