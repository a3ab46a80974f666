// SPDX-License-Identifier: Apache-2.0
// What a contraction by warp groups has beside its products: sums of lhs, the Body of each element,
// and the order in which the splits of the depth are added.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/ptx.cuh"
#include "halftone/kernels/warpgroup_stages.cuh"

namespace halftone::kernels {

namespace warpgroup_contraction {

/// The Column of Bodies: an int, and whether vectors that begin there are known to be inside their
/// row and aligned.
struct Column {
  int value;
  bool is_whole;
  __device__ __forceinline__ constexpr Column(int column, bool whole = false)
      : value(column), is_whole(whole) {}
  __device__ __forceinline__ constexpr operator int() const { return value; }
};

}  // namespace warpgroup_contraction

template <class T, int kWidth>
__device__ __forceinline__ void load(const T* row, warpgroup_contraction::Column first,
                                     warpgroup_contraction::Column columns, T (&values)[kWidth],
                                     T outside = T{}) {
  if constexpr (kWidth > 1 && (sizeof(T) == 2 || sizeof(T) == 4)) {
    if (first.is_whole) {
      if constexpr (kWidth * sizeof(T) <= 16) {
        load_vector(row + first.value, values);
      } else {
        load_vector(row + first.value, reinterpret_cast<T(&)[4]>(values[0]));
        load_vector(row + first.value + 4, reinterpret_cast<T(&)[4]>(values[4]));
      }
      return;
    }
  }
  load(row, first.value, columns.value, values, outside);
}

template <class T, int kWidth>
__device__ __forceinline__ void store(T* row, warpgroup_contraction::Column first,
                                      warpgroup_contraction::Column columns,
                                      const T (&values)[kWidth]) {
  if constexpr (kWidth > 1 && (sizeof(T) == 2 || sizeof(T) == 4)) {
    if (first.is_whole) {
      if constexpr (kWidth * sizeof(T) <= 16) {
        store_result(row + first.value, values);
      } else {
        store_result(row + first.value, reinterpret_cast<const T(&)[4]>(values[0]));
        store_result(row + first.value + 4, reinterpret_cast<const T(&)[4]>(values[4]));
      }
      return;
    }
  }
  store(row, first.value, columns.value, values);
}

}  // namespace halftone::kernels

namespace halftone::kernels::warpgroup_contraction {

/// The sums of a thread of a warp group: [64 rows][place in wgmma's result].
template <class Tile>
using Sums = float[Tile::kOwnRows / 64][Tile::kOwnColumns / 2];

/// N3 over k of a row of lhs, the thread's own, stage by stage, where k lies across memory.
template <class T>
class LhsSum {
 public:
  /// Chunks' sums go where `chunk_sums` points, `pitch` apart, or to the total where it is null.
  __device__ __forceinline__ LhsSum(float* chunk_sums, unsigned int pitch)
      : chunk_sums_(chunk_sums), pitch_(pitch) {}

  /// Adds the next 64 of k. Past the end of lhs lie zeros, which change no sum.
  __device__ __forceinline__ void add(const unsigned char* lines, int row, int tile) {
    lines += row / 64 * kBlockBytes;
    const int at = row % 64 * static_cast<int>(sizeof(T));
#pragma unroll 16
    for (int k = 0; k < kDepth; ++k)
      chunk_ += widen(*reinterpret_cast<const T*>(lines + k * kLineBytes + (at ^ k % 8 * 16)));
    if ((tile + 1) % (kColumnChunk / kDepth) == 0) end_chunk();
  }
  /// After the last of this many tiles.
  __device__ __forceinline__ void end(int tiles) {
    if (tiles % (kColumnChunk / kDepth) != 0) end_chunk();
  }
  /// The total of chunks whose sums the blocks of all splits have stored.
  __device__ __forceinline__ void gather(const float* chunk_sums, int chunks) {
    for (int chunk = 0; chunk < chunks; ++chunk)
      total_ += chunk_sums[static_cast<long long>(chunk) * pitch_];
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

/// Sixteen rows by 32 columns of a warp's sums in shared memory. Chunks of four are exchanged so
/// that lanes find 32 banks both ways.
class Slab {
 public:
  __device__ __forceinline__ explicit Slab(float* floats) : floats_(floats) {}

  /// 32 columns of 16 rows: number `step` of the warp's, those of one row after another.
  template <int kBlocks, int kSums>
  __device__ __forceinline__ void put(const float (&all)[kBlocks][kSums], int step) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, t = lane % 4;
#pragma unroll
    for (int s = 0; s < kBlocks * (kSums / 16); ++s) {
      const float(&sums)[kSums] = all[s / (kSums / 16)];
      const int p = s % (kSums / 16);
      if (s == step) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            *reinterpret_cast<float2*>(at(row + 8 * half, 8 * j + 2 * t)) =
                make_float2(sums[16 * p + 4 * j + 2 * half], sums[16 * p + 4 * j + 2 * half + 1]);
        }
      }
    }
  }
  template <int kWidth>
  __device__ __forceinline__ void get(int row, int column, float (&values)[kWidth]) const {
#pragma unroll
    for (int i = 0; i < kWidth; i += 4)
      load_vector(at(row, column + i), reinterpret_cast<float(&)[4]>(values[i]));
  }
  __device__ __forceinline__ float get(int row, int column) const { return *at(row, column); }

