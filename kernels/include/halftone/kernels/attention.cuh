// SPDX-License-Identifier: Apache-2.0
// Batched products, a map over the rows of what they give, and its product with values, in one
// kernel: scores stay in registers. A warp has sixteen rows. For every stage of the map's
// reductions, then once for the result, it goes over the keys and multiplies again. Rows are
// reduced by N2 to the bit; the products are class B, k ascending in steps of sixteen. A Body of
// two products maps pairs of scores, and what it makes of them is multiplied by the first's keys.
#pragma once

#include "halftone/kernels/attention_lines.cuh"
#include "halftone/kernels/row_tree.cuh"

namespace halftone::kernels::attention {

/// A plan: kKeys keys at a time. kColumns: of lhs and rhs; kValueColumns: of the values, or of the
/// second product's operands.
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

template <class Body, class Tile>
class Worker {
  using T = typename Body::Lhs;
  using Weight = typename Body::Weight;
  static constexpr bool kTwo = Body::kProducts == 2;
  static constexpr int kKeys = Tile::kKeys, kThreads = Tile::kThreads;
  static constexpr int kSteps = Tile::kColumns / 16, kSecondSteps = Tile::kValueColumns / 16;
  static constexpr int kSumColumns = kTwo ? Tile::kColumns : Tile::kValueColumns;
  using KeyLines = LinesOf<T, kKeys, Tile::kLine, kThreads>;
  using SecondLines = LinesOf<Weight, kKeys, Tile::kValueLine, kThreads>;
  using Queries = AsRows<T, Tile::kRows, Tile::kLine>;
  using SecondQueries = AsRows<Weight, Tile::kRows, Tile::kValueLine>;
  using Keys = AsColumns<T, kKeys, Tile::kLine>;
  using SecondKeys = AsColumns<Weight, kKeys, Tile::kValueLine>;
  using Values = AsSummed<Weight, kKeys, kTwo ? Tile::kLine : Tile::kValueLine, kSumColumns>;
  using Scores = float[kKeys / 8][4];
  using Inputs = typename Body::template Inputs<2>;
  static_assert(sizeof(T) == 2 && sizeof(Weight) == 2, "operands have 16 bits");

 public:
  static constexpr int kKeyBytes = kKeys * Tile::kLine * 2;
  static constexpr int kStageBytes = kKeyBytes + kKeys * Tile::kValueLine * 2;
  static constexpr int kQueryBytes = Tile::kRows * Tile::kLine * 2;
  static constexpr int kStages =
      kQueryBytes > 2 * kStageBytes ? kQueryBytes : 2 * kStageBytes;  ///< bytes of both
  static constexpr int kSharedBytes = kStages + (kTwo ? Tile::kRows * Tile::kValueLine * 2 : 0);

  /// Of the batch's element `element` the rows from `first` on.
  __device__ __forceinline__ Worker(const Body& body, long long element, long long first,
                                    unsigned int shared)
      : body_(body),
        element_(static_cast<unsigned int>(element)),
        first_row_(static_cast<int>(first)),
        product_(product_of(body, element)),
        second_(second_of(body) +
                element * static_cast<long long>(body.columns()) * Tile::kValueColumns),
        shared_(shared),
        depth_(depth_of(0, body.columns(), kKeys)),
        keys_(shared, 0),
        second_keys_(shared + kKeyBytes, 0),
        second_queries_(shared + kStages, static_cast<int>(threadIdx.x) / 32 * 16),
        values_(shared + (kTwo ? 0 : kKeyBytes), 0) {
    load_queries(first);
    if constexpr (kTwo)
      place_lines<Weight, Tile::kRows, Tile::kValueLine, Tile::kValueColumns, kThreads>(
          body.lhs2 + product_.first_row * Tile::kValueColumns, first, product_.rows,
          shared + kStages);
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

  /// The product of what the map makes with values, over all keys, and its rows to memory, with
  /// what else is stored of a row.
  __device__ __forceinline__ void store() {
    float sums[kSumColumns / 8][4] = {};
    SecondLines second(second_, shared_ + kKeyBytes, 0, Tile::kValueColumns, depth_);
    each_block(
        [&](int stage, int first, bool all, const Scores& scores, const Scores& second_scores) {
          unsigned int words[kKeys / 8][2];
          if (all)
            weigh<true>(first, scores, second_scores, words);
          else
            weigh<false>(first, scores, second_scores, words);
          add_lines<Weight>(words, values_, stage, sums);
        },
        second);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!exists_[half]) continue;
      store_sums(sums, half, body_.sums(rows_[half]));
      if (column_of_lane() == 0) body_.store_row(uniforms_[half], reduced_[half], rows_[half]);
    }
  }

