// SPDX-License-Identifier: Apache-2.0
// What a tensor-core contraction has beside its products: the order in which the splits of the
// depth are added, the sums of lhs, and the Body of each element. Lanes hold sums in mma's places;
// sixteen rows at a time pass through the warp's part of shared memory, so that a lane gets
// Body::kWidth neighbours of one row.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/product.cuh"
#include "halftone/kernels/reduce.cuh"
#include "halftone/kernels/tensor_fragments.cuh"

namespace halftone::kernels::tensor_contraction {

/// The sums of a thread: [16 rows][8 columns][place in mma's result].
template <class Tile>
using Sums = float[Tile::kWarpRows / 16][Tile::kWarpColumns / 8][4];

/// Which results a block computes, and from which part of the depth.
struct Place {
  unsigned int tile, tiles, row_tiles, element, split, splits;
  long long first_row;  ///< in the product
  int first_column;
  Depth depth;
};

/// The workspace of a contraction whose depth is split, each part rounded up to 256 bytes:
/// counters u32[tiles], which are zero before and after; partial sums f32[tiles][splits][kRows *
/// kColumns] in the order of threads; lhs sums of chunks f32[chunks][row tiles * kRows].
template <class Tile>
class Workspace {
 public:
  __device__ __forceinline__ Workspace(float* workspace, const Place& place)
      : counter_(reinterpret_cast<unsigned int*>(workspace) + place.tile),
        partials_(workspace + rounded(place.tiles) +
                  static_cast<long long>(place.tile) * place.splits * kTileSums),
        chunk_sums_(workspace + rounded(place.tiles) +
                    rounded(static_cast<long long>(place.tiles) * place.splits * kTileSums)),
        place_(place) {}

  /// That of k's chunk for the block's row `row`.
  __device__ __forceinline__ float* chunk_sums(long long k, int row) const {
    return chunk_sums_ + k / kColumnChunk * place_.row_tiles * Tile::kRows + place_.first_row + row;
  }

  /// Hands in this block's sums. True for the last block of its tile, which then holds the sums of
  /// all splits, added in ascending order. All threads call; `flag` is shared memory.
  __device__ __forceinline__ bool add_up(Sums<Tile>& sums, volatile unsigned int* flag) const {
    float* const own = partials_ + static_cast<long long>(place_.split) * kTileSums;
    each_quad(sums,
              [&](int quad, float (&values)[4]) { ptx::st_global_in_order(own + quad, values); });
    __syncthreads();
    if (threadIdx.x == 0) *flag = ptx::atom_inc_acq_rel(counter_, place_.splits - 1);
    __syncthreads();
    if (*flag != place_.splits - 1) return false;
    each_quad(sums, [&](int quad, float (&values)[4]) { load_vector(partials_ + quad, values); });
#pragma unroll 1
    for (unsigned int split = 1; split < place_.splits; ++split) {
      const float* const other = partials_ + static_cast<long long>(split) * kTileSums;
      each_quad(sums, [&](int quad, float (&values)[4]) {
        float more[4];
        load_vector(other + quad, more);
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] += more[i];
      });
    }
    return true;
  }

 private:
  static constexpr int kTileSums = Tile::kRows * Tile::kColumns;

  __device__ __forceinline__ static long long rounded(long long words) {
    return (words + 63) / 64 * 64;
  }

  template <class Visit>
  __device__ __forceinline__ static void each_quad(Sums<Tile>& sums, const Visit& visit) {
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 8; ++j)
        visit(4 * ((i * (Tile::kWarpColumns / 8) + j) * Tile::kThreads +
                   static_cast<int>(threadIdx.x)),
              sums[i][j]);
    }
  }

  unsigned int* counter_;
  float *partials_, *chunk_sums_;
  const Place& place_;
};

/// N3 over k of a row of lhs, the thread's own, stage by stage.
template <class Layout>
class LhsSum {
 public:
  static constexpr int kTilesPerChunk = kColumnChunk / Layout::kDepth;

  /// Chunks' sums go where `chunk_sums` points, `pitch` apart, or to the total where it is null.
  __device__ __forceinline__ LhsSum(float* chunk_sums, unsigned int pitch)
      : chunk_sums_(chunk_sums), pitch_(pitch) {}