 private:
  __device__ __forceinline__ float* at(int row, int column) const {
    const int chunk = column / 4 ^ (row % 4 * 2 + row % 2);
    return floats_ + row * 32 + 4 * chunk + column % 4;
  }
  float* floats_;
};

/// The Body of every element of a warp's rows, 32 columns after another. Where all of them exist
/// and vectors divide their rows, what the Body loads for the next ones is under way while these
/// are computed.
template <class Tile, class Body>
class Elements {
 public:
  __device__ __forceinline__ Elements(const Body& body, const Slab& slab, int first_row,
                                      int first_column)
      : body_(body), slab_(slab), row_(first_row + line()), column_(first_column + offset()) {
    is_whole_ = first_row + Tile::kOwnRows - 48 <= body.rows &&
                first_column + Tile::kOwnColumns <= body.columns() && body.columns() % 8 == 0 &&
                body.is_aligned();
  }

  /// Loads what the first elements need, or begins to.
  __device__ __forceinline__ void begin() {
    if constexpr (kAhead) {
      if (is_whole_) load(rounds_, 0);
    }
  }
  __device__ __forceinline__ void finish(const Sums<Tile>& sums) {
    if (is_whole_)
      finish_whole(sums);
    else
      finish_apart(sums);
  }

 private:
  using Column = typename Body::Column;
  static constexpr int kWidth = Body::kWidth, kLanes = 32 / kWidth;  // of a row
  static constexpr int kRounds = 16 / kWidth;
  static constexpr int kParts = Tile::kOwnColumns / 32, kSteps = Tile::kOwnRows / 64 * kParts;

  struct Round {
    typename Body::Uniforms uniforms;
    typename Body::template Inputs<kWidth> inputs;
  };
  static constexpr bool kAhead = kRounds * sizeof(Round) <= 96;

  __device__ __forceinline__ static int line() {
    return static_cast<int>(threadIdx.x) % 32 / kLanes;
  }
  __device__ __forceinline__ static int offset() {
    return static_cast<int>(threadIdx.x) % kLanes * kWidth;
  }
  /// Of the warp's rows of this step the one that is so many after the lane's first.
  __device__ __forceinline__ long long row_of(int step, int after) const {
    return row_ + step / kParts * 64 + after;
  }
  __device__ __forceinline__ int column_of(int step) const { return column_ + step % kParts * 32; }

  __device__ __forceinline__ void load(Round (&rounds)[kRounds], int step) const {
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const long long row = row_of(step, kWidth * r);
      body_.load(row, rounds[r].uniforms);
      body_.load(row, Column(column_of(step), true), rounds[r].inputs);
    }
  }

  /// The step's 32 columns of the warp's rows, for all lanes to read.
  __device__ __forceinline__ void lay_out(const Sums<Tile>& sums, int step) const {
    __syncwarp();
    slab_.put(sums, step);
    __syncwarp();
  }

  __device__ __forceinline__ void finish_whole(const Sums<Tile>& sums) {
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      if constexpr (!kAhead) load(rounds_, step);
      lay_out(sums, step);
      Round next[kRounds];
      if constexpr (kAhead) load(next, min(step + 1, kSteps - 1));
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        const long long row = row_of(step, kWidth * r);
        const int column = column_of(step);
        typename Body::template Outputs<kWidth> outputs;
        float values[kWidth];
        slab_.template get<kWidth>(line() + kWidth * r, offset(), values);
#pragma unroll
        for (int e = 0; e < kWidth; ++e)
          body_.compute(rounds_[r].uniforms, values[e], 0.0f, rounds_[r].inputs, e, row,
                        Column(column + e, true), outputs);
        body_.store(row, Column(column, true), outputs);
      }
      if constexpr (kAhead) {
#pragma unroll
        for (int r = 0; r < kRounds; ++r) rounds_[r] = next[r];
      }
    }
  }

  /// Rows that end inside, or that vectors do not divide: a lane has one element of each, so that
  /// what lanes load and store lies side by side.
  __device__ __forceinline__ void finish_apart(const Sums<Tile>& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      lay_out(sums, step);
      const int column = column_of(step) - offset() + lane;
#pragma unroll 4
      for (int line = 0; line < 16; ++line) {
        const long long row = row_of(step, line - Elements::line());
        if (row >= body_.rows || column >= body_.columns()) continue;
        typename Body::Uniforms uniforms;
        typename Body::template Inputs<1> inputs;
        typename Body::template Outputs<1> outputs;
        body_.load(row, uniforms);
        body_.load(row, column, inputs);
        body_.compute(uniforms, slab_.get(line, lane), 0.0f, inputs, 0, row, column, outputs);
        body_.store(row, column, outputs);
      }
    }
  }

  const Body& body_;
  Slab slab_;
  int row_, column_;
  bool is_whole_ = false;
  Round rounds_[kRounds];
};

