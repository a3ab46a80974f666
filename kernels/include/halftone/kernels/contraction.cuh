// SPDX-License-Identifier: Apache-2.0
// Contractions in plain f32: every result is one chain of fma with k ascending (N1), whatever the
// tile. Blocks stage operands of any format through shared memory, widened exactly; threads hold
// kThreadRows x kThreadColumns results in registers. Past the depth's end lhs counts as -0 and rhs
// as +0: fma(-0, +0, sum) is `sum` to the bit, -0 included.
#pragma once

#include "halftone/kernels/convert.cuh"
#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/product.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::contraction {

/// A plan: a block computes kRows x kColumns results, kDepth products at a time.
template <int kRows_, int kColumns_, int kDepth_, int kThreadRows_, int kThreadColumns_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kThreadRows = kThreadRows_, kThreadColumns = kThreadColumns_;
  static constexpr int kRowThreads = kRows / kThreadRows,
                       kColumnThreads = kColumns / kThreadColumns;
  static constexpr int kThreads = kRowThreads * kColumnThreads;
  static_assert(kRows % 4 == 0 && kDepth % 4 == 0 && kThreadColumns % 4 == 0 &&
                kColumnChunk % kDepth == 0 && kRows <= kThreads);
};

inline constexpr int kPadding =
    4;  // keeps rows of a tile 16-byte aligned and spreads them over the banks

/// One operand's tile on its way: fetch() reads global memory into registers, put() widens them
/// into shared memory as [depth][extent]. kAlongDepth: the operand is [extent, depth] in memory,
/// otherwise [depth, extent].
template <class T, int kExtent, int kDepth, int kThreads, bool kAlongDepth>
class Staging {
 public:
  using Shared = float[kDepth][kExtent + kPadding];

  __device__ __forceinline__ void fetch(const T* operand, long long first, long long extent,
                                        long long k, long long depth, T outside) {
#pragma unroll
    for (int p = 0; p < kPerThread; ++p) {
      const int quad = static_cast<int>(threadIdx.x) + p * kThreads;
      if (kQuads % kThreads != 0 && quad >= kQuads) continue;
      const long long major = kAlongDepth ? first + quad / kMinorQuads : k + quad / kMinorQuads;
      const long long minor = (kAlongDepth ? k : first) + 4 * (quad % kMinorQuads);
      const long long majors = kAlongDepth ? extent : depth;
      const long long minors = kAlongDepth ? depth : extent;
      load(operand + major * minors, minor, major < majors ? minors : 0LL, values_[p], outside);
    }
  }

  __device__ __forceinline__ void put(Shared& shared) const {
#pragma unroll
    for (int p = 0; p < kPerThread; ++p) {
      const int quad = static_cast<int>(threadIdx.x) + p * kThreads;
      if (kQuads % kThreads != 0 && quad >= kQuads) continue;
      const int major = quad / kMinorQuads, minor = 4 * (quad % kMinorQuads);
      if constexpr (kAlongDepth) {
#pragma unroll
        for (int i = 0; i < 4; ++i) shared[minor + i][major] = widen(values_[p][i]);
      } else {
        float wide[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) wide[i] = widen(values_[p][i]);
        store_vector(&shared[major][minor], wide);
      }
    }
  }

 private:
  static constexpr int kMinorQuads = (kAlongDepth ? kDepth : kExtent) / 4;
  static constexpr int kQuads = kExtent * kDepth / 4;
  static constexpr int kPerThread = (kQuads + kThreads - 1) / kThreads;
  T values_[kPerThread][4];
};

/// The tile's line that belongs to a thread's item: groups of up to four neighbours, spread over
/// the tile.
template <int kItems, int kThreadsAlong>
__device__ __forceinline__ int line_of(int thread, int item) {
  constexpr int kGroup = kItems < 4 ? kItems : 4;
  return item / kGroup * (kThreadsAlong * kGroup) + thread * kGroup + item % kGroup;
}

template <int kItems, int kThreadsAlong>
__device__ __forceinline__ void read_lines(const float* shared, int thread,
                                           float (&values)[kItems]) {
#pragma unroll
  for (int item = 0; item < kItems; item += 4) {
    if constexpr (kItems % 4 == 0) {
      load_vector(shared + line_of<kItems, kThreadsAlong>(thread, item),
                  reinterpret_cast<float (&)[4]>(values[item]));
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        values[i] = shared[line_of<kItems, kThreadsAlong>(thread, i)];
    }
  }
}

/// N3 over k of one row of lhs, fed tile by tile.
template <int kDepth>
struct LhsSum {
  float chunk = 0.0f, total = 0.0f;

  template <class Shared>
  __device__ __forceinline__ void add(const Shared& lhs, int row, long long k) {
    if (k != 0 && k % kColumnChunk == 0) total += chunk, chunk = 0.0f;
#pragma unroll
    for (int d = 0; d < kDepth; ++d) chunk += lhs[d][row];
  }
  __device__ __forceinline__ float result() const { return total + chunk; }
};