 private:
  __device__ __forceinline__ static const Weight* second_of(const Body& body) {
    if constexpr (kTwo)
      return body.rhs2;
    else
      return body.values;
  }

  /// The warp's queries, which stay in registers. The stages are free behind it.
  __device__ __forceinline__ void load_queries(long long first) {
    place_lines<T, Tile::kRows, Tile::kLine, Tile::kColumns, kThreads>(product_.lhs, first,
                                                                       product_.rows, shared_);
    const Queries queries(shared_, static_cast<int>(threadIdx.x) / 32 * 16);
    load_query<0>(queries);
    __syncthreads();
  }
  template <int kStep>
  __device__ __forceinline__ void load_query(const Queries& queries) {
    queries.template load<kStep>(0, queries_[kStep]);
    if constexpr (kStep + 1 < kSteps) load_query<kStep + 1>(queries);
  }

  /// visit(offset of the stage, first key, whether all pairs are kept, scores, those of the second
  /// product) for the keys that the mask keeps some of, a block of them after another, while the
  /// stage holds what else is staged with them.
  template <class Visit, class... Second>
  __device__ __forceinline__ void each_block(const Visit& visit, Second&... second) {
    constexpr bool kAsync = KeyLines::kAsync;
    KeyLines keys(product_.rhs, shared_, 0, Tile::kColumns, depth_);
    const int tiles = depth_.tiles;
    int inside = keys.inside();
    ((inside = min(inside, second.inside())), ...);
    KeptTile own = kept_from(0);
    keys.skip(own.number());
    (second.skip(own.number()), ...);
    keys.begin(tiles, own.number());
    (second.begin(tiles, own.number()), ...);
    KeptTile next = kept_from(own.number() + 1);
    place<kAsync>(0, own.number(), next.number(), tiles, inside, keys, second...);
    int stage = 0;
#pragma unroll 1
    while (own.number() < tiles) {
      const KeptTile after = kept_from(next.number() + 1);
      wait<kAsync>();
      place<kAsync>(kStageBytes - stage, next.number(), after.number(), tiles, inside, keys,
                    second...);
      Scores scores = {}, second_scores = {};
      score<0>(stage, scores);
      if constexpr (kTwo && sizeof...(second) > 0) score_second<0>(stage, second_scores);
      visit(stage, own.number() * kKeys, own.all(), scores, second_scores);
      stage = kStageBytes - stage;
      own = next, next = after;
    }
    __syncthreads();
  }

  /// The first block of keys from this one on of which the mask keeps something.
  __device__ __forceinline__ KeptTile kept_from(int tile) const {
    const long long last_row =
        min(static_cast<long long>(first_row_ + Tile::kRows), product_.rows) - 1;
    return kept_tile(tile, depth_.tiles, [&](int number) {
      const int first = number * kKeys, last = min(first + kKeys, body_.columns()) - 1;
      const Kept kept = kept_of(body_, element_, first_row_, last_row, first, last);
      return kept == Kept::all && last != first + kKeys - 1 ? Kept::some : kept;
    });
  }

