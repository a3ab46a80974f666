// SPDX-License-Identifier: Apache-2.0
// Of contractions by warp groups: which tiles there are, in which order blocks take them, and the
// ring of stages that one warp group fills.
#pragma once

#include "halftone/kernels/reduce.cuh"
#include "halftone/kernels/warpgroup_lines.cuh"

namespace halftone::kernels::warpgroup_contraction {

constexpr int kDepth = kLineElements;             // of a stage
constexpr int kBlockBytes = kDepth * kLineBytes;  // 64 rows or columns by 64 of k, either way

/// A plan: kRows x kColumns results, kStages times 64 products under way. kAlternates: each warp
/// group has tiles of its own. Tiles go in groups of kGroupRows rows of tiles, whose columns of
/// tiles are taken one after another. kSplits: whether a launch may split the depth.
template <int kRows_, int kColumns_, int kStages_, bool kAlternates_,
          int kGroupRows_ = 2048 / kRows_, bool kSplits_ = false>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kStages = kStages_;
  static constexpr bool kAlternates = kAlternates_;
  static constexpr int kGroupRows = kGroupRows_;
  static constexpr bool kSplits = kSplits_;
  static constexpr int kThreads = 384;
  static constexpr bool kSplitsRows = !kAlternates && kRows >= 128;
  static constexpr bool kSplitsColumns = !kAlternates && !kSplitsRows;
  static constexpr int kOwnRows = kSplitsRows ? kRows / 2 : kRows;  ///< of a warp group
  static constexpr int kOwnColumns = kSplitsColumns ? kColumns / 2 : kColumns;
  static constexpr int kLhsBytes = kRows * kLineBytes, kRhsBytes = kColumns * kLineBytes;
  static constexpr int kStageBytes = kLhsBytes + kRhsBytes;
  static constexpr int kWarpSlabBytes = 16 * 32 * 4;
  static constexpr int kSharedBytes = kStages * (kStageBytes + 16) + 8 * kWarpSlabBytes;
  static_assert(kRows % 64 == 0 && kColumns % 64 == 0 && kRows <= 256 && kColumns <= 256,
                "a tile's rows and columns are multiples of 64 up to 256");
  static_assert(kOwnColumns % 64 == 0 && kOwnRows / 64 * kOwnColumns <= 256,
                "a warp group holds at most 64 x 256 sums");
  static_assert(kSharedBytes <= 227 * 1024, "shared memory ends at 227 KiB; take fewer stages");
};

/// Which tiles there are and in which order blocks take them.
template <class Tile>
class Order {
 public:
  template <class Body>
  __device__ __forceinline__ Order(const Body& body, int splits)
      : row_units_(static_cast<unsigned int>((body.rows + Tile::kRows - 1) / Tile::kRows)),
        column_units_(
            static_cast<unsigned int>((body.columns() + Tile::kColumns - 1) / Tile::kColumns)),
        units_(row_units_ * column_units_),
        given_splits_(splits),
        splits_(splits),
        depth_(static_cast<int>(body.depth)) {
    const int part = (depth_ + splits - 1) / splits;
    per_ = splits == 1 ? depth_ : (part + kColumnChunk - 1) / kColumnChunk * kColumnChunk;
    splits_ = (depth_ + per_ - 1) / per_;
  }

  struct Place {
    int row, column;           ///< the first
    int first_depth, depth;    ///< of the part
    unsigned int unit, split;  ///< which of a split's units, and which split
  };
  /// Of all splits: those of one split are taken before those of the next.
  __device__ __forceinline__ unsigned int units() const { return units_ * splits_; }
  __device__ __forceinline__ int splits() const { return splits_; }
  /// As the launch says; as many may have nothing to do.
  __device__ __forceinline__ int given_splits() const { return given_splits_; }
  __device__ __forceinline__ unsigned int rows() const { return row_units_ * Tile::kRows; }
  __device__ __forceinline__ unsigned int units_of_split() const { return units_; }
  __device__ __forceinline__ Place operator()(unsigned int unit) const {
    Place place;
    place.split = splits_ == 1 ? 0 : unit / units_;
    unit -= place.split * units_;
    place.unit = unit;
    place.first_depth = static_cast<int>(place.split) * per_;
    place.depth = max(0, min(per_, depth_ - place.first_depth));
    constexpr unsigned int kHeight = Tile::kGroupRows;
    const unsigned int group = unit / (kHeight * column_units_);
    const unsigned int within = unit - group * kHeight * column_units_;
    const unsigned int height = min(kHeight, row_units_ - group * kHeight);
    const unsigned int column = within / height;
    place.row = static_cast<int>(group * kHeight + within - column * height) * Tile::kRows;
    place.column = static_cast<int>(column) * Tile::kColumns;
    return place;
  }

 private:
  unsigned int row_units_, column_units_, units_;
  int given_splits_, splits_, depth_, per_;
};

/// The stages, each with an mbarrier that completes when it is full and one when it is empty.
template <class Tile>
class Ring {
 public:
  __device__ __forceinline__ explicit Ring(unsigned int shared) : shared_(shared) {}

