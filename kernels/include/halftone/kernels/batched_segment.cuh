// SPDX-License-Identifier: Apache-2.0
// Segment kernels of a batch: each of its elements has segments of its own, which rows of that
// element name. As in segment.cuh, a block owns kRows neighbouring rows of the result, here of one
// element, and goes through the rows of that element alone.
#pragma once

#include "halftone/kernels/batched_column.cuh"
#include "halftone/kernels/segment.cuh"

namespace halftone::kernels::batched_segment {

/// A Body whose rows and segments are those of one element, counted from its first.
template <class Body>
struct Element : batched_column::Element<Body> {
  __device__ __forceinline__ Element(const Body& body, long long element)
      : batched_column::Element<Body>(body, element) {}
  __device__ __forceinline__ void store_segment(long long segment, int column, float sum) const {
    Body::store_segment(this->number * Body::kSegments + segment, column, sum);
  }
};

template <class Body, int kThreads, int kRows, class Chain = segment::Sum>
__device__ __forceinline__ void run(const Body& body) {
  constexpr int kBlocks = (Body::kSegments + kRows - 1) / kRows *
                          ((static_cast<int>(Body::columns()) + kThreads - 1) / kThreads);
  const int block = static_cast<int>(blockIdx.x);
  const Element<Body> element(body, block / kBlocks);
  segment::join<Element<Body>, kThreads, kRows, Chain>(element, block % kBlocks);
}

}  // namespace halftone::kernels::batched_segment
