// SPDX-License-Identifier: Apache-2.0
// attention_columns by warp groups of sm_90a: two batched products, a map of pairs of what they
// give, and what it makes of them, transposed, times the rows of either product. A warp group has
// 64 columns of the map and holds the sums of both gradients in registers. One warp keeps a ring of
// stages filled with rows by tensor copies; those beside it put there what the Body knows of them.
// Products are class B, rows ascending in steps of sixteen. Blocks of rows of which the map keeps
// nothing are left out.
#pragma once

#include "halftone/kernels/load_store.cuh"
#include "halftone/kernels/warpgroup_attention_columns_stages.cuh"

namespace halftone::kernels::warpgroup_attention_columns {

using warpgroup_attention::multiply;

/// A warp group that multiplies: number `group` of Tile::kGroups.
template <class Body, class Tile>
class Consumer {
  using T = typename Body::Weight;
  using Ring = typename Tile::Ring;
  using Rows = Known<Body, Tile>;
  static constexpr int kRows = Tile::kRows, kSteps = kRows / 16;
  using Scores = float[kRows / 2];

 public:
  __device__ __forceinline__ Consumer(const Body& body, const Ring& ring, unsigned int keys,
                                      const unsigned int* known, long long element,
                                      int first_column, int group)
      : body_(body), ring_(ring), keys_(keys), known_(known), group_(group), element_(element) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    column_ = first_column + group * 64 + thread / 32 * 16 + thread % 32 / 4;
  }

  __device__ __forceinline__ void run() {
    warpgroup_attention::wait(ring_.resident(), 0);
    Turn<Tile::kStages> turn;
    int note = ring_.read(turn);
    while (note != kEnd) {
      if constexpr (Tile::kWholeApart) add_blocks<true>(turn, note);
      add_blocks<false>(turn, note);
    }
    store();
  }

 private:
  /// Both sums += what the map makes of pairs of scores, times the rows, of all blocks up to the
  /// next one of which it does not keep all, or does; or all of them, where it asks for every pair.
  template <bool kAll>
  __device__ __forceinline__ void add_blocks(Turn<Tile::kStages>& turn, int& note) {
#pragma unroll 1
    while (note != kEnd && (!Tile::kWholeApart || (note % 2 != 0) == kAll)) {
      const unsigned int stage = ring_.slot(turn.stage);
      Scores scores, second_scores;
      ptx::wgmma_fence();
      score<typename Tile::Keys, typename Tile::Rows>(scores, keys_, stage);
      score<typename Tile::SecondKeys, typename Tile::SecondRows>(
          second_scores, keys_ + Tile::Keys::kBytes, stage + Tile::Rows::kBytes);
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>();
      ptx::wgmma_arrived(scores);
      ptx::wgmma_arrived(second_scores);
      ptx::wgmma_arrived(sums_);
      ptx::wgmma_arrived(second_sums_);
      const unsigned int* known = known_ + turn.stage * Rows::kStageWords;
      unsigned int words[kSteps][4], second_words[kSteps][4];
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        weigh<kAll>(scores, second_scores, known, step, note / 2, words[step], second_words[step]);
        if (Tile::kIsWide) add_step(words[step], second_words[step], stage, step);
      }
#pragma unroll
      for (int step = 0; step < kSteps && !Tile::kIsWide; ++step)
        add_step(words[step], second_words[step], stage, step);
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>();
      ptx::wgmma_arrived(sums_);
      ptx::wgmma_arrived(second_sums_);
      __syncwarp();  // all lanes have read what is known of rows
      ring_.release(turn.stage);
      turn.next();
      note = ring_.read(turn);
    }
  }

  /// Both sums += what sixteen rows' pairs became times those rows.
  __device__ __forceinline__ void add_step(const unsigned int (&words)[4],
                                           const unsigned int (&second_words)[4],
                                           unsigned int stage, int step) {
    ptx::wgmma_fence();
    multiply<T, true>(second_sums_, second_words,
                      Tile::SecondRows::across(stage + Tile::Rows::kBytes, step), 1);
    multiply<T, true>(sums_, words, Tile::Rows::across(stage, step), 1);
  }

  /// scores = the group's keys times the rows of the stage.
  template <class KeyLines, class RowLines>
  __device__ __forceinline__ void score(Scores& scores, unsigned int keys,
                                        unsigned int rows) const {
#pragma unroll
    for (int step = 0; step < KeyLines::kColumns / 16; ++step)
      multiply<T, false>(scores, KeyLines::along(keys, step, group_ * 64),
                         RowLines::along(rows, step), step > 0);
  }

  /// What the map makes of sixteen rows' pairs of scores: wgmma's a of the products with rows.
  template <bool kAll>
  __device__ __forceinline__ void weigh(const Scores& scores, const Scores& second_scores,
                                        const unsigned int* known, int step, int block,
                                        unsigned int (&words)[4],
                                        unsigned int (&second_words)[4]) const {
    typename Rows::Row rows[4];
    Rows::get(known, step, rows);
    const int queries = static_cast<int>(body_.queries());
    const int blocks = (queries + kRows - 1) / kRows, head = block / blocks;
    const int place =
        (block - head * blocks) * kRows + 16 * step + static_cast<int>(threadIdx.x) % 4 * 2;
    const long long first = (element_ * body_.group() + head) * body_.queries();
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // of the columns
      const int column = column_ + 8 * half;
#pragma unroll
      for (int eight = 0; eight < 2; ++eight) {  // of the rows
        T weights[2][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int from = 4 * (2 * step + eight) + 2 * half + i;
          const bool exists = kAll || place + 8 * eight + i < queries;
          const long long row =
              first + (kAll ? place + 8 * eight + i : min(place + 8 * eight + i, queries - 1));
          typename Body::template Inputs<1> inputs;
          body_.load(row, column, inputs);
          typename Body::template Outputs<1> outputs;
          T terms[2];
          body_.template compute<kAll>(rows[2 * eight + i].uniforms, rows[2 * eight + i].reduced,
                                       scores[from], second_scores[from], inputs, 0, row, column,
                                       outputs, terms);
          weights[0][i] = exists ? terms[0] : T{};
          weights[1][i] = exists ? terms[1] : T{};
        }
        words[2 * eight + half] = word_of(weights[0]);
        second_words[2 * eight + half] = word_of(weights[1]);
      }
    }
  }

  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = column_ + 8 * half, at = static_cast<int>(threadIdx.x) % 4 * 2;
      if (column >= body_.columns()) continue;
      const long long row = element_ * static_cast<long long>(body_.columns()) + column;
