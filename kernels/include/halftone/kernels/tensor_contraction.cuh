// SPDX-License-Identifier: Apache-2.0
// Contractions by tensor cores, class B: f16, bf16 or tf32 on either side, f32 sums in an order of
// the kernel's own. The operands' tiles pass through a ring of stages in shared memory; while a
// warp multiplies, its operands of the next product and the tiles of coming stages are under way.
// lhs's sums over k are class A: N3's chains, whatever the tile and the splits.
#pragma once

#include "halftone/kernels/tensor_epilogue.cuh"

namespace halftone::kernels::tensor_contraction {

__device__ constexpr bool is_power_of_two(int x) { return x > 0 && (x & (x - 1)) == 0; }

/// A plan: a block computes kRows x kColumns results, kDepth products at a time, kStages times
/// kDepth under way; a warp computes kWarpRows x kWarpColumns. kLhsBytes, kRhsBytes (2, 4, 8, 16):
/// what divides where each row of the operand starts in memory and how long it is. kMaxSplits: into
/// how many parts a launch may split the depth; 1 needs no workspace.
template <int kRows_, int kColumns_, int kDepth_, int kWarpRows_, int kWarpColumns_, int kStages_,
          int kLhsBytes_, int kRhsBytes_, int kMaxSplits_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kWarpRows = kWarpRows_, kWarpColumns = kWarpColumns_, kStages = kStages_;
  static constexpr int kLhsBytes = kLhsBytes_, kRhsBytes = kRhsBytes_, kMaxSplits = kMaxSplits_;
  static constexpr int kColumnWarps = kColumns / kWarpColumns;
  static constexpr int kThreads = 32 * (kRows / kWarpRows) * kColumnWarps;
  static_assert(is_power_of_two(kRows) && is_power_of_two(kColumns) && is_power_of_two(kDepth),
                "a tile's rows, columns and depth are powers of two");
  static_assert(is_power_of_two(kWarpRows) && is_power_of_two(kWarpColumns) && kWarpRows >= 16 &&
                    kWarpColumns >= 16 && kWarpRows <= kRows && kWarpColumns <= kColumns,
                "a warp's rows and columns are powers of two, from 16 up to the tile's");
  static_assert(kThreads <= 1024 && kRows <= kThreads,
                "a tile has at least as many threads as rows, since each adds up one row of lhs, "
                "and at most 32 warps; take smaller or larger warp tiles");
  static_assert(kStages >= 2, "at least two stages: one is read while another is filled");
  static_assert(kColumnChunk % kDepth == 0,
                "a tile's depth divides 128, the length of N3's chains");
  static_assert(kLhsBytes >= 2 && kLhsBytes <= 16 && is_power_of_two(kLhsBytes) && kRhsBytes >= 2 &&
                    kRhsBytes <= 16 && is_power_of_two(kRhsBytes),
                "the alignment of rows is 2, 4, 8 or 16 bytes");
  static_assert(kMaxSplits >= 1, "the depth has at least one part");

  /// Sixteen rows of each warp, where the stages were.
  static constexpr int kSlabBytes = kThreads / 32 * 16 * kWarpColumns * 4;

  /// Shared memory for elements of this size, in bytes; dynamic where it is above 48 KiB.
  __device__ static constexpr int shared_bytes(int element_bytes) {
    const int stages = kStages * (kRows + kColumns) * kDepth * element_bytes;
    const int epilogue = kSlabBytes + 4 * kRows;
    return stages > epilogue ? stages : epilogue;
  }
};

template <int kBytes>
__device__ __forceinline__ unsigned char* shared_storage() {
  if constexpr (kBytes <= 48 * 1024) {
    __shared__ __align__(128) unsigned char storage[kBytes];
    return storage;
  } else {
    extern __shared__ __align__(128) unsigned char dynamic_storage[];
    return dynamic_storage;
  }
}

/// What tensor cores multiply: the format of both operands, and tf32 for two different ones, which
/// holds every f16 and bf16.
template <class Lhs, class Rhs>
struct Common {
  using Type = float;
};
template <class T>
struct Common<T, T> {
  using Type = T;
};

/// A block's sums: the operands' staging and the warp's fragments of them.
template <class Body, class Tile>
class Products {
 public:
  using Element = typename Common<typename Body::Lhs, typename Body::Rhs>::Type;
  using LhsLayout = Layout<Element, Tile::kRows, Tile::kDepth, !Body::kTransposeLhs>;
  using RhsLayout = Layout<Element, Tile::kColumns, Tile::kDepth, Body::kTransposeRhs>;
  using LhsFragments = Fragments<LhsLayout, Tile::kWarpRows, false>;
  using RhsFragments = Fragments<RhsLayout, Tile::kWarpColumns, true>;
  static constexpr int kStageBytes = LhsLayout::kBytes + RhsLayout::kBytes;
  static constexpr int kSteps = Tile::kDepth / LhsFragments::kStep;
  static_assert(kSteps >= 2 && kSteps % 2 == 0,
                "a stage holds at least two products: a depth of 32 for 16 bits, 16 for tf32");

