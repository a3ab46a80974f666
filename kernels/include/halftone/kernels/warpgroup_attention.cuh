// SPDX-License-Identifier: Apache-2.0
// attention.cuh by warp groups of sm_90a: batched products, a map over the rows of what they give,
// and its product with values, in one kernel. Warp groups of 64 rows each multiply the blocks of
// keys that a warp fetches, and compute the map on wgmma's results, which are the operand of the
// second product as they lie.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/row_tree.cuh"
#include "halftone/kernels/warpgroup_attention_blocks.cuh"

namespace halftone::kernels::warpgroup_attention {

using attention::RowTrees;

/// A warp group: 64 rows.
template <class Body, class Tile>
class Consumer {
  using T = typename Body::Lhs;
  using Weight = typename Body::Weight;
  static constexpr bool kTwo = Body::kProducts == 2;
  static constexpr int kKeys = Tile::kKeys;
  static constexpr int kSumColumns = kTwo ? Tile::kColumns : Tile::kValueColumns;
  static constexpr int kPaddedSums = kSumColumns <= 64 ? 64 : 128;
  using Scores = float[kKeys / 2];
  using Words = unsigned int[kKeys / 16][4];
  using Inputs = typename Body::template Inputs<2>;
  static_assert(sizeof(T) == 2 && sizeof(Weight) == 2, "operands have 16 bits");

  struct Block {
    int first;                  ///< key
    Kept kept;                  ///< of its scores of these rows; some where a part does not exist
    int keys;                   ///< slot
    Turn<Tile::kSlots> second;  ///< slot of the values or of the second product's operand
  };
  struct Pair {
    Scores first, second;  ///< of the two products
  };

 public:
  __device__ __forceinline__ Consumer(const Body& body, const typename Tile::Ring& ring,
                                      const Place& place, unsigned int queries, int group)
      : body_(body), ring_(ring), queries_(queries), group_(group) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = place.first + 64 * group + 16 * warp + 8 * half + lane / 4;
      exists_[half] = row < place.queries;
      // A row past the end is computed as the last one and not stored.
      rows_[half] = place.head * place.queries + min(row, place.queries - 1);
      body_.load(rows_[half], uniforms_[half]);
      body_.template derive<0>(uniforms_[half], reduced_[half]);
    }
  }

  /// Stage after stage of reductions.
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

  /// The product of what the map makes with values, and its rows to memory, with what else is
  /// stored of a row.
  __device__ __forceinline__ void store() {
    float sums[kPaddedSums / 2] = {};
    add_up(sums);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!exists_[half]) continue;
