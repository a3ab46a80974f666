// SPDX-License-Identifier: Apache-2.0
// Column kernels: sums over rows by N3. A block owns kLanes neighbouring columns; each of its warp
// rows adds up chunks of 128 rows, and one of them then adds the chunks' sums in ascending order.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::column {

/// The chain of one chunk for one column.
template <class Body>
__device__ __forceinline__ void add_chunk(const Body& body, long long chunk, int column,
                                          float (&sums)[Body::kSums]) {
  const long long end = min(body.rows, (chunk + 1) * kColumnChunk);
#pragma unroll 8
  for (long long row = chunk * kColumnChunk; row < end; ++row) {
    typename Body::Uniforms uniforms;
    typename Body::template Inputs<1> inputs;
    typename Body::template Outputs<1> outputs;
    float terms[Body::kSums];
    body.load(row, uniforms);
    body.load(row, column, inputs);
    body.compute(uniforms, inputs, 0, row, column, outputs, terms);
    body.store(row, column, outputs);
#pragma unroll
    for (int s = 0; s < Body::kSums; ++s) sums[s] += terms[s];
  }
}

template <class Body, int kLanes, int kChunksAtOnce>
__device__ __forceinline__ void run(const Body& body) {
  __shared__ float chunk_sums[Body::kSums][kChunksAtOnce][kLanes];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int slot = static_cast<int>(threadIdx.x) / kLanes;
  const int column = static_cast<int>(blockIdx.x) * kLanes + lane;
  const long long chunks = (body.rows + kColumnChunk - 1) / kColumnChunk;
  float totals[Body::kSums] = {};
  for (long long first = 0; first < chunks; first += kChunksAtOnce) {
    float sums[Body::kSums] = {};
    if (column < Body::columns() && first + slot < chunks)
      add_chunk(body, first + slot, column, sums);
#pragma unroll
    for (int s = 0; s < Body::kSums; ++s) chunk_sums[s][slot][lane] = sums[s];
    __syncthreads();
    if (slot == 0) {
      const int ready =
          static_cast<int>(min(static_cast<long long>(kChunksAtOnce), chunks - first));
      for (int chunk = 0; chunk < ready; ++chunk) {
#pragma unroll
        for (int s = 0; s < Body::kSums; ++s) totals[s] += chunk_sums[s][chunk][lane];
      }
    }
    __syncthreads();
  }
  if (slot == 0 && column < Body::columns()) body.store_column(column, totals);
}

}  // namespace halftone::kernels::column