#pragma unroll
      for (int j = 0; j < Tile::kColumns / 8; ++j)
        body_.store_pair(row, 8 * j + at, sums_[4 * j + 2 * half], sums_[4 * j + 2 * half + 1]);
#pragma unroll
      for (int j = 0; j < Tile::kValueColumns / 8; ++j)
        body_.store_second_pair(row, 8 * j + at, second_sums_[4 * j + 2 * half],
                                second_sums_[4 * j + 2 * half + 1]);
    }
  }

  const Body& body_;
  const Ring& ring_;
  const unsigned int keys_;
  const unsigned int* const known_;
  const int group_;
  const long long element_;
  int column_;  ///< of the lane's first results; the others are eight after it
  float sums_[Tile::Rows::kPadded / 2] = {}, second_sums_[Tile::SecondRows::kPadded / 2] = {};
};

/// body's results of Tile::kKeys columns of one element of the batch: blockIdx.x = element * tiles
/// of its columns + tile. Blocks that run at once share rows, which come from the second level
/// cache, and under a causal mask the last ones are the shortest. Maps have boxes of 64 elements by
/// Tile::kRows rows (lhs, lhs2) and Tile::kKeys columns (rhs, rhs2). Shared memory is dynamic.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    const TensorMap& lhs2, const TensorMap& rhs2) {
  static_assert(Body::kProducts == 2 && sizeof(typename Body::Weight) == 2,
                "two products of 16 bits");
  extern __shared__ __align__(1024) unsigned char storage[];
  const typename Tile::Ring ring(storage + Tile::kKeyBytes);
  const auto keys = static_cast<unsigned int>(__cvta_generic_to_shared(storage));
  auto* const known = reinterpret_cast<unsigned int*>(storage + Tile::kKnownAt);
  const unsigned int tiles = (body.columns() + Tile::kKeys - 1) / Tile::kKeys;
  const long long element = blockIdx.x / tiles;
  const int first_column = static_cast<int>(blockIdx.x % tiles) * Tile::kKeys;
  if (threadIdx.x == 0) ring.begin();
  __syncthreads();
  // Known to be the same for all lanes, so that descriptors stay in uniform registers.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  const int group = warp / 4;
  if (group == 0) {
    ptx::setmaxnreg_dec<Tile::kProducerRegisters>();
    if (warp < Tile::kKnowingWarps)
      know<Tile>(body, ring, known, element, first_column, static_cast<int>(threadIdx.x));
    else if (warp == 3)
      fill<Tile>(body, ring, keys, element, first_column, lhs, rhs, lhs2, rhs2);
  } else {
    ptx::setmaxnreg_inc<Tile::kConsumerRegisters>();
    Consumer<Body, Tile> consumer(body, ring, keys, known, element, first_column, group - 1);
    consumer.run();
  }
}

}  // namespace halftone::kernels::warpgroup_attention_columns
