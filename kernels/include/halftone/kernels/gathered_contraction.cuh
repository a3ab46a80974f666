// SPDX-License-Identifier: Apache-2.0
// contraction.cuh with a matrix that is gathered (gathered_lines.cuh): the same chains of the same
// products, elements that lie nowhere being +0.
#pragma once

#include "halftone/kernels/contraction.cuh"
#include "halftone/kernels/gathered_lines.cuh"

namespace halftone::kernels::contraction {

/// fetch() is called with k from 0 on, tile by tile.
template <class Body, class T, int kExtent, int kDepth, int kThreads, bool kAlongDepth>
class Staging<Gathered<Body, T>, kExtent, kDepth, kThreads, kAlongDepth> {
 public:
  using Shared = float[kDepth][kExtent + kPadding];

  __device__ __forceinline__ void fetch(const GatheredMatrix<Body, T>& matrix, long long first,
                                        long long extent, long long k, long long depth, T outside) {
    const Body& body = *matrix.body;
    if constexpr (kAlongDepth) {
      if (k == 0) find_lines(body, first);
    } else {
      if (k == 0)
        lines_ = GatheredLines<Body>(body, 0);
      else
        lines_.advance(body, kDepth);
    }
#pragma unroll
    for (int p = 0; p < kPerThread; ++p) {
      const int quad = static_cast<int>(threadIdx.x) + p * kThreads;
      if (kQuads % kThreads != 0 && quad >= kQuads) continue;
      const int line = quad / kMinorQuads;
      const long long major = (kAlongDepth ? first : k) + line;
      const long long minor = (kAlongDepth ? k : first) + 4 * (quad % kMinorQuads);
      const bool is_line = major < (kAlongDepth ? extent : depth);
      const long long minors = kAlongDepth ? depth : extent;
      if constexpr (kAlongDepth)
        load(body, matrix.memory, kept_[p], static_cast<int>(minor),
             static_cast<int>(is_line ? minors : 0), values_[p], outside);
      else
        load(body, matrix.memory, lines_.at(body, line), static_cast<int>(minor),
             static_cast<int>(is_line ? minors : 0), values_[p], outside);
    }
  }

  __device__ __forceinline__ void put(Shared& shared) const {
#pragma unroll
    for (int p = 0; p < kPerThread; ++p) {
      const int quad = static_cast<int>(threadIdx.x) + p * kThreads;
      if (kQuads % kThreads != 0 && quad >= kQuads) continue;
      const int major = quad / kMinorQuads, minor = 4 * (quad % kMinorQuads);
      float wide[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) wide[i] = widen(values_[p][i]);
      if constexpr (kAlongDepth) {
#pragma unroll
        for (int i = 0; i < 4; ++i) shared[minor + i][major] = wide[i];
      } else {
        store_vector(&shared[major][minor], wide);
      }
    }
  }

 private:
  static constexpr int kMinorQuads = (kAlongDepth ? kDepth : kExtent) / 4;
  static constexpr int kQuads = kExtent * kDepth / 4;
  static constexpr int kPerThread = (kQuads + kThreads - 1) / kThreads;

  /// Rows stay the same.
  __device__ __forceinline__ void find_lines(const Body& body, long long first) {
    const GatheredLines<Body> lines(body, first);
#pragma unroll
    for (int p = 0; p < kPerThread; ++p)
      kept_[p] = lines.at(body, (static_cast<int>(threadIdx.x) + p * kThreads) / kMinorQuads);
  }

  /// Four neighbours from `first` on, which is a multiple of four, of a line that has `elements`.
  __device__ __forceinline__ static void load(const Body& body, const T* memory,
                                              const GatheredLine<Body>& line, int first,
                                              int elements, T (&values)[4], T outside) {
    long long place;
    if constexpr (Body::kNeighbours % 4 == 0) {
      const bool is_whole = line.find(body, first, place) && first < elements;
      kernels::load(memory + (is_whole ? place : 0), 0, is_whole ? 4 : 0, values,
                    first < elements ? T{} : outside);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[i] = first + i < elements ? T{} : outside;
        if (line.find(body, first + i, place) && first + i < elements) values[i] = memory[place];
      }
    }
  }

  GatheredLine<Body> kept_[kAlongDepth ? kPerThread : 1];
  GatheredLines<Body> lines_;
  T values_[kPerThread][4];
};

}  // namespace halftone::kernels::contraction

namespace halftone::kernels::gathered_contraction {

using contraction::Tile;

/// body: README.md of this folder.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  contraction::run<Gathering<Body>, Tile>(Gathering<Body>{body});
}

}  // namespace halftone::kernels::gathered_contraction
