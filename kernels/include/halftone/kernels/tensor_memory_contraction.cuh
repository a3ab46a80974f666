// SPDX-License-Identifier: Apache-2.0
// Contractions by the tensor cores of sm_100a, sm_103a and sm_110a, which keep sums in tensor
// memory: of two operands of 8-bit floats, as numbers (N13, N14) or in blocks, each with a power of
// two as its scale, which the instruction multiplies by; or of two packed ones of 4-bit floats in
// blocks along the sum, of which a byte is two; or of 8-bit ones in blocks with scales of f32, by
// which the warps multiply promoted sums (N17). A block stays for many tiles. One warp asks for
// tensor copies and one for products, a thread of each; two fetch scales; two warp groups take sums
// out of tensor memory, each of half of a tile's columns, and finish their elements, while the next
// ones are added up in the other half of tensor memory.
#pragma once

#include "halftone/kernels/ptx_sm89.cuh"
#include "halftone/kernels/tensor_memory_copies.cuh"
#include "halftone/kernels/tensor_memory_products.cuh"
#include "halftone/kernels/warpgroup_epilogue.cuh"

namespace halftone::kernels::tensor_memory_contraction {

/// Sixteen rows of each warp, as Elements counts a warp group's.
template <class Whole>
struct SixteenRows : Whole {
  static constexpr int kOwnRows = 64;
};

//===--- Sums and elements, by two warp groups ---===//

/// Sums of a thread: [16 of its warp's 32 rows][place in tcgen05.ld's result, as in wgmma's].
template <class Tile>
using Sums = warpgroup_contraction::Sums<Tile>;

/// Whether all columns of a warp group have one factor.
template <class Body, class Tile>
__device__ __forceinline__ constexpr bool are_columns_alike() {
  if constexpr (Tile::kFactors)
    return Body::kRhsScaleLines % Tile::kOwnColumns == 0;
  else
    return true;
}

/// What sums of parts are multiplied by before they are added: nothing, or factors.
template <class Body, class Tile>
class Factors {
  static constexpr bool kAreAlike = are_columns_alike<Body, Tile>();

 public:
  /// Of a warp's rows and columns from these on.
  __device__ __forceinline__ Factors(const Storage<Tile>& storage, int row, int column)
      : storage_(storage),
        row_(4 * (row + static_cast<int>(threadIdx.x) % 32 / 4)),
        column_(4 *
                (Tile::kRows + column + (kAreAlike ? 0 : static_cast<int>(threadIdx.x) % 4 * 2))) {}

  __device__ __forceinline__ void begin() const {
    if constexpr (Tile::kFactors) storage_.wait(storage_.factors_full(turn_.stage), turn_.parity);
  }
  /// Of 16 rows from number 16 * i on.
  __device__ __forceinline__ void begin_rows(int i) {
    if constexpr (Tile::kFactors) {
      const unsigned int rows = storage_.factors(turn_.stage) + row_ + 64 * i;
      rows_[0] = ptx::ld_shared<0>(rows);
      rows_[1] = ptx::ld_shared<32>(rows);
      if (kAreAlike)
        columns_[0] = columns_[1] = ptx::ld_shared<0>(storage_.factors(turn_.stage) + column_);
    }
  }
  /// Of 8 columns from this one on.
  __device__ __forceinline__ void begin_columns(int column) {
    if constexpr (Tile::kFactors && !kAreAlike)
      ptx::ld_shared<0>(storage_.factors(turn_.stage) + column_ + 4 * column, columns_);
  }
  /// Number `place` of the four sums that a lane has of 16 rows and 8 columns.
  __device__ __forceinline__ float add(float part, int place, float sum) const {
    if constexpr (Tile::kFactors)
      return __fmaf_rn(
          part, __uint_as_float(rows_[place / 2]) * __uint_as_float(columns_[place % 2]), sum);
    else
      return sum + part;
  }
  __device__ __forceinline__ void end() {
    if constexpr (Tile::kFactors) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage_.factors_empty(turn_.stage));
      turn_.next();
    }
  }

 private:
  const Storage<Tile>& storage_;
  int row_, column_;
  unsigned int rows_[2], columns_[2];
  Turn<Tile::kStages> turn_;
};

/// Takes sums out of tensor memory, and adds them where they are promoted.
template <bool kAdds, class Body, class Tile>
__device__ __forceinline__ void take(Sums<Tile>& sums, const Storage<Tile>& storage,
                                     Turn<Tile::kBuffers>& buffer, unsigned int memory,
                                     Factors<Body, Tile>& factors) {
  static_assert(Tile::kOwnColumns % 64 == 0, "64 columns are loaded at a time");
  constexpr int kLoads = Tile::kOwnColumns / 64;
  factors.begin();
  storage.wait(storage.whole(buffer.stage), buffer.parity);
  ptx::tcgen05_fence_after_thread_sync();
  const unsigned int from = memory + buffer.stage * Tile::kColumns;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    factors.begin_rows(i);
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      float some[32];
      ptx::tcgen05_ld_16x256b_x8(some, from + (16 * i << 16) + 64 * load);
      ptx::tcgen05_wait_load();
      ptx::tcgen05_take(some);
      if (i == 1 && load == kLoads - 1) {
        ptx::tcgen05_fence_before_thread_sync();
        __syncwarp();
        if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage.taken(buffer.stage));
      }
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        float& sum = sums[i][32 * load + j];
        if (j % 4 == 0) factors.begin_columns(64 * load + 2 * j);
        if (kAdds || Tile::kFactors)
          sum = factors.add(some[j], j % 4, kAdds ? sum : 0.0f);
        else
          sum = some[j];
      }
    }
  }
  factors.end();
  buffer.next();
}