  /// Adds the block's next tile. Past the end of lhs lie zeros, which change no sum.
  __device__ __forceinline__ void add(const unsigned char* stage, int row, int tile) {
    using T = typename Layout::Element;
    if constexpr (Layout::kAlongDepth) {
      constexpr int kPerChunk = 16 / Layout::kSize;
#pragma unroll
      for (int d = 0; d < Layout::kDepth; d += kPerChunk) {
        T values[kPerChunk];
        load_vector(reinterpret_cast<const T*>(stage + Layout::offset(row, d)), values);
#pragma unroll
        for (int i = 0; i < kPerChunk; ++i) chunk_ += widen(values[i]);
      }
    } else {
#pragma unroll
      for (int d = 0; d < Layout::kDepth; ++d)
        chunk_ += widen(*reinterpret_cast<const T*>(stage + Layout::offset(d, row)));
    }
    if ((tile + 1) % kTilesPerChunk == 0) end_chunk();
  }
  /// After the last of this many tiles.
  __device__ __forceinline__ void end(int tiles) {
    if (tiles % kTilesPerChunk != 0) end_chunk();
  }
  /// The total of chunks whose sums the blocks of all splits have stored.
  __device__ __forceinline__ void gather(const float* chunk_sums, long long chunks) {
    for (long long chunk = 0; chunk < chunks; ++chunk) total_ += chunk_sums[chunk * pitch_];
  }
  __device__ __forceinline__ float total() const { return total_; }

 private:
  __device__ __forceinline__ void end_chunk() {
    if (chunk_sums_ != nullptr)
      *chunk_sums_ = chunk_, chunk_sums_ += pitch_;
    else
      total_ += chunk_;
    chunk_ = 0.0f;
  }

  float* chunk_sums_;
  unsigned int pitch_;
  float chunk_ = 0.0f, total_ = 0.0f;
};

/// Sixteen rows of a warp's sums in shared memory. Chunks of four are exchanged so that lanes find
/// 32 banks however they come: pairs or quads of mma's places, quads or eights of neighbours.
template <class Tile, class RhsFragments>
class Slab {
 public:
  /// `storage`: the warps' slabs, one after another.
  __device__ __forceinline__ explicit Slab(unsigned char* storage)
      : floats_(reinterpret_cast<float*>(storage) + threadIdx.x / 32 * 16 * Tile::kWarpColumns) {}

  __device__ __forceinline__ void put(const float (&sums)[Tile::kWarpColumns / 8][4]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, t = lane % 4;
    if constexpr (RhsFragments::kByWords) {
      constexpr int kRun = RhsFragments::kRun;
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 8; j += kRun) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float run[2 * kRun];
#pragma unroll
          for (int i = 0; i < 2 * kRun; ++i) run[i] = sums[j + i % kRun][2 * half + i / kRun];
#pragma unroll
          for (int i = 0; i < 2 * kRun; i += 4)
            store_vector(at(row + 8 * half, 8 * j + 2 * kRun * t + i),
                         reinterpret_cast<const float (&)[4]>(run[i]));
        }
      }
    } else {
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
          *reinterpret_cast<float2*>(at(row + 8 * half, 8 * j + 2 * t)) =
              make_float2(sums[j][2 * half], sums[j][2 * half + 1]);
      }
    }
  }

  template <int kWidth>
  __device__ __forceinline__ void get(int row, int column, float (&values)[kWidth]) const {
#pragma unroll
    for (int i = 0; i < kWidth; i += 4)
      load_vector(at(row, column + i), reinterpret_cast<float (&)[4]>(values[i]));
  }

 private:
  __device__ __forceinline__ float* at(int row, int column) const {
    const int exchange = Tile::kWarpColumns == 16 ? row / 2 % 2 * 3 : row % 4 * 2 + row % 2;
    const int chunk = column / 4 ^ exchange ^ column / 32 % 2;
    return floats_ + row * Tile::kWarpColumns + 4 * chunk + column % 4;
  }

  float* floats_;
};

/// The Body of every element of the warp's tile, whose first row, column and lhs sum are given. The
/// product's rows end before `end_row`.
template <class LhsFragments, class Tile, class RhsFragments, class Body>
__device__ __forceinline__ void finish_elements(const Body& body, long long first_row,
                                                long long end_row, int first_column,
                                                const Sums<Tile>& sums,
                                                const Slab<Tile, RhsFragments>& slab,
                                                const float* lhs_sums) {
  constexpr int kWidth = Body::kWidth, kGroups = Tile::kWarpColumns / kWidth;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
    __syncwarp();
    slab.put(sums[i]);
    __syncwarp();
#pragma unroll 1
    for (int group = lane; group < 16 * kGroups; group += 32) {
      const int line = LhsFragments::line(i, group / kGroups);
      const long long row = first_row + line;
      const int offset = group % kGroups * kWidth, column = first_column + offset;
      if (row >= end_row || column >= body.columns()) continue;
      typename Body::Uniforms uniforms;
      typename Body::template Inputs<kWidth> inputs;
      typename Body::template Outputs<kWidth> outputs;
      body.load(row, uniforms);
      body.load(row, column, inputs);
      float values[kWidth];
      slab.template get<kWidth>(group / kGroups, offset, values);
      const float lhs_sum = Body::kElementsUseLhsSum ? lhs_sums[line] : 0.0f;
#pragma unroll
      for (int e = 0; e < kWidth; ++e)
        body.compute(uniforms, values[e], lhs_sum, inputs, e, row, column + e, outputs);
      body.store(row, column, outputs);
    }
  }
}

}  // namespace halftone::kernels::tensor_contraction
