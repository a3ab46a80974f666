// SPDX-License-Identifier: Apache-2.0
// Contractions by warp groups of sm_90a, class B: f16 or bf16 on both sides, f32 sums. A block
// stays for many tiles of results. One warp group keeps a ring of stages in shared memory filled,
// by tensor copies that one thread asks for, or itself; two others multiply, either halves of one
// tile or, in turns, a tile each, so that one finishes its elements while the other multiplies.
#pragma once

#include "halftone/kernels/warpgroup_epilogue.cuh"
#include "halftone/kernels/warpgroup_stages.cuh"

namespace halftone::kernels::warpgroup_contraction {

/// What matrix descriptors say beside the address: the 128-byte swizzle; 1024 bytes from eight
/// lines to the next; where it is MN-major, one block of 64 to the next.
template <bool kAlongDepth>
inline constexpr unsigned long long kDescriptor =
    1ull << 62 | (1024ull >> 4) << 32 | (kAlongDepth ? 1ull : kBlockBytes >> 4) << 16;

template <class T>
inline constexpr bool kIsF16 = false;
template <>
inline constexpr bool kIsF16<f16> = true;

template <class T, bool kTransposeA, bool kTransposeB, int kSums>
__device__ __forceinline__ void multiply(float (&sums)[kSums], unsigned long long a,
                                         unsigned long long b, int accumulate) {
#define HALFTONE_MULTIPLY(n)                                                          \
  if constexpr (kSums == n / 2) {                                                     \
    if constexpr (kIsF16<T>)                                                          \
      ptx::wgmma_m64n##n##k16_f16<kTransposeA, kTransposeB>(sums, a, b, accumulate);  \
    else                                                                              \
      ptx::wgmma_m64n##n##k16_bf16<kTransposeA, kTransposeB>(sums, a, b, accumulate); \
  }
  HALFTONE_MULTIPLY(64)
  HALFTONE_MULTIPLY(128)
  HALFTONE_MULTIPLY(192)
  HALFTONE_MULTIPLY(256)
#undef HALFTONE_MULTIPLY
}

/// sums = lhs * rhs of the tile whose stages are next in the ring. each_stage(number, stage): while
/// it is multiplied. all_begun(): once all multiplications are under way.
template <class Body, class Tile, class EachStage, class AllBegun>
__device__ __forceinline__ void add_up(Sums<Tile>& sums, const Ring<Tile>& ring,
                                       Turn<Tile::kStages>& turn, int tiles, int own_row,
                                       int own_column, const EachStage& each_stage,
                                       const AllBegun& all_begun) {
  constexpr bool kAlongLhs = !Body::kTransposeLhs, kAlongRhs = Body::kTransposeRhs;
  constexpr int kLhsStep = kAlongLhs ? 32 : 16 * kLineBytes;
  constexpr int kRhsStep = kAlongRhs ? 32 : 16 * kLineBytes;
  int before = 0;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    ring.wait_full(turn.stage, turn.parity);
    const unsigned int stage = ring.stage(turn.stage);
    const unsigned long long lhs = kDescriptor<kAlongLhs> | (stage + own_row * kLineBytes) >> 4;
    const unsigned long long rhs =
        kDescriptor<kAlongRhs> | (stage + Tile::kLhsBytes + own_column * kLineBytes) >> 4;
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step) {
#pragma unroll
      for (int i = 0; i < Tile::kOwnRows / 64; ++i)
        multiply<typename Body::Lhs, !kAlongLhs, !kAlongRhs>(
            sums[i], lhs + ((step * kLhsStep + i * kBlockBytes) >> 4), rhs + (step * kRhsStep >> 4),
            step == 0 ? tile : 1);
    }
    ptx::wgmma_commit_group();
    each_stage(tile, turn.stage);
    if (tile > 0) {
      ptx::wgmma_wait_group<1>();
      ring.release(before);
    }
    before = turn.stage;
    turn.next();
  }
  all_begun();
  ptx::wgmma_wait_group<0>();
  ring.release(before);
}