#pragma unroll
      for (int eight = 0; eight < kSumColumns / 8; ++eight)
        body_.store_pair(rows_[half], 8 * eight + column_of_lane(), sums[4 * eight + 2 * half],
                         sums[4 * eight + 2 * half + 1]);
      if (column_of_lane() == 0) body_.store_row(uniforms_[half], reduced_[half], rows_[half]);
    }
  }

 private:
  /// Where the first of a lane's two neighbours is in each eight of a product's columns.
  __device__ __forceinline__ static int column_of_lane() {
    return static_cast<int>(threadIdx.x) % 4 * 2;
  }

  /// The next block of a pass; false where it stands for the pass's end.
  template <bool kSecond>
  __device__ __forceinline__ bool advance(Block& block) {
    // The same for all lanes, which is how the compiler learns it.
    const int note = __shfl_sync(kAllLanes, ring_.read(turn_), 0);
    block.keys = __shfl_sync(kAllLanes, turn_.stage, 0);
    turn_.next();
    block.second = turn_;
    if constexpr (kSecond) turn_.next();
    block.first = (note & ((1 << kNoteBits) - 1)) * kKeys;
    block.kept = static_cast<Kept>(note >> (kNoteBits + 2 * group_) & 3);
    if (note == kEnd) end_ = block;
    return note != kEnd;
  }

  /// Releases a block that is not multiplied.
  template <bool kSecond>
  __device__ __forceinline__ void leave(const Block& block) const {
    ring_.release(block.keys);
    if constexpr (kSecond) {
      wait(ring_.full(block.second.stage), block.second.parity);
      ring_.release(block.second.stage);
    }
  }

  /// Begins scores = the queries times a block of keys, and those of the second product.
  template <bool kSecond>
  __device__ __forceinline__ void multiply_keys(const Block& block, Pair& scores) const {
    const unsigned int keys = ring_.slot(block.keys);
    if constexpr (kSecond) wait(ring_.full(block.second.stage), block.second.parity);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < Tile::Keys::kPadded / 16; ++step)
      multiply<T, false>(scores.first, Tile::Queries::along(queries_, step, 64 * group_),
                         Tile::Keys::along(keys, step), step);
    if constexpr (kSecond) {
      const unsigned int second = ring_.slot(block.second.stage);
#pragma unroll
      for (int step = 0; step < Tile::Values::kPadded / 16; ++step)
        multiply<Weight, false>(
            scores.second,
            Tile::SecondQueries::along(queries_ + Tile::Queries::kBytes, step, 64 * group_),
            Tile::Values::along(second, step), step);
    }
    ptx::wgmma_commit_group();
  }

  /// Begins sums += weights times the block's values, or the first product's keys.
  __device__ __forceinline__ void multiply_values(const Block& block, const Words& words,
                                                  float (&sums)[kPaddedSums / 2]) const {
    const unsigned int values = ring_.slot(kTwo ? block.keys : block.second.stage);
    if constexpr (!kTwo) wait(ring_.full(block.second.stage), block.second.parity);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step)
      multiply<Weight, true>(
          sums, words[step],
          kTwo ? Tile::Keys::across(values, step) : Tile::Values::across(values, step), 1);
    ptx::wgmma_commit_group();
  }

  /// Adds the terms of 8 * kEights keys from `first` on, whose scores come first among `scores`.
  template <int kStage, bool kAll, int kEights, class Trees>
  __device__ __forceinline__ void add(const Pair& scores, int first, Trees (&trees)[2]) {
    constexpr int kCount = Body::stage_begin(kStage + 1) - Body::stage_begin(kStage);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float terms[kEights][2][kCount];
#pragma unroll
      for (int eight = 0; eight < kEights; ++eight) {
        const int column = first + 8 * eight + column_of_lane();
        Inputs inputs;
        body_.load(rows_[half], column, inputs);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int at = 4 * eight + 2 * half + i;
          if (kAll || column + i < body_.columns())
            body_.template contribute<kStage, kAll>(uniforms_[half], reduced_[half],
                                                    scores.first[at], scores.second[at], inputs, i,
                                                    rows_[half], column + i, terms[eight][i]);
          else
            trees[half].leave_out(terms[eight][i]);
        }
      }
      trees[half].add(terms);
    }
  }

  /// What comes behind the first sixteen keys' scores takes their place.
  template <bool kSecond>
  __device__ __forceinline__ static void drop(Pair& scores) {
#pragma unroll
    for (int i = 0; i + 8 < kKeys / 2; ++i) {
      scores.first[i] = scores.first[i + 8];
      if constexpr (kSecond) scores.second[i] = scores.second[i + 8];
    }
  }

  template <int kStage, class Trees>
  __device__ __forceinline__ void add(Pair& scores, const Block& block, Trees (&trees)[2]) {
    if (block.kept == Kept::none) return;
    if (!trees[0].reaches(block.first)) trees[0].move(block.first), trees[1].move(block.first);
    if (block.kept == Kept::all) {
      add<kStage, true, kKeys / 8>(scores, block.first, trees);
    } else {
      // Few blocks come here: short code, of which an instruction cache holds more.
#pragma unroll 1
      for (int key = 0; key < kKeys; key += 16) {
        add<kStage, false, 2>(scores, block.first + key, trees);
        trees[0].turn(), trees[1].turn();
        drop<kTwo && Body::reads_sum2(kStage)>(scores);
      }
    }
  }

  /// The scores under way are those of the block, whose slots are free behind it.
  template <bool kSecond>
  __device__ __forceinline__ void end_scores(const Block& block, Pair& scores) const {
    ptx::wgmma_wait_group<0>();
    ptx::wgmma_arrived(scores.first);
    if constexpr (kSecond) ptx::wgmma_arrived(scores.second);
    ring_.release(block.keys);
    if constexpr (kSecond) ring_.release(block.second.stage);
  }

  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    constexpr bool kSecond = kTwo && Body::reads_sum2(kStage);
    constexpr bool kPairs = kCount == 1 && Body::reduction(kFirst) == Reduction::maximum;
    RowTrees<Body, kFirst, kCount> trees[2];
    if constexpr (kPairs) {
      // A block's terms take less time than its scores are waited for.
      Pair scores[2] = {};
      Block blocks[2];
#pragma unroll 1
      for (;;) {
        if (!advance<kSecond>(blocks[0])) {
          leave<kSecond>(end_);
          break;
        }
        const bool more = advance<kSecond>(blocks[1]);
        multiply_keys<kSecond>(blocks[0], scores[0]);
        multiply_keys<kSecond>(blocks[1], scores[1]);
        end_scores<kSecond>(blocks[0], scores[0]);
        end_scores<kSecond>(blocks[1], scores[1]);
        add<kStage>(scores[0], blocks[0], trees);
        if (!more) break;
        add<kStage>(scores[1], blocks[1], trees);
      }
    } else {
      Pair scores = {};
      Block block;
#pragma unroll 1
      while (advance<kSecond>(block)) {
        multiply_keys<kSecond>(block, scores);
        end_scores<kSecond>(block, scores);
        add<kStage>(scores, block, trees);
      }
      leave<kSecond>(end_);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) trees[half].give(reduced_[half] + kFirst);
  }

  /// What the map makes of scores, two neighbours in a word: wgmma's a of the product with values.
  template <bool kAll, int kEights>
  __device__ __forceinline__ void weigh(const Pair& scores, int first,
                                        unsigned int (&words)[kEights / 2][4]) const {
#pragma unroll
    for (int eight = 0; eight < kEights; ++eight) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = first + 8 * eight + column_of_lane();
        Inputs inputs;
        body_.load(rows_[half], column, inputs);
        Weight weights[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int at = 4 * eight + 2 * half + i;
          typename Body::template Outputs<2> outputs;
          body_.template compute<kAll>(uniforms_[half], reduced_[half], scores.first[at],
                                       scores.second[at], inputs, i, rows_[half], column + i,
                                       outputs, weights + i);
        }
        unsigned int& word = words[eight / 2][eight % 2 * 2 + half];
        word = word_of(weights);
        if (!kAll && column + 1 >= body_.columns()) word &= column < body_.columns() ? 0xffff : 0;
      }
    }
  }
  __device__ __forceinline__ void weigh(Pair& scores, const Block& block, Words& words) const {
    if (block.kept == Kept::all) return weigh<true, kKeys / 8>(scores, block.first, words);
#pragma unroll 1
    for (int key = 0; key < kKeys; key += 16) {
      unsigned int next[1][4];
      weigh<false, 2>(scores, block.first + key, next);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int step = 0; step + 1 < kKeys / 16; ++step) words[step][i] = words[step + 1][i];
        words[kKeys / 16 - 1][i] = next[0][i];
      }
      drop<kTwo>(scores);
    }
  }

  /// What is under way: the scores of the block and the product with values before.
  __device__ __forceinline__ void end_products(const Block& block, Pair& scores,
                                               float (&sums)[kPaddedSums / 2]) const {
    ptx::wgmma_wait_group<0>();
    ptx::wgmma_arrived(scores.first);
    if constexpr (kTwo) ptx::wgmma_arrived(scores.second);
    ptx::wgmma_arrived(sums);
    ring_.release(kTwo ? block.second.stage : block.keys);
  }

  /// sums += what the map makes times values, over all keys.
  __device__ __forceinline__ void add_up(float (&sums)[kPaddedSums / 2]) {
    Pair scores = {};
    Words words = {};
    Block block;
    int summed = -1;  // the slot that the product under way reads
#pragma unroll 1
    while (advance<true>(block)) {
      multiply_keys<kTwo>(block, scores);
      end_products(block, scores, sums);
      if (summed >= 0) ring_.release(summed);
      weigh(scores, block, words);
      multiply_values(block, words, sums);
      summed = kTwo ? block.keys : block.second.stage;
    }
    ptx::wgmma_wait_group<0>();
    ptx::wgmma_arrived(sums);
    if (summed >= 0) ring_.release(summed);
    leave<true>(end_);
  }

  const Body& body_;
  const typename Tile::Ring& ring_;
  const unsigned int queries_;
  const int group_;
  Turn<Tile::kSlots> turn_;
  Block end_;  ///< of the pass
  long long rows_[2];
  bool exists_[2];
  typename Body::Uniforms uniforms_[2];
  float reduced_[2][Body::kReductions + Body::kRowValues + 1];  // no array is empty
};