  /// scores += the queries times a block of keys.
  template <int kStep>
  __device__ __forceinline__ void score(int stage, Scores& scores) const {
    multiply_step<T, kStep>(queries_[kStep][0], keys_, stage, scores);
    if constexpr (kStep + 1 < kSteps) score<kStep + 1>(stage, scores);
  }
  /// Likewise of the second product, whose rows stay in shared memory.
  template <int kStep>
  __device__ __forceinline__ void score_second(int stage, Scores& scores) const {
    typename SecondQueries::Registers rows;
    second_queries_.template load<kStep>(0, rows);
    multiply_step<Weight, kStep>(rows[0], second_keys_, stage, scores);
    if constexpr (kStep + 1 < kSecondSteps) score_second<kStep + 1>(stage, scores);
  }

  template <int kStage>
  __device__ __forceinline__ void reduce_stage() {
    constexpr int kFirst = Body::stage_begin(kStage);
    constexpr int kCount = Body::stage_begin(kStage + 1) - kFirst;
    RowTrees<Body, kFirst, kCount> trees[2];
    const auto add = [&](int, int first, bool all, const Scores& scores,
                         const Scores& second_scores) {
      if (all)
        add_terms<kStage, true>(first, scores, second_scores, trees);
      else
        add_terms<kStage, false>(first, scores, second_scores, trees);
    };
    if constexpr (kTwo && Body::reads_sum2(kStage)) {
      SecondLines second(second_, shared_ + kKeyBytes, 0, Tile::kValueColumns, depth_);
      each_block(add, second);
    } else {
      each_block(add);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) trees[half].give(reduced_[half] + kFirst);
  }

  /// The terms of a block of keys, kAll: inside, and all kept.
  template <int kStage, bool kAll, class Trees>
  __device__ __forceinline__ void add_terms(int first, const Scores& scores,
                                            const Scores& second_scores, Trees& trees) const {
    constexpr int kFirst = Body::stage_begin(kStage);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      trees[half].move(first);
#pragma unroll
      for (int eight = 0; eight < kKeys / 8; ++eight) {
        const int column = first + 8 * eight + column_of_lane();
        Inputs inputs;
        body_.load(rows_[half], column, inputs);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (!kAll && column + i >= body_.columns()) continue;
          float terms[Body::stage_begin(kStage + 1) - kFirst];
          body_.template contribute<kStage, kAll>(
              uniforms_[half], reduced_[half], scores[eight][2 * half + i],
              second_scores[eight][2 * half + i], inputs, i, rows_[half], column + i, terms);
          trees[half].add(eight, i, terms);
        }
      }
    }
  }

  /// What the map makes of scores, two neighbours in a word: mma's a of the product with values.
  template <bool kAll>
  __device__ __forceinline__ void weigh(int first, const Scores& scores,
                                        const Scores& second_scores,
                                        unsigned int (&words)[kKeys / 8][2]) const {
#pragma unroll
    for (int eight = 0; eight < kKeys / 8; ++eight) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = first + 8 * eight + column_of_lane();
        Inputs inputs;
        body_.load(rows_[half], column, inputs);
        Weight weights[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          typename Body::template Outputs<2> outputs;
          body_.template compute<kAll>(uniforms_[half], reduced_[half], scores[eight][2 * half + i],
                                       second_scores[eight][2 * half + i], inputs, i, rows_[half],
                                       column + i, outputs, weights + i);
          if (!kAll && column + i >= body_.columns()) weights[i] = {};
        }
        words[eight][half] = word_of(weights);
      }
    }
  }

  const Body& body_;
  const unsigned int element_;
  const int first_row_;  ///< of the element
  const Product<Body> product_;
  const Weight* const second_;  ///< values, or the second product's rhs
  const unsigned int shared_;
  const Depth depth_;
  const Keys keys_;
  const SecondKeys second_keys_;
  const SecondQueries second_queries_;
  const Values values_;
  typename Queries::Registers queries_[kSteps];
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
  Worker worker(body, blockIdx.x / tiles, static_cast<long long>(blockIdx.x % tiles) * Tile::kRows,
                static_cast<unsigned int>(__cvta_generic_to_shared(storage)));
  worker.reduce();
  worker.store();
}

}  // namespace halftone::kernels::attention
