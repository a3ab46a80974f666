// SPDX-License-Identifier: Apache-2.0
// The products of tensor_memory_contraction.cuh, for which one thread asks: descriptors, and which
// stages and sums they are of.
#pragma once

#include "halftone/kernels/float8.cuh"
#include "halftone/kernels/tensor_memory_stages.cuh"

namespace halftone::kernels::tensor_memory_contraction {

/// What matrix descriptors say beside the address: the 128-byte swizzle; 1024 bytes from eight
/// lines to the next; where lines lie across k, one block of 128 to the next.
template <bool kAlongDepth>
inline constexpr unsigned long long kDescriptor =
    2ull << 61 | 1ull << 46 | (1024ull >> 4) << 32 | (kAlongDepth ? 1ull : kBlockBytes >> 4) << 16;

/// Of 32 rows of 16 bytes, one behind the other.
inline constexpr unsigned long long kScaleDescriptor =
    1ull << 46 | (128ull >> 4) << 32 | 1ull << 16;

template <class T>
inline constexpr unsigned int kFormat = 0;  // E4M3
template <>
inline constexpr unsigned int kFormat<f8e5m2> = 1;
template <>
inline constexpr unsigned int kFormat<int> = 1;  // E2M1, of packed codes

/// Whether scales are f8e4m3, each of 16 packed codes; all others are f8e8m0.
template <class Body, class Tile>
__device__ __forceinline__ constexpr bool has_f8e4m3_scales() {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return Body::kScalePlaces == 16;
  else
    return false;
}

/// The instruction descriptor of 128 rows; of scales all but which byte of their words.
template <class Body, class Tile>
inline constexpr unsigned int kInstruction =
    kFormat<typename Body::Lhs> << 7 | kFormat<typename Body::Rhs> << 10 |
    (Body::kTransposeLhs ? 1u : 0u) << 15 | (Body::kTransposeRhs ? 0u : 1u) << 16 |
    static_cast<unsigned int>(Tile::kColumns >> 3) << 17 |
    (Tile::kScales ? (has_f8e4m3_scales<Body, Tile>() ? 0u : 1u) << 23 | (128u >> 7) << 27
                   : 1u << 4 | (128u >> 4) << 24);

/// Number kIndex of a stage's instructions. `scales`: the column where lhs's begin.
template <class Body, class Tile, int kIndex>
__device__ __forceinline__ void multiply_step(unsigned int sums, unsigned long long lhs,
                                              unsigned long long rhs, unsigned int scales,
                                              int accumulate) {
  constexpr int kLhsStep = Body::kTransposeLhs ? kStep * kLineBytes : kStep;
  constexpr int kRhsStep = Body::kTransposeRhs ? kStep : kStep * kLineBytes;
  constexpr unsigned int kInstruct = kInstruction<Body, Tile>;
  lhs += kIndex * kLhsStep >> 4;
  rhs += kIndex * kRhsStep >> 4;
  if constexpr (Tile::kScaleWords == kWordsOfPairs) {
    scales += kIndex * (1 + Tile::kBlocks) * kScaleColumns;
    if constexpr (has_f8e4m3_scales<Body, Tile>())
      ptx::tcgen05_mma_nvf4(sums, lhs, rhs, kInstruct, scales, scales + kScaleColumns, accumulate);
    else
      ptx::tcgen05_mma_mxf4(sums, lhs, rhs, kInstruct, scales, scales + kScaleColumns, accumulate);
  } else if constexpr (Tile::kScales) {
    ptx::tcgen05_mma_mxf8f6f4(sums, lhs, rhs, kInstruct | kIndex << 4 | kIndex << 29, scales,
                              scales + kScaleColumns, accumulate);
  } else {
    ptx::tcgen05_mma_f8f6f4(sums, lhs, rhs, kInstruct, accumulate);
  }
}

template <class Body, class Tile>
class Products {
 public:
  __device__ __forceinline__ Products(const Storage<Tile>& storage, unsigned int memory)
      : storage_(storage), memory_(memory) {}

  __device__ __forceinline__ void run(const Order<Tile>& order) {
    for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
      const int stages = stages_of(order(unit).depth);
#pragma unroll 1
      for (int i = 0; i < stages; ++i) {
        storage_.wait(storage_.full(turn_.stage), turn_.parity);
        ptx::tcgen05_fence_after_thread_sync();
        if constexpr (Tile::kScales) copy_scales_in();
        multiply<0>(i);
        ptx::tcgen05_commit(storage_.empty(turn_.stage));
        turn_.next();
      }
      if (!Body::kPromotes) end_part();
    }
  }

 private:
  __device__ __forceinline__ void copy_scales_in() const {
    const unsigned long long scales = kScaleDescriptor | storage_.scales(turn_.stage) >> 4;
#pragma unroll
    for (int block = 0; block < Tile::kScaleBlocks; ++block)
      ptx::tcgen05_cp_32x128b_warpx4(memory_ + Tile::kScalesFrom + block * kScaleColumns,
                                     scales + (block * kScaleBytes >> 4));
  }

  /// The stage's, which is number `i` of a tile's.
  template <int kIndex>
  __device__ __forceinline__ void multiply(int i) {
    constexpr bool kBegins = kIndex % kStepsOfPart<Tile> == 0;
    if (kBegins && (Body::kPromotes || (kIndex == 0 && i == 0))) begin_part();
    const unsigned int stage = storage_.stage(turn_.stage);
    const int goes_on = Body::kPromotes ? !kBegins : kIndex == 0 ? i : 1;
    multiply_step<Body, Tile, kIndex>(
        memory_ + buffer_.stage * Tile::kColumns, kDescriptor<!Body::kTransposeLhs> | stage >> 4,
        kDescriptor<Body::kTransposeRhs> | (stage + Tile::kLhsBytes) >> 4,
        memory_ + Tile::kScalesFrom, goes_on);
    if (Body::kPromotes && (kIndex + 1) % kStepsOfPart<Tile> == 0) end_part();
    if constexpr (kIndex + 1 < kSteps) multiply<kIndex + 1>(i);
  }

  __device__ __forceinline__ void begin_part() const {
    storage_.wait(storage_.taken(buffer_.stage), buffer_.parity ^ 1);
    ptx::tcgen05_fence_after_thread_sync();
  }
  __device__ __forceinline__ void end_part() {
    ptx::tcgen05_commit(storage_.whole(buffer_.stage));
    buffer_.next();
  }

  const Storage<Tile>& storage_;
  unsigned int memory_;
  Turn<Tile::kStages> turn_;
  Turn<Tile::kBuffers> buffer_;
};

}  // namespace halftone::kernels::tensor_memory_contraction
