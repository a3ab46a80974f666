// SPDX-License-Identifier: Apache-2.0
// The registers of mma.sync: where a warp's lanes find their elements of an operand's stage, and
// the product of 16 x 8 results for each format.
#pragma once

#include "halftone/kernels/tensor_staging.cuh"

namespace halftone::kernels::tensor_contraction {

template <class T>
inline constexpr bool kIsF16 = false;
template <>
inline constexpr bool kIsF16<f16> = true;

/// A warp's kWarpExtent rows of lhs or columns of rhs, sixteen at a time: four registers each, in
/// the order of mma's a for lhs, and b of the lower eight columns, then b of the upper, for rhs.
template <class Layout, int kWarpExtent, bool kIsRhs>
class Fragments {
 public:
  static constexpr bool kByWords = Layout::kByWords;
  static constexpr int kTiles = kWarpExtent / 16;
  static constexpr int kStep = 32 / Layout::kSize;  ///< depth of one product
  using Registers = unsigned int[kTiles][4];

  /// `shared`: the address of the operand's first stage; `first`: the warp's first row or column in
  /// the block's tile.
  __device__ __forceinline__ Fragments(unsigned int shared, int first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int low = lane % 8, bit3 = lane / 8 % 2, bit4 = lane / 16;
    const int extent_half = kIsRhs ? bit4 : bit3, depth_half = kIsRhs ? bit3 : bit4;
#pragma unroll
    for (int v = 0; v < kVariants; ++v) {
      if constexpr (kByWords)
        from_[v] = shared + Layout::offset(lane % 4, first + lane / 4 * kRun);
      else if constexpr (Layout::kAlongDepth)
        from_[v] = shared + Layout::offset(first + low + 8 * extent_half,
                                           kStep * v + kStep / 2 * depth_half);
      else
        from_[v] = shared + Layout::offset(low + 8 * depth_half, first + 16 * v + 8 * extent_half);
    }
  }

  /// The kIndex-th product's operands, from kTile on, of the stage so many bytes past the first.
  template <int kIndex, int kTile = 0>
  __device__ __forceinline__ void load(int stage, Registers& registers) const {
    constexpr int kLine = Layout::kLineBytes;
    if constexpr (kByWords) {
      load_run<kIndex, kTile, 0>(stage, registers);
      load_run<kIndex, kTile, 1>(stage, registers);
    } else if constexpr (Layout::kAlongDepth) {
      ptx::ldmatrix_x4<kIndex / kVariants * 128 + kTile * 16 * kLine>(
          from_[kIndex % kVariants] + stage, registers[kTile]);
    } else {
      ptx::ldmatrix_x4_trans<kIndex * 16 * kLine + kTile / kVariants * 128>(
          from_[kTile % kVariants] + stage, registers[kTile]);
    }
    constexpr int kNext = kTile + (kByWords ? kRun / 2 : 1);
    if constexpr (kNext < kTiles) load<kIndex, kNext>(stage, registers);
  }

  /// The row or column, from the warp's first, that is number `index` of 16-row tile `tile`.
  __device__ __forceinline__ static int line(int tile, int index) {
    if constexpr (!Layout::kByWords) return 16 * tile + index;
    const int half = index / 8, place = index % 8;
    return kRun == 4 ? tile / 2 * 32 + place * 4 + tile % 2 * 2 + half : place * 2 + half;
  }

  /// Words: neighbours in memory that one lane loads at once. They become the same place of as many
  /// eights of rows or columns, so the warp's lines are those of its tiles in another order.
  static constexpr int kRun = kTiles > 1 ? 4 : 2;

 private:
  /// Addresses that do not differ by a constant alone.
  static constexpr int kExchanged = Layout::kChunks < 8 ? Layout::kChunks / 2 : 4;
  static constexpr int kVariants =
      Layout::kByWords ? 1 : (Layout::kAlongDepth || kTiles > kExchanged ? kExchanged : kTiles);

  /// The kRun words of either half of the depth: places 0, 1 of tile kTile, then of the next.
  template <int kIndex, int kTile, int kHalf>
  __device__ __forceinline__ void load_run(int stage, Registers& registers) const {
    unsigned int words[kRun];
    ptx::ld_shared<(kIndex * 8 + kHalf * 4) * Layout::kLineBytes + kTile * 64>(from_[0] + stage,
                                                                               words);
#pragma unroll
    for (int word = 0; word < kRun; ++word)
      registers[kTile + word / 2][kIsRhs ? word % 2 * 2 + kHalf : word % 2 + 2 * kHalf] =
          words[word];
  }

  unsigned int from_[kVariants];
};

/// sums += lhs * rhs, 16 rows by 8 columns.
template <class T>
__device__ __forceinline__ void multiply(float (&sums)[4], const unsigned int (&lhs)[4],
                                         unsigned int rhs_low, unsigned int rhs_high) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4)
    ptx::mma_m16n8k8_tf32(sums, lhs, rhs_low, rhs_high);
  else if constexpr (kIsF16<T>)
    ptx::mma_m16n8k16_f16(sums, lhs, rhs_low, rhs_high);
  else
    ptx::mma_m16n8k16_bf16(sums, lhs, rhs_low, rhs_high);
#else
  static_assert(
      kIsF16<T>,
      "sm_75 multiplies f16 alone in its tensor cores; bf16 and tf32 are for contraction");
  ptx::mma_m16n8k8_f16(sums, lhs[0], lhs[1], rhs_low);
  ptx::mma_m16n8k8_f16(sums, lhs[2], lhs[3], rhs_high);
#endif
}

}  // namespace halftone::kernels::tensor_contraction