/// The workspace of a depth that is split: counters u32[units of a split * 2, where warp groups
/// take turns * 1], rounded up to 256 bytes, zero before and after; partial sums
/// f32[split][unit][warp group][sums of its threads]; sums of lhs f32[chunks of N3][rows of all
/// tiles].
template <class Tile>
class Partials {
 public:
  template <class Place>
  __device__ __forceinline__ Partials(float* workspace, const Order<Tile>& order,
                                      const Place& place, int group)
      : splits_(order.splits()), group_(group) {
    const unsigned int at = place.unit * kGroups + (Tile::kAlternates ? 0 : group);
    const unsigned int counters = (order.units_of_split() * kGroups + 63) / 64 * 64;
    counter_ = reinterpret_cast<unsigned int*>(workspace) + at;
    stride_ = static_cast<long long>(order.units_of_split()) * kGroups * kGroupSums;
    first_ = workspace + counters + static_cast<long long>(at) * kGroupSums;
    own_ = first_ + place.split * stride_;
    chunk_sums_ = workspace + counters + order.given_splits() * stride_;
  }

  /// Of the first chunk.
  __device__ __forceinline__ float* chunk_sums() const { return chunk_sums_; }

  /// Hands in this part. True for the last of all parts, whose group then holds the sums of all,
  /// added in ascending order.
  __device__ __forceinline__ bool add_up(Sums<Tile>& sums) const {
    each_quad(sums, [&](int quad, float& a, float& b, float& c, float& d) {
      const float values[4] = {a, b, c, d};
      ptx::st_global_in_order(own_ + quad, values);
    });
    ptx::bar_sync(1 + group_, 128);
    unsigned int before = 0;
    if (threadIdx.x % 128 == 0) before = ptx::atom_inc_acq_rel(counter_, splits_ - 1);
    if (!ptx::bar_red_or(1 + group_, 128, before == splits_ - 1)) return false;
    each_quad(sums, [&](int quad, float& a, float& b, float& c, float& d) {
      float values[4];
      load_vector(first_ + quad, values);
      a = values[0], b = values[1], c = values[2], d = values[3];
    });
#pragma unroll 1
    for (unsigned int split = 1; split < splits_; ++split) {
      const float* const other = first_ + split * stride_;
      each_quad(sums, [&](int quad, float& a, float& b, float& c, float& d) {
        float values[4];
        load_vector(other + quad, values);
        a += values[0], b += values[1], c += values[2], d += values[3];
      });
    }
    return true;
  }

 private:
  static constexpr int kGroups = Tile::kAlternates ? 1 : 2;
  static constexpr int kGroupSums = Tile::kOwnRows * Tile::kOwnColumns;

  template <class Visit>
  __device__ __forceinline__ static void each_quad(Sums<Tile>& sums, const Visit& visit) {
#pragma unroll
    for (int i = 0; i < Tile::kOwnRows / 64; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kOwnColumns / 2; j += 4)
        visit((i * (Tile::kOwnColumns / 2) + j) * 128 + 4 * static_cast<int>(threadIdx.x % 128),
              sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
  }

  unsigned int* counter_;
  float *first_, *own_, *chunk_sums_;
  long long stride_;
  unsigned int splits_;
  int group_;
};

}  // namespace halftone::kernels::warpgroup_contraction
