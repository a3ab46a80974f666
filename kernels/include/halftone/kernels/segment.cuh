// SPDX-License-Identifier: Apache-2.0
// Segment kernels: every row of the result is one chain of additions, or of maxima, over the rows
// of the domain that name it, ascending. A block owns kRows neighbouring rows of the result, and
// each of its threads a column of them; it goes through all rows of the domain, lists those that
// name one of its rows, in order, and adds them up. No two threads add to one element.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::segment {

inline constexpr int kLanes = 32;
inline constexpr int kLooks = 4;   // rows of the domain that a thread looks at before it waits
inline constexpr int kAtOnce = 4;  // rows that are loaded before they are added

/// Which rows of a chunk of the domain the block adds, in ascending order.
template <class Body, int kThreads, int kRows>
class Matches {
 public:
  static constexpr int kWarps = kThreads / kLanes;
  static constexpr int kChunk = kThreads * kLooks;

  struct Storage {
    int list[kChunk];  // kRows * row in the chunk + row in the block
    int counts[2][kWarps];
  };

  __device__ __forceinline__ Matches(const Body& body, Storage& storage, int first_segment)
      : body_(body), storage_(storage), first_segment_(first_segment) {}

  /// Lists those of the chunk that begins at `chunk` and returns how many there are. Every thread
  /// must call, and none reads the list of a chunk behind the call for the next one.
  __device__ __forceinline__ int find(long long chunk) {
    const int warp = static_cast<int>(threadIdx.x) / kLanes;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    int owned[kLooks];
    unsigned int found[kLooks];
    int count = 0;
#pragma unroll
    for (int look = 0; look < kLooks; ++look) {
      owned[look] = owned_row(chunk + at(warp, look, lane));
      found[look] = __ballot_sync(kAllLanes, owned[look] >= 0);
      count += __popc(found[look]);
    }
    int(&counts)[kWarps] = storage_.counts[parity_];
    parity_ ^= 1;  // so that one barrier a chunk is enough
    if (lane == 0) counts[warp] = count;
    __syncthreads();
    int before = 0, all = 0;
#pragma unroll
    for (int other = 0; other < kWarps; ++other) {
      if (other == warp) before = all;
      all += counts[other];
    }
    if (all == 0) return 0;
    const unsigned int below = (1u << lane) - 1;
#pragma unroll
    for (int look = 0; look < kLooks; ++look) {
      if (owned[look] >= 0)
        storage_.list[before + __popc(found[look] & below)] =
            at(warp, look, lane) * kRows + owned[look];
      before += __popc(found[look]);
    }
    __syncthreads();
    return all;
  }

 private:
  __device__ __forceinline__ static int at(int warp, int look, int lane) {
    return (warp * kLooks + look) * kLanes + lane;
  }

  /// Which of the block's rows a row of the domain names, or -1.
  __device__ __forceinline__ int owned_row(long long row) const {
    if (row >= body_.rows) return -1;
    typename Body::Uniforms uniforms;
    int segment;
    body_.load(row, uniforms);
    body_.find(uniforms, segment);
    const unsigned int owned =
        static_cast<unsigned int>(segment) - static_cast<unsigned int>(first_segment_);
    return owned < static_cast<unsigned int>(kRows) ? static_cast<int>(owned) : -1;
  }

  const Body& body_;
  Storage& storage_;
  const int first_segment_;
  int parity_ = 0;
};

template <class Body>
__device__ __forceinline__ float term(const Body& body, long long row, int column) {
  typename Body::Uniforms uniforms;
  typename Body::template Inputs<1> inputs;
  typename Body::template Outputs<1> outputs;
  float terms[1];
  body.load(row, uniforms);
  body.load(row, column, inputs);
  body.compute(uniforms, inputs, 0, row, column, outputs, terms);
  return terms[0];
}

/// A chain: what it begins with, goes on with, and leaves.
struct Sum {
  static __device__ __forceinline__ float first() { return 0.0f; }
  static __device__ __forceinline__ float next(float before, float term) { return before + term; }
  static __device__ __forceinline__ float last(float chain) { return chain; }
};
/// N5; of nothing +0.
struct Largest {
  static __device__ __forceinline__ float first() {
    return __int_as_float(static_cast<int>(0xff800000u));  // -infinity
  }
  static __device__ __forceinline__ float next(float before, float term) {
    return term > before || term != term ? term : before;
  }
  static __device__ __forceinline__ float last(float chain) {
    return chain == first() ? 0.0f : chain;
  }
};

/// What block `block` of those that a result takes owns.
template <class Body, int kThreads, int kRows, class Chain>
__device__ __forceinline__ void join(const Body& body, int block) {
  using Found = Matches<Body, kThreads, kRows>;
  constexpr int kTiles = (Body::kSegments + kRows - 1) / kRows;  // of the result's rows
  __shared__ float sums[kRows][kThreads];
  __shared__ typename Found::Storage storage;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = block % kTiles * kRows;
  const int column = block / kTiles * kThreads + thread;
#pragma unroll 4
  for (int row = 0; row < kRows; ++row) sums[row][thread] = Chain::first();
  Found matches(body, storage, first);
  for (long long chunk = 0; chunk < body.rows; chunk += Found::kChunk) {
    const int count = matches.find(chunk);
    if (column >= Body::columns()) continue;
    for (int next = 0; next < count; next += kAtOnce) {
      float terms[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (next + i < count) terms[i] = term(body, chunk + storage.list[next + i] / kRows, column);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (next + i >= count) continue;
        float& chain = sums[storage.list[next + i] % kRows][thread];
        chain = Chain::next(chain, terms[i]);
      }
    }
  }
  if (column >= Body::columns()) return;
#pragma unroll 4
  for (int row = 0; row < kRows; ++row) {
    if (first + row < Body::kSegments)
      body.store_segment(first + row, column, Chain::last(sums[row][thread]));
  }
}

template <class Body, int kThreads, int kRows, class Chain = Sum>
__device__ __forceinline__ void run(const Body& body) {
  join<Body, kThreads, kRows, Chain>(body, static_cast<int>(blockIdx.x));
}

}  // namespace halftone::kernels::segment
