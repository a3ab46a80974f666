// SPDX-License-Identifier: Apache-2.0
// Column kernels over so many columns as are known when they run: column.cuh, in which the threads
// beyond the last column take part, read zeros and store nothing.
#pragma once

#include "halftone/kernels/column.cuh"

namespace halftone::kernels::dynamic_column {

/// A Body with as many columns as there can be. Its loads and stores know how many there are.
template <class Body>
struct Wide : Body {
  __device__ static constexpr int columns() { return 0x7fffffff; }
  __device__ __forceinline__ void store_column(int column, const float* totals) const {
    if (column < Body::columns()) Body::store_column(column, totals);
  }
};

template <class Body, int kLanes, int kChunksAtOnce>
__device__ __forceinline__ void run(const Body& body) {
  column::run<Wide<Body>, kLanes, kChunksAtOnce>(Wide<Body>{body});
}

}  // namespace halftone::kernels::dynamic_column
