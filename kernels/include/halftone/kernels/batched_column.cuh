// SPDX-License-Identifier: Apache-2.0
// Column kernels of a batch: for each of its elements the sums over its rows by N3. As in
// column.cuh, a block owns kLanes neighbouring columns, here of one element.
#pragma once

#include "halftone/kernels/column.cuh"

namespace halftone::kernels::batched_column {

/// A Body whose rows are those of one element, counted from its first. Threads beyond the last
/// column store nothing.
template <class Body>
struct Element : Body {
  using Column = typename Body::Column;
  long long number;

  __device__ __forceinline__ Element(const Body& body, long long element)
      : Body(body), number(element) {
    Body::rows = Body::element_rows;
  }
  __device__ __forceinline__ long long place(long long row) const {
    return number * Body::element_rows + row;
  }
  __device__ __forceinline__ void load(long long row, typename Body::Uniforms& uniforms) const {
    Body::load(place(row), uniforms);
  }
  __device__ __forceinline__ void load(long long row, Column column,
                                       typename Body::template Inputs<1>& inputs) const {
    Body::load(place(row), column, inputs);
  }
  __device__ __forceinline__ void compute(const typename Body::Uniforms& uniforms,
                                          const typename Body::template Inputs<1>& inputs, int i,
                                          long long row, Column column,
                                          typename Body::template Outputs<1>& outputs,
                                          float* terms) const {
    Body::compute(uniforms, inputs, i, place(row), column, outputs, terms);
  }
  __device__ __forceinline__ void store(long long row, Column column,
                                        const typename Body::template Outputs<1>& outputs) const {
    Body::store(place(row), column, outputs);
  }
};

template <class Body, int kLanes, int kChunksAtOnce>
__device__ __forceinline__ void run(const Body& body) {
  __shared__ float chunk_sums[Body::kSums][kChunksAtOnce][kLanes];
  const int tiles = (body.columns() + kLanes - 1) / kLanes;
  const Element<Body> element(body, static_cast<int>(blockIdx.x) / tiles);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int slot = static_cast<int>(threadIdx.x) / kLanes;
  const int column = static_cast<int>(blockIdx.x) % tiles * kLanes + lane;
  const long long chunks = (element.rows + kColumnChunk - 1) / kColumnChunk;
  float totals[Body::kSums] = {};
  for (long long first = 0; first < chunks; first += kChunksAtOnce) {
    float sums[Body::kSums] = {};
    if (column < body.columns() && first + slot < chunks)
      column::add_chunk(element, first + slot, column, sums);
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
  if (slot == 0 && column < body.columns()) body.store_column(element.number, column, totals);
}

}  // namespace halftone::kernels::batched_column
