// SPDX-License-Identifier: Apache-2.0
// N2 of rows whose elements lie as mma leaves its results, to the bit.
#pragma once

#include "halftone/kernels/ptx.cuh"
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

  /// Whether `column` is of the chunk that the elements before it are of, so that `move` has
  /// nothing to do.
  __device__ __forceinline__ bool reaches(int column) const {
    return kLevels == 1 || column / kChunk == column_ / kChunk;
  }

  /// The element of column 8 * eight + 2 (lane mod 4) + i.
  __device__ __forceinline__ void add(int eight, int i, float value) {
    float& partial = partial_[0][eight % 4][i];
    partial = combine(reduction_, partial, value);
  }

  /// Elements of kEights times eight columns, whose number kTree of kCount each belong here.
  template <int kTree, int kEights, int kCount>
  __device__ __forceinline__ void add(const float (&terms)[kEights][2][kCount]) {
#if __CUDA_ARCH__ >= 800
    if (reduction_ == Reduction::maximum) {
      // One instruction for two, but what it makes of NaNs and of two zeros is not N2's.
      constexpr int kOwn = kEights < 4 ? kEights : 4;
      float most[kOwn][2], least[2] = {1.0f, 1.0f};
#pragma unroll
      for (int n = 0; n < kOwn; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float value = terms[n][i][kTree];
#pragma unroll
          for (int eight = n + 4; eight < kEights; eight += 4)
            value = ptx::max_nan(value, terms[eight][i][kTree]);
          most[n][i] = ptx::max_nan(partial_[0][n][i], value);
          least[i] = ptx::min_nan(least[i], fabsf(most[n][i]));
        }
      }
      const bool exact = ptx::min_nan(least[0], least[1]) > 0.0f;
      if (exact) {
#pragma unroll
        for (int n = 0; n < kOwn; ++n)
          partial_[0][n][0] = most[n][0], partial_[0][n][1] = most[n][1];
        return;
      }
    }
#endif
#pragma unroll
    for (int eight = 0; eight < kEights; ++eight) {
#pragma unroll
      for (int i = 0; i < 2; ++i) add(eight, i, terms[eight][i][kTree]);
    }
  }

  /// Elements that `add` would take for those of columns 8 * eight on are of columns sixteen later.
  __device__ __forceinline__ void turn() {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float first = partial_[0][n][i];
        partial_[0][n][i] = partial_[0][n + 2][i], partial_[0][n + 2][i] = first;
      }
    }
  }

  __device__ __forceinline__ float left_out() const { return identity(reduction_); }

  /// Elements from `column` on, a multiple of 32, come next: those before were added, or are such
  /// as change nothing (N2's identities). Every lane of the warp must call.
  __device__ __forceinline__ void move(int column) {
    leave<0>(column_, column);
    column_ = column;
  }

  /// The result, for every lane of the row. Every lane of the warp must call.
  __device__ __forceinline__ float result() { return result<0>(column_); }

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

  /// From element `from` of the level to element `to`: hands on the chunks that end between them.
  template <int kLevel>
  __device__ __forceinline__ void leave(int from, int to) {
    if constexpr (kLevel + 1 < kLevels) {
      if (from / kChunk == to / kChunk) return;
      hand_on<kLevel>(from / kChunk);
      leave<kLevel + 1>(from / kChunk, to / kChunk);
    }
  }

  template <int kLevel>
  __device__ __forceinline__ float result(int at) {
    if constexpr (kLevel + 1 == kLevels) {
      return halve(kLevel);
    } else {
      hand_on<kLevel>(at / kChunk);
      return result<kLevel + 1>(at / kChunk);
    }
  }

  const Reduction reduction_;
  int column_ = 0;  ///< what was added last is not before it
  float partial_[kLevels][4][2];
};

/// Those of several reductions, from number kFirst of the Body's on.
template <class Body, int kFirst, int kCount>
struct RowTrees {
  RowTree<Body::kLevels> tree{Body::reduction(kFirst)};
  RowTrees<Body, kFirst + 1, kCount - 1> others;

  /// The terms of kEights times eight columns.
  template <int kEights, int kAll, int kTree = 0>
  __device__ __forceinline__ void add(const float (&terms)[kEights][2][kAll]) {
    tree.template add<kTree>(terms);
    others.template add<kEights, kAll, kTree + 1>(terms);
  }
  /// The terms of a column that does not exist.
  __device__ __forceinline__ void leave_out(float* terms) const {
    terms[0] = tree.left_out();
    others.leave_out(terms + 1);
  }
  __device__ __forceinline__ void turn() { tree.turn(), others.turn(); }
  __device__ __forceinline__ bool reaches(int column) const { return tree.reaches(column); }
  __device__ __forceinline__ void add(int eight, int i, const float* terms) {
    tree.add(eight, i, terms[0]);
    others.add(eight, i, terms + 1);
  }
  __device__ __forceinline__ void move(int column) {
    tree.move(column);
    others.move(column);
  }
  __device__ __forceinline__ void give(float* reduced) {
    reduced[0] = tree.result();
    others.give(reduced + 1);
  }
};
template <class Body, int kFirst>
struct RowTrees<Body, kFirst, 0> {
  __device__ __forceinline__ void turn() {}
  template <int kEights, int kAll, int kTree>
  __device__ __forceinline__ void add(const float (&)[kEights][2][kAll]) {}
  __device__ __forceinline__ void leave_out(float*) const {}
  __device__ __forceinline__ void add(int, int, const float*) {}
  __device__ __forceinline__ void move(int) {}
  __device__ __forceinline__ void give(float*) {}
};

}  // namespace halftone::kernels::attention
