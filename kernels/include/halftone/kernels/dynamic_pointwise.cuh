// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels over rows whose length is known when they run: every thread computes four
// neighbouring elements of one row, as in pointwise.cuh, and then those that are a grid further on.
#pragma once

#include "halftone/kernels/load_store.cuh"

namespace halftone::kernels::dynamic_pointwise {

/// Of numbers that are not negative. A division of 64 bits takes several times one of 32.
__device__ __forceinline__ long long divide(long long value, long long divisor) {
  if ((value | divisor) >> 32 == 0)
    return static_cast<unsigned int>(value) / static_cast<unsigned int>(divisor);
  return value / divisor;
}

template <class Body>
__device__ __forceinline__ void compute_group(const Body& body, long long row, int column) {
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<4> inputs;
  typename Body::template Outputs<4> outputs;
  body.load(row, uniforms);
  body.load(row, column, inputs);
#pragma unroll
  for (int i = 0; i < 4; ++i) body.compute(uniforms, inputs, i, row, column + i, outputs);
  body.store(row, column, outputs);
}

/// Body: README.md of this folder. The grid may have any number of blocks.
template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  const long long groups = (body.columns() + 3LL) / 4, all = body.rows * groups;
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
#pragma unroll 1
  for (long long group = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; group < all;
       group += step) {
    const long long row = divide(group, groups);
    compute_group(body, row, static_cast<int>(4 * (group - row * groups)));
  }
}

}  // namespace halftone::kernels::dynamic_pointwise
