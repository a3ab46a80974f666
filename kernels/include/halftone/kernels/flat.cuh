// SPDX-License-Identifier: Apache-2.0
// Flat kernels: one sum over all elements in row-major order (N4), and a scalar program that
// follows it. A team of eight lanes adds up a chunk of 1024 elements; the block that finishes last
// combines the chunks' sums.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::flat {

/// Computes kWidth neighbouring elements of one row and adds the valid terms to their partials.
template <int kWidth, class Body, class Column>
__device__ __forceinline__ void add(const Body& body, long long row, Column column,
                                    float* partial) {
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<kWidth> inputs;
  typename Body::template Outputs<kWidth> outputs;
  body.load(row, uniforms);
  body.load(row, column, inputs);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    float term;
    body.compute(uniforms, inputs, i, row, column + i, outputs, term);
    if (column + i < body.columns()) partial[i] += term;
  }
  body.store(row, column, outputs);
}

/// The sum of the chunk that starts at `first`; every lane of the warp must call.
template <class Body>
__device__ __forceinline__ float chunk_sum(const Body& body, long long first) {
  using Column = typename Body::Column;
  const long long count = body.rows * body.columns();
  float partial[kOwned] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 4
  for (int group = 0; group < kChunk / kPartials; ++group) {
    const long long element = first + group * kPartials + kOwned * team::lane();
    if (element >= count) break;
    if constexpr (Body::kCollapsed) {
      add<4>(body, 0, element, partial);
    } else if constexpr (Body::columns() % 4 == 0) {
      add<4>(body, element / Body::columns(), static_cast<Column>(element % Body::columns()),
             partial);
    } else {  // the four may lie in different rows
#pragma unroll
      for (int i = 0; i < kOwned; ++i) {
        const long long own = element + i;
        if (own < count)
          add<1>(body, own / Body::columns(), static_cast<Column>(own % Body::columns()),
                 partial + i);
      }
    }
  }
  return team::halve(Reduction::sum, partial);
}

template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  const long long chunks = (body.rows * body.columns() + kChunk - 1) / kChunk;
  const long long chunk =
      static_cast<long long>(blockIdx.x) * (kThreads / kTeam) + threadIdx.x / kTeam;
  const float sum = chunk_sum(body, chunk * kChunk);
  if (chunk < chunks && team::lane() == 0) body.workspace[chunk] = sum;
  if (!block::is_last(body.blocks_done)) return;
  const float total = block::tree_sum<kThreads>(body.workspace, chunks);
  if (threadIdx.x == 0) body.finish(total);
}

}  // namespace halftone::kernels::flat
