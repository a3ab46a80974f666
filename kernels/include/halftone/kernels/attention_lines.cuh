// SPDX-License-Identifier: Apache-2.0
// What attention's kernels share: how lines of queries, keys and what goes with them come into
// shared memory, and what mma makes of them there.
#pragma once

#include "halftone/kernels/intervals.cuh"
#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/product.cuh"
#include "halftone/kernels/tensor_fragments.cuh"

namespace halftone::kernels::attention {

using tensor_contraction::Depth;
using tensor_contraction::Fragments;
using tensor_contraction::Layout;
using tensor_contraction::multiply;
using tensor_contraction::StagingOf;

/// Lines in shared memory are powers of two long.
__device__ constexpr int padded(int columns) {
  int size = 16;
  while (size < columns) size *= 2;
  return size;
}

/// How lines of one operand come into shared memory, kLines at a time.
template <class T, int kLines, int kLine, int kThreads>
using LinesOf = StagingOf<Layout<T, kLine, kLines, false>, T, kThreads, 16>;

/// How a warp reads kLines of them: sixteen as rows of a product over their columns, all as its
/// columns, or as what a product over the lines themselves sums, kColumns columns of it.
template <class T, int kLines, int kLine>
using AsRows = Fragments<Layout<T, kLines, kLine, true>, 16, false>;
template <class T, int kLines, int kLine>
using AsColumns = Fragments<Layout<T, kLines, kLine, true>, kLines, true>;
template <class T, int kLines, int kLine, int kColumns>
using AsSummed = Fragments<Layout<T, kLine, kLines, false>, kColumns, true>;

__device__ __forceinline__ Depth depth_of(long long first, long long total, int lines) {
  const long long length = total - first;
  Depth depth;
  depth.first = first;
  depth.total = total;
  depth.full = static_cast<int>(length / lines);
  depth.rest = static_cast<int>(length % lines);
  depth.tiles = depth.full + (depth.rest != 0);
  return depth;
}

/// What a mask keeps of rows first..last of an element, which may be those of several heads, and
/// columns first..last.
template <class Body>
__device__ __forceinline__ Kept kept_of(const Body& body, long long element, long long first_row,
                                        long long last_row, int first_column, int last_column) {
  if constexpr (!Body::kMasks) return Kept::all;
  const long long queries = body.queries();
  bool any = false, all = true;
  for (long long i = first_row / queries; i * queries <= last_row; ++i) {
    const auto first = static_cast<int>(max(first_row - i * queries, 0ll));
    const auto last = static_cast<int>(min(last_row - i * queries, queries - 1));
    const Kept kept = body.kept(element * body.group() + i, first, last, first_column, last_column);
    any = any || kept != Kept::none;
    all = all && kept == Kept::all;
  }
  return all ? Kept::all : any ? Kept::some : Kept::none;
}

/// One tile, of which a mask keeps something, and whether it keeps all: in one register.
class KeptTile {
 public:
  __device__ __forceinline__ KeptTile(int number, bool all)
      : bits_(2 * number + static_cast<int>(all)) {}
  __device__ __forceinline__ int number() const { return bits_ >> 1; }
  __device__ __forceinline__ bool all() const { return (bits_ & 1) != 0; }

 private:
  int bits_;
};

/// The first tile from `number` on of which kept(number) is not none, or the end, `tiles`.
template <class KeptOf>
__device__ __forceinline__ KeptTile kept_tile(int number, int tiles, const KeptOf& kept) {
#pragma unroll 1
  for (; number < tiles; ++number) {
    const Kept found = kept(number);
    if (found != Kept::none) return {number, found == Kept::all};
  }
  return {tiles, false};
}

/// One copy, or a pair of them, of a tile into a stage; `next` is placed behind it.
template <bool kAsync, class... Staging>
__device__ __forceinline__ void place(int stage, int tile, int next, int tiles, int inside,
                                      Staging&... operands) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kAsync) {
    if (tile < inside)
      (operands.template start<false>(stage, tile), ...);
    else if (tile < tiles)
      (operands.template start<true>(stage, tile), ...);
    (operands.skip(next - tile - 1), ...);
    ptx::cp_async_commit_group();
  }
#endif
  (operands.pass(stage, tile, next, tiles), ...);
}

/// What was placed is there for all warps, and all are done with the stage before.
template <bool kAsync>
__device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800
  if constexpr (kAsync) ptx::cp_async_wait_group<0>();
#endif
  __syncthreads();
}

/// Places kLines lines from line `first` of `total` on, kColumns long, and waits for them.
template <class T, int kLines, int kLine, int kColumns, int kThreads>
__device__ __forceinline__ void place_lines(const T* operand, long long first, long long total,
                                            unsigned int shared) {
  using Lines = LinesOf<T, kLines, kLine, kThreads>;
  const Depth depth = depth_of(first, total, kLines);
  Lines lines(operand, shared, 0, kColumns, depth);
  lines.begin(1);
  place<Lines::kAsync>(0, 0, 1, 1, min(lines.inside(), depth.full), lines);
  wait<Lines::kAsync>();
}

/// sums += step kStep of a warp's sixteen rows times the lines of the stage.
template <class T, int kStep, class Columns, int kEights>
__device__ __forceinline__ void multiply_step(const unsigned int (&rows)[4], const Columns& columns,
                                              int stage, float (&sums)[kEights][4]) {
  typename Columns::Registers words;
  columns.template load<kStep>(stage, words);
#pragma unroll
  for (int j = 0; j < kEights; ++j)
    multiply<T>(sums[j], rows, words[j / 2][j % 2 * 2], words[j / 2][j % 2 * 2 + 1]);
}

/// sums += weights, sixteen rows of so many eights as mma left what they are made of, times the
/// lines of the stage: that layout is the one of mma's a.
template <class T, class Summed, int kWeights, int kEights, int kStep = 0>
__device__ __forceinline__ void add_lines(const unsigned int (&weights)[kWeights][2],
                                          const Summed& summed, int stage,
                                          float (&sums)[kEights][4]) {
  const unsigned int rows[4] = {weights[2 * kStep][0], weights[2 * kStep][1],
                                weights[2 * kStep + 1][0], weights[2 * kStep + 1][1]};
  multiply_step<T, kStep>(rows, summed, stage, sums);
  if constexpr (2 * kStep + 2 < kWeights)
    add_lines<T, Summed, kWeights, kEights, kStep + 1>(weights, summed, stage, sums);
}

/// Where the first of a lane's two neighbours is in each eight of mma's results.
__device__ __forceinline__ int column_of_lane() { return static_cast<int>(threadIdx.x) % 4 * 2; }

/// Row lane / 4 of the sums, or with `half` the one eight below it, to memory.
template <int kEights>
__device__ __forceinline__ void store_sums(const float (&sums)[kEights][4], int half, float* row) {
#pragma unroll
  for (int j = 0; j < kEights; ++j)
    ptx::st_global(row + column_of_lane() + 8 * j,
                   {__float_as_uint(sums[j][2 * half]), __float_as_uint(sums[j][2 * half + 1])});
}

}  // namespace halftone::kernels::attention
