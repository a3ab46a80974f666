// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: every thread computes four neighbouring elements of one row. Operands are
// loaded before results are stored, so a result may take an operand's place.
#pragma once

#include "halftone/kernels/load_store.cuh"

namespace halftone::kernels::pointwise {

/// Body: README.md of this folder.
template <class Body, int kThreads>
__device__ __forceinline__ void run(const Body& body) {
  using Column = typename Body::Column;
  const long long quad = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  long long row = 0;
  Column column = static_cast<Column>(4 * quad);
  if constexpr (Body::kCollapsed) {
    if (column >= body.columns()) return;
  } else {
    constexpr long long kQuads = (Body::columns() + 3) / 4;
    row = quad / kQuads;
    column = static_cast<Column>(4 * (quad % kQuads));
    if (row >= body.rows) return;
  }
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<4> inputs;
  typename Body::template Outputs<4> outputs;
  body.load(row, uniforms);
  body.load(row, column, inputs);
#pragma unroll
  for (int i = 0; i < 4; ++i) body.compute(uniforms, inputs, i, row, column + i, outputs);
  body.store(row, column, outputs);
}

}  // namespace halftone::kernels::pointwise
