// SPDX-License-Identifier: Apache-2.0
// Contractions of a batch in plain f32: each of its elements is a matrix product of its own, with
// contraction.cuh's tiles and chains (N1). No tile spans two elements. There is no sum of lhs.
#pragma once

#include "halftone/kernels/contraction.cuh"

namespace halftone::kernels::batched_contraction {

template <int kRows, int kColumns, int kDepth, int kThreadRows, int kThreadColumns>
using Tile = contraction::Tile<kRows, kColumns, kDepth, kThreadRows, kThreadColumns>;

/// What a block computes: a tile of one element's rows and columns.
struct Place {
  long long element, first_row;  ///< first_row counts inside the element
  int first_column;
};

/// blockIdx.x = (element * row tiles + row tile) * column tiles + column tile.
template <class Body, class Tile>
__device__ __forceinline__ Place place_of(const Body& body) {
  constexpr unsigned int kColumnTiles = (Body::columns() + Tile::kColumns - 1) / Tile::kColumns;
  const auto row_tiles =
      static_cast<unsigned int>((body.element_rows + Tile::kRows - 1) / Tile::kRows);
  const unsigned int row_tile = blockIdx.x / kColumnTiles;
  return {row_tile / row_tiles, static_cast<long long>(row_tile % row_tiles) * Tile::kRows,
          static_cast<int>(blockIdx.x % kColumnTiles) * Tile::kColumns};
}

/// Adds up one element's products; every thread of the block must call.
template <class Body, class Tile>
__device__ __forceinline__ void add_up(const Body& body, const Place& place,
                                       float (&sums)[Tile::kThreadRows][Tile::kThreadColumns]) {
  using LhsStaging = contraction::Staging<typename Body::Lhs, Tile::kRows, Tile::kDepth,
                                          Tile::kThreads, !Body::kTransposeLhs>;
  using RhsStaging = contraction::Staging<typename Body::Rhs, Tile::kColumns, Tile::kDepth,
                                          Tile::kThreads, Body::kTransposeRhs>;
  __shared__ __align__(16) typename LhsStaging::Shared lhs_tile;
  __shared__ __align__(16) typename RhsStaging::Shared rhs_tile;
  const int row_thread = static_cast<int>(threadIdx.x) / Tile::kColumnThreads;
  const int column_thread = static_cast<int>(threadIdx.x) % Tile::kColumnThreads;
  const auto* lhs_of_element = body.lhs + place.element * body.element_rows * body.depth;
  const auto* rhs_of_element = body.rhs + place.element * body.depth * Body::columns();
  LhsStaging lhs;
  RhsStaging rhs;
  const auto fetch = [&](long long k) {
    lhs.fetch(lhs_of_element, place.first_row, body.element_rows, k, body.depth,
              minus_zero(body.lhs));
    rhs.fetch(rhs_of_element, place.first_column, Body::columns(), k, body.depth, {});
  };
  fetch(0);
  for (long long k = 0; k < body.depth; k += Tile::kDepth) {
    lhs.put(lhs_tile);
    rhs.put(rhs_tile);
    __syncthreads();
    if (k + Tile::kDepth < body.depth) fetch(k + Tile::kDepth);
#pragma unroll
    for (int d = 0; d < Tile::kDepth; ++d) {
      float a[Tile::kThreadRows], b[Tile::kThreadColumns];
      contraction::read_lines<Tile::kThreadRows, Tile::kRowThreads>(lhs_tile[d], row_thread, a);
      contraction::read_lines<Tile::kThreadColumns, Tile::kColumnThreads>(rhs_tile[d],
                                                                          column_thread, b);
#pragma unroll
      for (int m = 0; m < Tile::kThreadRows; ++m) {
#pragma unroll
        for (int n = 0; n < Tile::kThreadColumns; ++n)
          sums[m][n] = __fmaf_rn(a[m], b[n], sums[m][n]);
      }
    }
    __syncthreads();
  }
}

/// body: README.md of this folder. Its rows are those of all elements, one after another.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(!Body::kUsesLhsSum, "a batch has no sum of lhs");
  const Place place = place_of<Body, Tile>(body);
  float sums[Tile::kThreadRows][Tile::kThreadColumns] = {};
  add_up<Body, Tile>(body, place, sums);
  Body own = body;
  own.rows = (place.element + 1) * body.element_rows;  // no tile reaches into the next element
  contraction::finish_tile<Tile>(own, place.element * body.element_rows + place.first_row,
                                 place.first_column, sums, nullptr);
}

}  // namespace halftone::kernels::batched_contraction