  __device__ __forceinline__ Products(const Product<Body>& product, const Place& place,
                                      unsigned int lhs_shared, int warp_row, int warp_column)
      : lhs_(product.lhs, lhs_shared, place.first_row, product.rows, place.depth),
        rhs_(product.rhs, lhs_shared + LhsLayout::kBytes, place.first_column, product.columns,
             place.depth),
        lhs_fragments_(lhs_shared, warp_row),
        rhs_fragments_(lhs_shared + LhsLayout::kBytes, warp_column),
        tiles_(place.depth.tiles),
        inside_(min(lhs_.inside(), rhs_.inside())) {}

  /// each_tile(number of the tile, offset of its stage): once per tile, while the stage holds it.
  template <class EachTile>
  __device__ __forceinline__ void add_up(Sums<Tile>& sums, const EachTile& each_tile) {
    if (tiles_ <= 0) return;
    lhs_.begin(tiles_);
    rhs_.begin(tiles_);
#pragma unroll
    for (int stage = 0; stage < Tile::kStages - 1; ++stage) place(stage * kStageBytes, stage);
    wait();
    load<0>();
    int tile = 0;
    bool is_last;
    do {
      is_last = tile + 1 >= tiles_;
      take_steps(sums, each_tile, tile, is_last);
      ++tile;
    } while (!is_last);
  }

 private:
  using LhsStaging = StagingOf<LhsLayout, typename Body::Lhs, Tile::kThreads, Tile::kLhsBytes>;
  using RhsStaging = StagingOf<RhsLayout, typename Body::Rhs, Tile::kThreads, Tile::kRhsBytes>;

  static constexpr bool kAsync = LhsStaging::kAsync || RhsStaging::kAsync;

  /// Fills a stage, or begins to.
  __device__ __forceinline__ void place(int stage, int tile) {
#if __CUDA_ARCH__ >= 800
    if constexpr (kAsync) {
      if (tile < inside_)
        start<false>(stage, tile);
      else if (tile < tiles_)
        start<true>(stage, tile);
      ptx::cp_async_commit_group();
    }
#endif
    lhs_.pass(stage, tile, tiles_);
    rhs_.pass(stage, tile, tiles_);
  }
  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    lhs_.template start<kMasked>(stage, tile);
    rhs_.template start<kMasked>(stage, tile);
  }

  /// The next stage to read is filled, and all warps are done with the one before.
  __device__ __forceinline__ static void wait() {
#if __CUDA_ARCH__ >= 800
    if constexpr (kAsync) ptx::cp_async_wait_group<Tile::kStages - 2>();
#endif
    __syncthreads();
  }

  /// The products of one tile. Before each multiplication the operands of the next one are loaded,
  /// before the last those of the next tile.
  template <class EachTile, int kStep = 0>
  __device__ __forceinline__ void take_steps(Sums<Tile>& sums, const EachTile& each_tile, int tile,
                                             bool is_last) {
    if constexpr (kStep + 1 < kSteps) {
      load<kStep + 1>();
    } else if (!is_last) {
      wait();
      done_ = read_;
      read_ = read_ + kStageBytes == Tile::kStages * kStageBytes ? 0 : read_ + kStageBytes;
      load<0>();
    }
    if constexpr (kStep == 0) {
      each_tile(tile, read_);
      place(done_, tile + Tile::kStages - 1);
    }
    multiply_all<kStep % 2>(sums);
    if constexpr (kStep + 1 < kSteps)
      take_steps<EachTile, kStep + 1>(sums, each_tile, tile, is_last);
  }

  template <int kStep>
  __device__ __forceinline__ void load() {
    lhs_fragments_.template load<kStep>(read_, lhs_words_[kStep % 2]);
    rhs_fragments_.template load<kStep>(read_, rhs_words_[kStep % 2]);
  }

  template <int kBuffer>
  __device__ __forceinline__ void multiply_all(Sums<Tile>& sums) const {
#pragma unroll
    for (int i = 0; i < LhsFragments::kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * RhsFragments::kTiles; ++j)
        multiply<Element>(sums[i][j], lhs_words_[kBuffer][i], rhs_words_[kBuffer][j / 2][j % 2 * 2],
                          rhs_words_[kBuffer][j / 2][j % 2 * 2 + 1]);
    }
  }

  LhsStaging lhs_;
  RhsStaging rhs_;
  LhsFragments lhs_fragments_;
  RhsFragments rhs_fragments_;
  typename LhsFragments::Registers lhs_words_[2];
  typename RhsFragments::Registers rhs_words_[2];
  int tiles_, inside_;
  int read_ = 0;                                  // offset of the stage that is multiplied
  int done_ = (Tile::kStages - 1) * kStageBytes;  // and of the one before it
};

