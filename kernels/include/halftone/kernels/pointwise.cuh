// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: every thread computes four neighbouring elements of one row, or eight where
// that is 16 bytes. Operands are loaded before results are stored, so a result may take an
// operand's place.
#pragma once

#include "halftone/kernels/load_store.cuh"

namespace halftone::kernels::pointwise {

/// Body: README.md of this folder. The launch has a thread for every kWidth elements of a row.
template <class Body, int kThreads, int kWidth = 4>
__device__ __forceinline__ void run(const Body& body) {
  using Column = typename Body::Column;
  const long long group = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  long long row = 0;
  Column column = static_cast<Column>(kWidth * group);
  if constexpr (Body::kCollapsed) {
    if (column >= body.columns()) return;
  } else {
    constexpr long long kGroups = (Body::columns() + kWidth - 1) / kWidth;
    row = group / kGroups;
    column = static_cast<Column>(kWidth * (group % kGroups));
    if (row >= body.rows) return;
  }
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<kWidth> inputs;
  typename Body::template Outputs<kWidth> outputs;
  body.load(row, uniforms);
  body.load(row, column, inputs);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) body.compute(uniforms, inputs, i, row, column + i, outputs);
  body.store(row, column, outputs);
}

}  // namespace halftone::kernels::pointwise