/// A warp group: number `group` of two.
template <class Body, class Tile>
__device__ __forceinline__ void finish(const Body& body, const Storage<Tile>& storage,
                                       const Order<Tile>& order,
                                       const warpgroup_contraction::Slab& slab, int group,
                                       float* workspace, unsigned int memory) {
  using Lines = SixteenRows<Tile>;
  const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 32;
  const int column = group * Tile::kOwnColumns;
  Factors<Body, Tile> factors(storage, row, column);
  memory += (static_cast<unsigned int>(row) << 16) + column;
  Turn<Tile::kBuffers> buffer;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
    Sums<Tile> sums;
    take<false>(sums, storage, buffer, memory, factors);
    if constexpr (Body::kPromotes) {
      const int parts = parts_of<Body, Tile>(stages_of(place.depth));
#pragma unroll 1
      for (int part = 1; part < parts; ++part) take<true>(sums, storage, buffer, memory, factors);
    }
    if constexpr (Tile::kSplits) {
      if (order.splits() > 1) {
        const warpgroup_contraction::Partials<Tile> partials(workspace, order, place, group);
        if (!partials.add_up(sums)) continue;
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      warpgroup_contraction::Elements<Lines, Body> elements(body, slab, place.row + row + 16 * i,
                                                            place.column + column);
      elements.begin();
      elements.finish(reinterpret_cast<const Sums<Lines>&>(sums[i]));
    }
  }
}

/// As run() of a Body whose depth is in bytes.
template <class Body, class Tile>
__device__ __forceinline__ void run_bytes(const Body& body, const TensorMap& lhs,
                                          const TensorMap& rhs, int splits, float* workspace) {
  static_assert(!Body::kIsBatch, "a tensor map of two dimensions has no end of an element");
  static_assert(!Body::kUsesLhsSum, "no thread sees the codes of lhs");
  static_assert(!Tile::kFactors || Body::kPromotes, "factors are of sums of 128 products");
  extern __shared__ __align__(1024) unsigned char shared[];
  const Storage<Tile> storage(static_cast<unsigned int>(__cvta_generic_to_shared(shared)));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    storage.begin(Tile::kScales ? 3 : 1);
    if constexpr (Tile::kSplits) storage.keep_splits(shared, splits);
  }
  if (warp == 1) {
    ptx::tcgen05_alloc<Tile::kMemoryColumns>(storage.address());
    ptx::tcgen05_relinquish_alloc_permit();
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const auto order = [&] { return Order<Tile>(body, storage.splits(shared)); };
  if (warp < 4) {
    ptx::setmaxnreg_dec<Tile::kRegisters>();
    if (threadIdx.x == 0) {
      copy_codes<Body>(lhs, rhs, storage, order());
    } else if (threadIdx.x == 32) {
      Products<Body, Tile>(storage, storage.memory(shared)).run(order());
    } else if (warp >= 2) {
      if constexpr (Tile::kScales) copy_scales(body, storage, order(), threadIdx.x - 64);
      if constexpr (Tile::kFactors) copy_factors(body, storage, order(), threadIdx.x - 64);
    }
    __syncwarp();
  } else {
    ptx::setmaxnreg_inc<Tile::kOthersRegisters>();
    const warpgroup_contraction::Slab slab(
        reinterpret_cast<float*>(shared + Storage<Tile>::kSlabs) +
        (warp - 4) * (Tile::kWarpSlabBytes / 4));
    finish(body, storage, order(), slab, warp / 4 - 1, workspace, storage.memory(shared));
    ptx::tcgen05_fence_before_thread_sync();
  }
  __syncthreads();
  if (warp == 1) {
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc<Tile::kMemoryColumns>(storage.memory(shared));
  }
}

/// A Body of packed codes, whose own depth is in words of eight.
template <class Body>
struct Packed : Body {
  static_assert(!Body::kTransposeLhs && Body::kTransposeRhs, "packed codes lie along k");
  static_assert(Body::kScalePlaces == 16 || Body::kScalePlaces == 32,
                "a scale is that of 16 or of 32 places");
  __device__ __forceinline__ explicit Packed(const Body& body)
      : Body(body), depth(sizeof(int) * body.depth) {}
  long long depth;
};

/// body's results. `lhs` and `rhs`: maps of codes, or of words of packed ones, boxes of 128 bytes
/// along memory by, where k lies along it, 128 rows or the tile's columns, else 128 of k; a swizzle
/// of 128 bytes; zero outside. The grid is at most as many blocks as run at once.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    int splits, float* workspace) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    run_bytes<Packed<Body>, Tile>(Packed<Body>(body), lhs, rhs, splits, workspace);
  else
    run_bytes<Body, Tile>(body, lhs, rhs, splits, workspace);
}

}  // namespace halftone::kernels::tensor_memory_contraction