  /// A stage is full once so many arrived.
  __device__ __forceinline__ void begin(unsigned int arrivals) const {
#pragma unroll
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(full(s), arrivals);
      ptx::mbarrier_init(empty(s), 4 * (Tile::kAlternates ? 1 : 2));
    }
    ptx::fence_mbarrier_init();
  }
  __device__ __forceinline__ unsigned int stage(int s) const {
    return shared_ + s * Tile::kStageBytes;
  }
  __device__ __forceinline__ unsigned int full(int s) const {
    return shared_ + Tile::kStages * Tile::kStageBytes + 16 * s;
  }
  __device__ __forceinline__ unsigned int empty(int s) const { return full(s) + 8; }

  __device__ __forceinline__ void wait_full(int s, unsigned int parity) const {
    while (!ptx::mbarrier_try_wait(full(s), parity)) {
    }
  }
  __device__ __forceinline__ void wait_empty(int s, unsigned int parity) const {
    while (!ptx::mbarrier_try_wait(empty(s), parity)) {
    }
  }
  /// By every warp that has read the stage.
  __device__ __forceinline__ void release(int s) const {
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty(s));
  }

 private:
  unsigned int shared_;
};

/// A place in the ring: the number of a stage and the parity of its phase.
template <int kStages>
struct Turn {
  int stage = 0;
  unsigned int parity = 0;
  __device__ __forceinline__ void next() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
  __device__ __forceinline__ void skip(int turns) {
    const int sum = stage + turns;
    stage = sum % kStages;
    parity ^= sum / kStages & 1;
  }
};

/// How both operands come into a stage: by tensor copies that one thread asks for, or, where NoMap
/// stands for a map, by the threads of the warp group.
template <class Body, class Tile, class LhsMap, class RhsMap>
class Filling {
 public:
  static constexpr bool kByThreads = kHasNoMap<LhsMap> || kHasNoMap<RhsMap>;
  static constexpr int kCopiedBytes =
      (kHasNoMap<LhsMap> ? 0 : Tile::kLhsBytes) + (kHasNoMap<RhsMap> ? 0 : Tile::kRhsBytes);
  /// Of a thread of this warp group, and of those that multiply.
  static constexpr int kRegisters = kByThreads ? 56 : 40;
  static constexpr int kOthersRegisters = kByThreads ? 224 : 232;
  /// That make a stage full.
  static constexpr int kArrivals = (kCopiedBytes > 0 ? 1 : 0) + (kByThreads ? kLineWarps : 0);

  __device__ __forceinline__ Filling(const Body& body, const LhsMap& lhs, const RhsMap& rhs,
                                     unsigned char* stages)
      : body_(body), lhs_(lhs), rhs_(rhs), stages_(stages) {}

  /// Fills stages for the block's tiles, one after another: called by the warp group.
  __device__ __forceinline__ void run(const Ring<Tile>& ring, const Order<Tile>& order) const {
    if (!kByThreads && threadIdx.x != 0) return;
    Turn<Tile::kStages> turn;
    for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
      const auto place = order(unit);
#pragma unroll 1
      for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
        const unsigned int full = ring.full(turn.stage);
        unsigned char* const stage = stages_ + turn.stage * Tile::kStageBytes;
        ring.wait_empty(turn.stage, turn.parity ^ 1);
        if (kCopiedBytes > 0 && threadIdx.x == 0)
          ptx::mbarrier_arrive_expect_tx(full, kCopiedBytes);
        place_lines<!Body::kTransposeLhs, Tile::kRows>(lhs_, body_.lhs, body_.rows, stage, full,
                                                       place.row, k);
        place_lines<Body::kTransposeRhs, Tile::kColumns>(
            rhs_, body_.rhs, body_.columns(), stage + Tile::kLhsBytes, full, place.column, k);
        if constexpr (kByThreads) {
          ptx::fence_proxy_async();
          __syncwarp();
          if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(full);
        }
        turn.next();
      }
    }
  }

 private:
  /// kLines rows of lhs or columns of rhs from `line` on, 64 of k from `k` on; `lines` are all.
  template <bool kAlongDepth, int kLines, class Map, class T>
  __device__ __forceinline__ void place_lines(const Map& map, const T* data, long long lines,
                                              unsigned char* to, unsigned int full, int line,
                                              int k) const {
    constexpr int kBox = kAlongDepth ? kLines : kDepth;
#pragma unroll
    for (int first = 0; first < kLines; first += kBox) {
      const int x = kAlongDepth ? k : line + first, y = kAlongDepth ? line + first : k;
      unsigned char* const box = to + first * kLineBytes;
      if constexpr (!kHasNoMap<Map>) {
        if (threadIdx.x == 0)
          ptx::tensor_load(static_cast<unsigned int>(__cvta_generic_to_shared(box)), map, full, x,
                           y);
      } else {
        const LinesOf<T> matrix = kAlongDepth ? LinesOf<T>{data, lines, body_.depth}
                                              : LinesOf<T>{data, body_.depth, lines};
        constexpr int kAhead = 8 * kDepth;  // what is copied then comes from L2
        ask_for_lines<kBox>(matrix, kAlongDepth ? x + kAhead : x, kAlongDepth ? y : y + kAhead);
        copy_lines<kBox>(matrix, box, x, y);
      }
    }
  }

  const Body& body_;
  const LhsMap& lhs_;
  const RhsMap& rhs_;
  unsigned char* stages_;
};

__device__ __forceinline__ int tiles_of_depth(int depth) { return (depth + kDepth - 1) / kDepth; }
template <class Place>
__device__ __forceinline__ int tiles_of(const Place& place) {
  return tiles_of_depth(place.depth);
}

}  // namespace halftone::kernels::warpgroup_contraction
