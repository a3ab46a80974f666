// SPDX-License-Identifier: Apache-2.0
// Batched products, a map over the rows of what they give, and its product with values, in one
// kernel: scores stay in registers. A warp has sixteen rows. For every stage of the map's
// reductions, then once for the result, it goes over the keys and multiplies again. Rows are
// reduced by N2 to the bit; the two products are class B, k ascending in steps of sixteen.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/product.cuh"
#include "halftone/kernels/reduce.cuh"
#include "halftone/kernels/tensor_fragments.cuh"

namespace halftone::kernels::attention {

using tensor_contraction::Depth;
using tensor_contraction::Fragments;
using tensor_contraction::Layout;
using tensor_contraction::multiply;
using tensor_contraction::StagingOf;

/// Lines in shared memory are powers of two long.
__device__ constexpr int padded(int columns) {
  int size = 16;
  while (size < columns) size *= 2;
  return size;
}

/// A plan: kKeys keys at a time. kColumns, kValueColumns: of lhs and rhs, and of the values.
template <int kKeys_, int kColumns_, int kValueColumns_>
struct Tile {
  static constexpr int kKeys = kKeys_, kColumns = kColumns_, kValueColumns = kValueColumns_;
  static constexpr int kWarps = 4, kThreads = 32 * kWarps, kRows = 16 * kWarps;
  static constexpr int kLine = padded(kColumns), kValueLine = padded(kValueColumns);
  static_assert(kKeys == 32 || kKeys == 64,
                "a block of keys is 32 or 64: whole turns of N2's 32 partial results");
  static_assert(kColumns % 16 == 0 && kValueColumns % 16 == 0 && kColumns <= 128 &&
                    kValueColumns <= 128,
                "columns of keys and values are multiples of 16 up to 128");
};

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

/// How lines of one operand come into shared memory, kLines at a time.
template <class T, int kLines, int kLine, int kThreads>
using LinesOf = StagingOf<Layout<T, kLine, kLines, false>, T, kThreads, 16>;

__device__ __forceinline__ Depth depth_of(long long first, long long total, int lines) {
  const long long length = total - first;
  Depth depth;
  depth.first = first;
  depth.total = total;
  depth.full = static_cast<int>(length / lines);
  depth.rest = static_cast<int>(length % lines);
  depth.tiles = depth.full + (depth.rest != 0);
  return depth;
}

/// One copy, or a pair of them, of the next tile into a stage.
template <bool kAsync, class... Staging>
__device__ __forceinline__ void place(int stage, int tile, int tiles, int inside,
                                      Staging&... operands) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kAsync) {
    if (tile < inside)
      (operands.template start<false>(stage, tile), ...);
    else if (tile < tiles)
      (operands.template start<true>(stage, tile), ...);
    ptx::cp_async_commit_group();
  }
#endif
  (operands.pass(stage, tile, tiles), ...);
}

/// What was placed is there for all warps, and all are done with the stage before.
template <bool kAsync>
__device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800
  if constexpr (kAsync) ptx::cp_async_wait_group<0>();
#endif
  __syncthreads();
}

template <class Body, class Tile>
class Worker {
  using T = typename Body::Lhs;
  static constexpr int kKeys = Tile::kKeys, kThreads = Tile::kThreads;
  static constexpr int kSteps = Tile::kColumns / 16, kValueTiles = Tile::kValueColumns / 16;
  using QueryLines = LinesOf<T, Tile::kRows, Tile::kLine, kThreads>;
  using KeyLines = LinesOf<T, kKeys, Tile::kLine, kThreads>;
  using ValueLines = LinesOf<typename Body::Values, kKeys, Tile::kValueLine, kThreads>;
  using QueryFragments = Fragments<Layout<T, Tile::kRows, Tile::kLine, true>, 16, false>;
  using KeyFragments = Fragments<Layout<T, kKeys, Tile::kLine, true>, kKeys, true>;
  using ValueFragments = Fragments<Layout<typename Body::Values, Tile::kValueLine, kKeys, false>,
                                   Tile::kValueColumns, true>;
  using Scores = float[kKeys / 8][4];
  using Inputs = typename Body::template Inputs<2>;
  static_assert(sizeof(T) == 2 && sizeof(typename Body::Values) == 2, "operands have 16 bits");

 public:
  static constexpr int kKeyBytes = kKeys * Tile::kLine * 2;
  static constexpr int kStageBytes = kKeyBytes + kKeys * Tile::kValueLine * 2;
  static constexpr int kQueryBytes = Tile::kRows * Tile::kLine * 2;
  static constexpr int kSharedBytes = kQueryBytes > 2 * kStageBytes ? kQueryBytes : 2 * kStageBytes;