/// Everything after the sums: the body of each element, and one value per row from the first
/// columns' blocks. The product's rows end before `end_row`.
template <class Tile, class Body>
__device__ __forceinline__ void finish_tile(
    const Body& body, long long first_row, long long end_row, int first_column,
    const float (&sums)[Tile::kThreadRows][Tile::kThreadColumns], const float* lhs_sums) {
  const int row_thread = static_cast<int>(threadIdx.x) / Tile::kColumnThreads;
  const int column_thread = static_cast<int>(threadIdx.x) % Tile::kColumnThreads;
#pragma unroll
  for (int m = 0; m < Tile::kThreadRows; ++m) {
    const int line = line_of<Tile::kThreadRows, Tile::kRowThreads>(row_thread, m);
    const long long row = first_row + line;
    if (row >= end_row) continue;
    const float lhs_sum = Body::kUsesLhsSum ? lhs_sums[line] : 0.0f;
    typename Body::Uniforms uniforms;
    body.load(row, uniforms);
#pragma unroll
    for (int n = 0; n < Tile::kThreadColumns; n += 4) {
      const int column =
          first_column + line_of<Tile::kThreadColumns, Tile::kColumnThreads>(column_thread, n);
      if (column >= body.columns()) continue;
      typename Body::template Inputs<4> inputs;
      typename Body::template Outputs<4> outputs;
      body.load(row, column, inputs);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        body.compute(uniforms, sums[m][n + i], lhs_sum, inputs, i, row, column + i, outputs);
      body.store(row, column, outputs);
    }
    if (first_column == 0 && column_thread == 0) body.store_row(uniforms, lhs_sum, row);
  }
}

/// body: README.md of this folder. blockIdx.x = (element of the batch * row tiles + row tile) *
/// column tiles + column tile.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(!(Body::kIsBatch && Body::kUsesLhsSum), "a batch has no sum of lhs");
  using LhsStaging =
      Staging<typename Body::Lhs, Tile::kRows, Tile::kDepth, Tile::kThreads, !Body::kTransposeLhs>;
  using RhsStaging = Staging<typename Body::Rhs, Tile::kColumns, Tile::kDepth, Tile::kThreads,
                             Body::kTransposeRhs>;
  __shared__ __align__(16) typename LhsStaging::Shared lhs_tile;
  __shared__ __align__(16) typename RhsStaging::Shared rhs_tile;
  const int column_tiles = (body.columns() + Tile::kColumns - 1) / Tile::kColumns;
  unsigned int row_tile = blockIdx.x / column_tiles, element = 0;
  if constexpr (Body::kIsBatch) {
    const auto row_tiles =
        static_cast<unsigned int>((rows_of_product(body) + Tile::kRows - 1) / Tile::kRows);
    element = row_tile / row_tiles;
    row_tile %= row_tiles;
  }
  const Product<Body> product = product_of(body, element);
  const long long first_row = static_cast<long long>(row_tile) * Tile::kRows;
  const int first_column = static_cast<int>(blockIdx.x % column_tiles) * Tile::kColumns;
  const int row_thread = static_cast<int>(threadIdx.x) / Tile::kColumnThreads;
  const int column_thread = static_cast<int>(threadIdx.x) % Tile::kColumnThreads;

  float sums[Tile::kThreadRows][Tile::kThreadColumns] = {};
  LhsSum<Tile::kDepth> lhs_sum;
  LhsStaging lhs;
  RhsStaging rhs;
  const auto fetch = [&](long long k) {
    lhs.fetch(product.lhs, first_row, product.rows, k, body.depth, minus_zero(product.lhs));
    rhs.fetch(product.rhs, first_column, product.columns, k, body.depth, {});
  };
  fetch(0);
  for (long long k = 0; k < body.depth; k += Tile::kDepth) {
    lhs.put(lhs_tile);
    rhs.put(rhs_tile);
    __syncthreads();
    if (k + Tile::kDepth < body.depth) fetch(k + Tile::kDepth);
    if constexpr (Body::kUsesLhsSum) {
      if (threadIdx.x < Tile::kRows) lhs_sum.add(lhs_tile, static_cast<int>(threadIdx.x), k);
    }
#pragma unroll
    for (int d = 0; d < Tile::kDepth; ++d) {
      float a[Tile::kThreadRows], b[Tile::kThreadColumns];
      read_lines<Tile::kThreadRows, Tile::kRowThreads>(lhs_tile[d], row_thread, a);
      read_lines<Tile::kThreadColumns, Tile::kColumnThreads>(rhs_tile[d], column_thread, b);
#pragma unroll
      for (int m = 0; m < Tile::kThreadRows; ++m) {
#pragma unroll
        for (int n = 0; n < Tile::kThreadColumns; ++n)
          sums[m][n] = __fmaf_rn(a[m], b[n], sums[m][n]);
      }
    }
    __syncthreads();
  }
  if constexpr (Body::kUsesLhsSum) {
    if (threadIdx.x < Tile::kRows) lhs_tile[0][threadIdx.x] = lhs_sum.result();
    __syncthreads();
  }
  finish_tile<Tile>(body, product.first_row + first_row, product.end_row, first_column, sums,
                    lhs_tile[0]);
}

}  // namespace halftone::kernels::contraction