template <class Body, class Tile>
__device__ __forceinline__ void work(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                     const TensorMap* lhs2, const TensorMap& second) {
  extern __shared__ __align__(1024) unsigned char storage[];
  constexpr int kQueryBytes = Tile::shared_bytes(Body::kProducts) - Tile::Ring::kBytes;
  const typename Tile::Ring ring(storage + kQueryBytes);
  const auto queries = static_cast<unsigned int>(__cvta_generic_to_shared(storage));
  const Place place = place_of<Tile>(body);
  const int group = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) ring.begin();
  __syncthreads();
  if (group == 0) {
    ptx::setmaxnreg_dec<Tile::kProducerRegisters>();
    if (threadIdx.x < 32) {
      Producer<Body, Tile> producer(body, ring, place, rhs, second);
      producer.load_queries(lhs, lhs2, queries);
      __syncwarp();
      producer.fill();
    }
  } else {
    ptx::setmaxnreg_inc<Tile::kConsumerRegisters>();
    Consumer<Body, Tile> consumer(body, ring, place, queries, group - 1);
    wait(ring.resident(), 0);
    consumer.reduce();
    consumer.store();
  }
}

/// body's results of Tile::kRows rows of one head. A Body of one product and values.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    const TensorMap& values) {
  static_assert(Body::kProducts == 1, "two products have four operands");
  work<Body, Tile>(body, lhs, rhs, nullptr, values);
}
/// Of two products.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    const TensorMap& lhs2, const TensorMap& rhs2) {
  static_assert(Body::kProducts == 2, "one product has three operands");
  work<Body, Tile>(body, lhs, rhs, &lhs2, rhs2);
}

}  // namespace halftone::kernels::warpgroup_attention