  /// Of the batch's element `element` the rows from `first` on.
  __device__ __forceinline__ Worker(const Body& body, long long element, long long first,
                                    unsigned int shared)
      : body_(body),
        product_(product_of(body, element)),
        values_(body.values +
                element * static_cast<long long>(body.columns()) * Tile::kValueColumns),
        shared_(shared),
        depth_(depth_of(0, body.columns(), kKeys)),
        keys_(shared, 0),
        value_fragments_(shared + kKeyBytes, 0) {
    load_queries(first);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long row = product_.first_row + first + 16 * warp + 8 * half + lane / 4;
      exists_[half] = row < product_.end_row;
      rows_[half] = exists_[half] ? row : product_.end_row - 1;  // computed again, not stored
      body_.load(rows_[half], uniforms_[half]);
      body_.template derive<0>(uniforms_[half], reduced_[half]);
    }
  }

  /// Stage after stage of reductions; every thread of the block must call.
  template <int kStage = 0>
  __device__ __forceinline__ void reduce() {
    if constexpr (kStage < Body::kStages) {
      reduce_stage<kStage>();
#pragma unroll
      for (int half = 0; half < 2; ++half)
        body_.template derive<kStage + 1>(uniforms_[half], reduced_[half]);
      reduce<kStage + 1>();
    }
  }

  /// The product with values, over all keys, and its rows to memory.
  __device__ __forceinline__ void store() {
    float sums[2 * kValueTiles][4] = {};
    ValueLines values(values_, shared_ + kKeyBytes, 0, Tile::kValueColumns, depth_);
    each_block(
        [&](int stage, int first, const Scores& scores) {
          unsigned int words[kKeys / 8][2];
          weigh(first, scores, words);
          add_values(stage, words, sums);
        },
        values);
    store_sums(sums);
  }

 private:
  __device__ __forceinline__ static int column_of_lane() {
    return static_cast<int>(threadIdx.x) % 4 * 2;
  }

  /// The warp's queries, which stay in registers. The stages are free behind it.
  __device__ __forceinline__ void load_queries(long long first) {
    const Depth depth = depth_of(first, product_.rows, Tile::kRows);
    QueryLines lines(product_.lhs, shared_, 0, Tile::kColumns, depth);
    lines.begin(1);
    place<QueryLines::kAsync>(0, 0, 1, min(lines.inside(), depth.full), lines);
    wait<QueryLines::kAsync>();
    const QueryFragments fragments(shared_, static_cast<int>(threadIdx.x) / 32 * 16);
    load_query<0>(fragments);
    __syncthreads();
  }
  template <int kStep>
  __device__ __forceinline__ void load_query(const QueryFragments& fragments) {
    fragments.template load<kStep>(0, queries_[kStep]);
    if constexpr (kStep + 1 < kSteps) load_query<kStep + 1>(fragments);
  }

  /// visit(offset of the stage, first key, scores) for all keys, a block of them after another,
  /// while the stage holds what else is staged with them.
  template <class Visit, class... Others>
  __device__ __forceinline__ void each_block(const Visit& visit, Others&... others) {
    constexpr bool kAsync = KeyLines::kAsync;
    KeyLines keys(product_.rhs, shared_, 0, Tile::kColumns, depth_);
    const int tiles = depth_.tiles;
    int inside = keys.inside();
    ((inside = min(inside, others.inside())), ...);
    keys.begin(tiles);
    (others.begin(tiles), ...);
    place<kAsync>(0, 0, tiles, inside, keys, others...);
    int stage = 0;
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
      wait<kAsync>();
      place<kAsync>(kStageBytes - stage, tile + 1, tiles, inside, keys, others...);
      Scores scores = {};
      score<0>(stage, scores);
      visit(stage, tile * kKeys, scores);
      stage = kStageBytes - stage;
    }
    __syncthreads();
  }

  /// sums += the queries times a block of keys.
  template <int kStep>
  __device__ __forceinline__ void score(int stage, Scores& scores) const {
    typename KeyFragments::Registers words;
    keys_.template load<kStep>(stage, words);
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j)
      multiply<T>(scores[j], queries_[kStep][0], words[j / 2][j % 2 * 2],
                  words[j / 2][j % 2 * 2 + 1]);
    if constexpr (kStep + 1 < kSteps) score<kStep + 1>(stage, scores);
  }

  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    Trees<kFirst, kCount> trees[2];
    each_block([&](int, int first, const Scores& scores) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int eight = 0; eight < kKeys / 8; ++eight) {
          const int column = first + 8 * eight + column_of_lane();
          Inputs inputs;
          body_.load(rows_[half], column, inputs);
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            if (column + i >= body_.columns()) continue;
            float terms[kCount];
            body_.template contribute<kStage>(uniforms_[half], reduced_[half],
                                              scores[eight][2 * half + i], inputs, i, rows_[half],
                                              column + i, terms);
            trees[half].add(eight, i, terms);
          }
        }
        trees[half].reach(first + kKeys);
      }
    });