/// A warp group that multiplies: number `group` of two.
template <class Body, class Tile>
__device__ __forceinline__ void consume(const Body& body, const Ring<Tile>& ring,
                                        const Order<Tile>& order, const unsigned char* stages,
                                        const Slab& slab, int group, float* workspace) {
  const int own_row = Tile::kSplitsRows ? group * Tile::kOwnRows : 0;
  const int own_column = Tile::kSplitsColumns ? group * Tile::kOwnColumns : 0;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const unsigned int turns = Tile::kAlternates ? 2 : 1;
  const unsigned int step = gridDim.x;
  Turn<Tile::kStages> turn;
  Sums<Tile> sums = {};
  const unsigned int first = blockIdx.x;
  if (Tile::kAlternates && group == 1 && first < order.units()) turn.skip(tiles_of(order(first)));
  for (unsigned int unit = first + (Tile::kAlternates ? group * step : 0); unit < order.units();
       unit += turns * step) {
    const auto place = order(unit);
    // A phase's parity tells it from the next alone: a group looks at stages once the other has
    // seen all of its own filled.
    if (Tile::kAlternates && unit != first) ptx::bar_sync(3 + group, 256);
    const Partials<Tile> partials(workspace, order, place, group);
    const int lhs_row = place.row + own_row + thread;
    const bool sums_lhs =
        Body::kUsesLhsSum && place.column + own_column == 0 && thread < Tile::kOwnRows;
    float* chunk_sums = nullptr;
    if (Tile::kSplits && order.splits() > 1)
      chunk_sums = partials.chunk_sums() +
                   static_cast<long long>(place.first_depth / kColumnChunk) * order.rows() +
                   lhs_row;
    Elements<Tile, Body> elements(body, slab, place.row + own_row + thread / 32 * 16,
                                  place.column + own_column);
    LhsSum<typename Body::Lhs> lhs_sum(chunk_sums, order.rows());
    add_up<Body>(
        sums, ring, turn, tiles_of(place), own_row, own_column,
        [&](int tile, int stage) {
          if constexpr (Body::kUsesLhsSum) {
            if (sums_lhs)
              lhs_sum.add(stages + stage * Tile::kStageBytes + own_row * kLineBytes, thread, tile);
            __syncwarp();  // before one lane says that the stage was read
          }
        },
        [&] {
          if (Tile::kAlternates && unit + step < order.units()) ptx::bar_arrive(4 - group, 256);
          if (!Tile::kSplits) elements.begin();
        });
    if (sums_lhs) lhs_sum.end(tiles_of(place));
    if (Tile::kAlternates && unit + step < order.units()) turn.skip(tiles_of(order(unit + step)));
    if (Tile::kSplits && order.splits() > 1) {
      if (!partials.add_up(sums)) continue;
      if (sums_lhs)
        lhs_sum.gather(partials.chunk_sums() + lhs_row,
                       static_cast<int>((body.depth + kColumnChunk - 1) / kColumnChunk));
    }
    if (sums_lhs && lhs_row < body.rows) {
      typename Body::Uniforms uniforms;
      body.load(lhs_row, uniforms);
      body.store_row(uniforms, lhs_sum.total(), lhs_row);
    }
    if (Tile::kSplits) elements.begin();
    elements.finish(sums);
  }
}

/// body's results. `lhs` and `rhs` are the operands' maps: boxes of 64 elements along memory by,
/// where k lies along memory, the tile's rows or columns, else 64 of k; a swizzle of 128 bytes;
/// zero outside. Or NoMap, where rows are no multiple of 16 bytes. The grid is at most as many
/// blocks as run at once.
template <class Body, class Tile, class LhsMap, class RhsMap>
__device__ __forceinline__ void run(const Body& body, const LhsMap& lhs, const RhsMap& rhs,
                                    int splits, float* workspace) {
  static_assert(!Body::kIsBatch, "a tensor map of two dimensions has no end of an element");
  static_assert(!Body::kElementsUseLhsSum, "elements are finished where lhs's sum is not known");
  static_assert(!Body::kUsesLhsSum || Body::kTransposeLhs,
                "lhs's sums are of rows that lie across k");
  extern __shared__ __align__(1024) unsigned char storage[];
  const Ring<Tile> ring(static_cast<unsigned int>(__cvta_generic_to_shared(storage)));
  using Filling = warpgroup_contraction::Filling<Body, Tile, LhsMap, RhsMap>;
  const Filling filling(body, lhs, rhs, storage);
  const int group = static_cast<int>(threadIdx.x) / 128;
  const Order<Tile> order(body, Tile::kSplits ? splits : 1);
  if (threadIdx.x == 0) ring.begin(Filling::kArrivals);
  __syncthreads();
  if (group == 0) {
    ptx::setmaxnreg_dec<Filling::kRegisters>();
    filling.run(ring, order);
  } else {
    ptx::setmaxnreg_inc<Filling::kOthersRegisters>();
    const Slab slab(reinterpret_cast<float*>(storage + Tile::kStages * (Tile::kStageBytes + 16)) +
                    (threadIdx.x / 32 - 4) * (Tile::kWarpSlabBytes / 4));
    consume(body, ring, order, storage, slab, group - 1, workspace);
  }
}

}  // namespace halftone::kernels::warpgroup_contraction
