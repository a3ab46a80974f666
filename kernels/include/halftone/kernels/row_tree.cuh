// SPDX-License-Identifier: Apache-2.0
// N2 of rows whose elements lie as mma leaves its results, to the bit.
#pragma once

#include "halftone/kernels/reduce.cuh"

namespace halftone::kernels::attention {

/// N2 of a row whose elements come with columns ascending and lie as mma leaves them: of 32 partial
/// results a lane has those numbered 8 n + 2 (lane mod 4) + i. kLevels: of chunks, of chunks of
/// their results, and so on.
template <int kLevels>
class RowTree {
 public:
  __device__ __forceinline__ explicit RowTree(Reduction reduction) : reduction_(reduction) {
#pragma unroll
    for (int level = 0; level < kLevels; ++level) clear(level);
  }

  /// The element of column 8 * eight + 2 (lane mod 4) + i.
  __device__ __forceinline__ void add(int eight, int i, float value) {
    float& partial = partial_[0][eight % 4][i];
    partial = combine(reduction_, partial, value);
  }

  /// All columns before `column`, a multiple of 32, were added. Every lane of the warp must call.
  template <int kLevel = 0>
  __device__ __forceinline__ void reach(int column) {
    if constexpr (kLevel + 1 < kLevels) {
      if (column % kChunk != 0) return;
      hand_on<kLevel>(column / kChunk - 1);
      reach<kLevel + 1>(column / kChunk);
    }
  }

  /// The result, for every lane of the row, where `reach` was told of columns up to `column`.
  template <int kLevel = 0>
  __device__ __forceinline__ float result(int column) {
    if constexpr (kLevel + 1 == kLevels) {
      return halve(kLevel);
    } else {
      hand_on<kLevel>(column / kChunk);  // at a chunk's end nothing, which changes nothing
      return result<kLevel + 1>(column / kChunk);
    }
  }

 private:
  __device__ __forceinline__ static int quarter() { return static_cast<int>(threadIdx.x) % 4; }

  __device__ __forceinline__ void clear(int level) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) partial_[level][n][i] = identity(reduction_);
    }
  }

  /// By 16 and 8 within the lane, by 4 and 2 across lanes, by 1 within.
  __device__ __forceinline__ float halve(int level) const {
    float pair[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float even = combine(reduction_, partial_[level][0][i], partial_[level][2][i]);
      const float odd = combine(reduction_, partial_[level][1][i], partial_[level][3][i]);
      pair[i] = combine(reduction_, even, odd);
#pragma unroll
      for (int distance = 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(kAllLanes, pair[i], distance);
        pair[i] = (quarter() & distance) != 0 ? combine(reduction_, other, pair[i])
                                              : combine(reduction_, pair[i], other);
      }
    }
    return combine(reduction_, pair[0], pair[1]);
  }

  /// What the level holds is number `index` of the next.
  template <int kLevel>
  __device__ __forceinline__ void hand_on(int index) {
    const float value = halve(kLevel);
    clear(kLevel);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float& partial = partial_[kLevel + 1][n][i];
        if (index % kPartials == 8 * n + 2 * quarter() + i)
          partial = combine(reduction_, partial, value);
      }
    }
  }

  const Reduction reduction_;
  float partial_[kLevels][4][2];
};

/// Those of several reductions, from number kFirst of the Body's on.
template <class Body, int kFirst, int kCount>
struct RowTrees {
  RowTree<Body::kLevels> tree{Body::reduction(kFirst)};
  RowTrees<Body, kFirst + 1, kCount - 1> others;

  __device__ __forceinline__ void add(int eight, int i, const float* terms) {
    tree.add(eight, i, terms[0]);
    others.add(eight, i, terms + 1);
  }
  __device__ __forceinline__ void reach(int column) {
    tree.reach(column);
    others.reach(column);
  }
  __device__ __forceinline__ void give(int column, float* reduced) {
    reduced[0] = tree.result(column);
    others.give(column, reduced + 1);
  }
};
template <class Body, int kFirst>
struct RowTrees<Body, kFirst, 0> {
  __device__ __forceinline__ void add(int, int, const float*) {}
  __device__ __forceinline__ void reach(int) {}
  __device__ __forceinline__ void give(int, float*) {}
};

}  // namespace halftone::kernels::attention