#pragma unroll
    for (int half = 0; half < 2; ++half)
      trees[half].give(depth_.tiles * kKeys, reduced_[half] + kFirst);
  }

  /// The trees of a stage's reductions, from the first on.
  template <int kFirst, int kCount>
  struct Trees {
    RowTree<Body::kLevels> tree{Body::reduction(kFirst)};
    Trees<kFirst + 1, kCount - 1> others;

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
  template <int kFirst>
  struct Trees<kFirst, 0> {
    __device__ __forceinline__ void add(int, int, const float*) {}
    __device__ __forceinline__ void reach(int) {}
    __device__ __forceinline__ void give(int, float*) {}
  };

  /// What the map makes of scores, two neighbours in a word: mma's a of the product with values.
  __device__ __forceinline__ void weigh(int first, const Scores& scores,
                                        unsigned int (&words)[kKeys / 8][2]) const {
#pragma unroll
    for (int eight = 0; eight < kKeys / 8; ++eight) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = first + 8 * eight + column_of_lane();
        Inputs inputs;
        body_.load(rows_[half], column, inputs);
        typename Body::Values weights[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          typename Body::template Outputs<2> outputs;
          body_.compute(uniforms_[half], reduced_[half], scores[eight][2 * half + i], inputs, i,
                        rows_[half], column + i, outputs, weights + i);
          if (column + i >= body_.columns()) weights[i] = {};
        }
        words[eight][half] = word_of(weights);
      }
    }
  }

  template <int kStep = 0>
  __device__ __forceinline__ void add_values(int stage, const unsigned int (&weights)[kKeys / 8][2],
                                             float (&sums)[2 * kValueTiles][4]) const {
    typename ValueFragments::Registers words;
    value_fragments_.template load<kStep>(stage, words);
    const unsigned int lhs[4] = {weights[2 * kStep][0], weights[2 * kStep][1],
                                 weights[2 * kStep + 1][0], weights[2 * kStep + 1][1]};
#pragma unroll
    for (int j = 0; j < 2 * kValueTiles; ++j)
      multiply<typename Body::Values>(sums[j], lhs, words[j / 2][j % 2 * 2],
                                      words[j / 2][j % 2 * 2 + 1]);
    if constexpr (kStep + 1 < kKeys / 16) add_values<kStep + 1>(stage, weights, sums);
  }

  __device__ __forceinline__ void store_sums(const float (&sums)[2 * kValueTiles][4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!exists_[half]) continue;
      float* const row = body_.sums(rows_[half]) + column_of_lane();
#pragma unroll
      for (int j = 0; j < 2 * kValueTiles; ++j)
        ptx::st_global(row + 8 * j, {__float_as_uint(sums[j][2 * half]),
                                     __float_as_uint(sums[j][2 * half + 1])});
    }
  }

  const Body& body_;
  const Product<Body> product_;
  const typename Body::Values* const values_;
  const unsigned int shared_;
  const Depth depth_;
  const KeyFragments keys_;
  const ValueFragments value_fragments_;
  typename QueryFragments::Registers queries_[kSteps];
  long long rows_[2];
  bool exists_[2];
  typename Body::Uniforms uniforms_[2];
  float reduced_[2][Body::kReductions + Body::kRowValues + 1];  // no array is empty
};

/// body's results of Tile::kRows rows of one element of the batch: blockIdx.x = element * tiles of
/// its rows + tile.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  using Worker = attention::Worker<Body, Tile>;
  __shared__ __align__(128) unsigned char storage[Worker::kSharedBytes];
  const auto tiles =
      static_cast<unsigned int>((rows_of_product(body) + Tile::kRows - 1) / Tile::kRows);
  Worker worker(body, blockIdx.x / tiles,
                static_cast<long long>(blockIdx.x % tiles) * Tile::kRows,
                static_cast<unsigned int>(__cvta_generic_to_shared(storage)));
  worker.reduce();
  worker.store();
}

}  // namespace halftone::kernels::attention