/// Which results this block computes and from which part of the depth. The grid has one dimension:
/// blockIdx.x = ((element of the batch * row tiles + row tile) * column tiles + column tile) *
/// splits + split.
template <class Body, class Tile>
__device__ __forceinline__ Place place_of(const Body& body) {
  const unsigned int column_tiles = (body.columns() + Tile::kColumns - 1) / Tile::kColumns;
  Place place;
  place.row_tiles =
      static_cast<unsigned int>((rows_of_product(body) + Tile::kRows - 1) / Tile::kRows);
  place.tiles = place.row_tiles * column_tiles;
  if constexpr (Body::kIsBatch)
    place.tiles *= static_cast<unsigned int>(body.rows / body.element_rows);
  place.splits = Tile::kMaxSplits > 1 ? gridDim.x / place.tiles : 1;
  place.tile = Tile::kMaxSplits > 1 ? blockIdx.x / place.splits : blockIdx.x;
  place.split = Tile::kMaxSplits > 1 ? blockIdx.x % place.splits : 0;
  const unsigned int row_tile = place.tile / column_tiles;
  place.element = Body::kIsBatch ? row_tile / place.row_tiles : 0;
  place.first_row =
      static_cast<long long>(Body::kIsBatch ? row_tile % place.row_tiles : row_tile) * Tile::kRows;
  place.first_column = static_cast<int>(place.tile % column_tiles) * Tile::kColumns;
  long long length = body.depth;
  place.depth.first = 0;
  place.depth.total = body.depth;
  if (place.splits > 1) {
    const long long part = (body.depth + place.splits - 1) / place.splits;
    const long long per = (part + kColumnChunk - 1) / kColumnChunk * kColumnChunk;
    place.depth.first = place.split * per;
    length = max(0LL, min(per, body.depth - place.depth.first));
  }
  place.depth.full = static_cast<int>(length / Tile::kDepth);
  place.depth.rest = static_cast<int>(length % Tile::kDepth);
  place.depth.tiles = place.depth.full + (place.depth.rest != 0);
  return place;
}

/// The workspace that a split depth needs; a Body whose depth is never split has none.
template <class Tile, class Body>
__device__ __forceinline__ float* split_workspace(const Body& body) {
  if constexpr (Tile::kMaxSplits > 1)
    return body.workspace;
  else
    return nullptr;
}

/// body's results of one tile and, from the blocks of the first columns, one value per row.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  using Products = tensor_contraction::Products<Body, Tile>;
  using LhsSum = tensor_contraction::LhsSum<typename Products::LhsLayout>;
  static_assert(Tile::kMaxSplits == 1 || !Body::kElementsUseLhsSum,
                "elements that need lhs's sum want the whole depth in one block; do not split it");
  static_assert(!(Body::kIsBatch && Body::kUsesLhsSum), "a batch has no sum of lhs");
  unsigned char* const storage = shared_storage<Tile::shared_bytes(Products::LhsLayout::kSize)>();
  float* const lhs_sums = reinterpret_cast<float*>(storage + Tile::kSlabBytes);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int warp_row = warp / Tile::kColumnWarps * Tile::kWarpRows;
  const int warp_column = warp % Tile::kColumnWarps * Tile::kWarpColumns;
  const Place place = place_of<Body, Tile>(body);
  const Product<Body> product = product_of(body, place.element);
  const bool owns_row = thread < Tile::kRows && place.first_column == 0;
  const bool sums_lhs = Body::kElementsUseLhsSum ? thread < Tile::kRows : owns_row;

  const Workspace<Tile> workspace(split_workspace<Tile>(body), place);
  LhsSum lhs_sum(place.splits > 1 ? workspace.chunk_sums(place.depth.first, thread) : nullptr,
                 place.row_tiles * Tile::kRows);
  Sums<Tile> sums = {};
  Products products(product, place, static_cast<unsigned int>(__cvta_generic_to_shared(storage)),
                    warp_row, warp_column);
  products.add_up(sums, [&](int tile, int stage) {
    if (Body::kUsesLhsSum && sums_lhs) lhs_sum.add(storage + stage, thread, tile);
  });
  if (Body::kUsesLhsSum && sums_lhs) lhs_sum.end(place.depth.tiles);
  __syncthreads();
  if (place.splits > 1) {
    if (!workspace.add_up(sums, reinterpret_cast<unsigned int*>(lhs_sums))) return;
    if (Body::kUsesLhsSum && owns_row)
      lhs_sum.gather(workspace.chunk_sums(0, thread),
                     (body.depth + kColumnChunk - 1) / kColumnChunk);
  }
  const long long first_row = product.first_row + place.first_row;
  if (owns_row && first_row + thread < product.end_row) {
    typename Body::Uniforms uniforms;
    body.load(first_row + thread, uniforms);
    body.store_row(uniforms, lhs_sum.total(), first_row + thread);
  }
  if constexpr (Body::kElementsUseLhsSum) {
    if (sums_lhs) lhs_sums[thread] = lhs_sum.total();
    __syncthreads();
  }
  finish_elements<typename Products::LhsFragments, Tile>(
      body, first_row + warp_row, product.end_row, place.first_column + warp_column, sums,
      Slab<Tile, typename Products::RhsFragments>(storage), lhs_sums + warp_row);
}

}  // namespace halftone::kernels::tensor_contraction
