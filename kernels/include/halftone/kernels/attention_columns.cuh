// SPDX-License-Identifier: Apache-2.0
// Two batched products, a map of pairs of what they give, and what it makes of them, transposed,
// times the rows of either product, in one kernel: no pair lies in memory. A block has 64 columns
// of the map, a warp sixteen of them, and goes over the rows once; scores come transposed, so that
// what the map makes of them is mma's a. Products are class B, k ascending in steps of sixteen.
#pragma once

#include "halftone/kernels/attention_lines.cuh"

namespace halftone::kernels::attention_columns {

using namespace attention;

/// A plan: kRows rows at a time. kColumns: of lhs and rhs; kValueColumns: of lhs2 and rhs2.
template <int kRows_, int kColumns_, int kValueColumns_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kValueColumns = kValueColumns_;
  static constexpr int kWarps = 4, kThreads = 32 * kWarps, kKeys = 16 * kWarps;
  static constexpr int kLine = padded(kColumns), kValueLine = padded(kValueColumns);
  static_assert(kRows == 16 || kRows == 32, "a block of rows is 16 or 32");
  static_assert(kColumns % 16 == 0 && kValueColumns % 16 == 0 && kColumns <= 128 &&
                    kValueColumns <= 128,
                "columns of either product's operands are multiples of 16 up to 128");
};

template <class Body, class Tile>
class Worker {
  using T = typename Body::Weight;
  static constexpr int kRows = Tile::kRows, kKeys = Tile::kKeys, kThreads = Tile::kThreads;
  using RowLines = LinesOf<T, kRows, Tile::kLine, kThreads>;
  using SecondLines = LinesOf<T, kRows, Tile::kValueLine, kThreads>;
  using Keys = AsRows<T, kKeys, Tile::kLine>;
  using SecondKeys = AsRows<T, kKeys, Tile::kValueLine>;
  using Rows = AsColumns<T, kRows, Tile::kLine>;
  using SecondRows = AsColumns<T, kRows, Tile::kValueLine>;
  using Summed = AsSummed<T, kRows, Tile::kLine, Tile::kColumns>;
  using SecondSummed = AsSummed<T, kRows, Tile::kValueLine, Tile::kValueColumns>;
  using Scores = float[kRows / 8][4];
  using Words = unsigned int[kRows / 8][2];
  using Inputs = typename Body::template Inputs<1>;
  static_assert(Body::kProducts == 2 && sizeof(T) == 2, "two products of 16 bits");

  /// What is known of a row.
  struct Known {
    typename Body::Uniforms uniforms;
    float reduced[Body::kRowValues > 0 ? Body::kRowValues : 1];  // no array is empty
  };

  static constexpr int kKeyBytes = kKeys * Tile::kLine * 2;
  static constexpr int kSecondKeyBytes = kKeys * Tile::kValueLine * 2;
  static constexpr int kRowBytes = kRows * Tile::kLine * 2;
  static constexpr int kStageBytes = kRowBytes + kRows * Tile::kValueLine * 2;
  static constexpr int kStages = kKeyBytes + kSecondKeyBytes;  ///< where the first one begins
  static constexpr int kKnown = kStages + 2 * kStageBytes;     ///< likewise rows, kRows a stage

 public:
  static constexpr int kSharedBytes = kKnown + 2 * kRows * static_cast<int>(sizeof(Known));

  /// Of the batch's element `element` the columns from `first` on.
  __device__ __forceinline__ Worker(const Body& body, long long element, int first,
                                    unsigned char* storage)
      : body_(body),
        product_(product_of(body, element)),
        shared_(static_cast<unsigned int>(__cvta_generic_to_shared(storage))),
        known_(reinterpret_cast<Known*>(storage + kKnown)),
        depth_(depth_of(0, product_.rows, kRows)),
        keys_(shared_, warp() * 16),
        second_keys_(shared_ + kKeyBytes, warp() * 16),
        rows_(shared_ + kStages, 0),
        second_rows_(shared_ + kStages + kRowBytes, 0),
        summed_(shared_ + kStages, 0),
        second_summed_(shared_ + kStages + kRowBytes, 0),
        element_(element),
        block_first_(first),
        first_(first + warp() * 16 + static_cast<int>(threadIdx.x) % 32 / 4),
        column_(element * static_cast<long long>(body.columns())) {
    place_lines<T, kKeys, Tile::kLine, Tile::kColumns, kThreads>(product_.rhs, first,
                                                                 body.columns(), shared_);
    place_lines<T, kKeys, Tile::kValueLine, Tile::kValueColumns, kThreads>(
        body.rhs2 + column_ * Tile::kValueColumns, first, body.columns(), shared_ + kKeyBytes);
  }

  /// The products with both operands' rows, over all rows, to memory.
  __device__ __forceinline__ void store() {
    float sums[Tile::kColumns / 8][4] = {}, second_sums[Tile::kValueColumns / 8][4] = {};
    each_block([&](int stage, const Known* known, long long first, bool all, const Scores& scores,
                   const Scores& second_scores) {
      Words words, second_words;
      if (all)
        weigh<true>(known, first, scores, second_scores, words, second_words);
      else
        weigh<false>(known, first, scores, second_scores, words, second_words);
      add_lines<T>(words, summed_, stage, sums);
      add_lines<T>(second_words, second_summed_, stage, second_sums);
    });
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first_ + 8 * half;
      if (column >= body_.columns()) continue;
      store_sums(sums, half, body_.sums(column_ + column));
      store_sums(second_sums, half, body_.sums2(column_ + column));
    }
  }

 private:
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }

  /// visit(offset of the stage, its rows, the first one's number, whether all pairs are kept,
  /// transposed scores, those of the second product) for the rows that the mask keeps some of, a
  /// block of them after another.
  template <class Visit>
  __device__ __forceinline__ void each_block(const Visit& visit) {
    constexpr bool kAsync = RowLines::kAsync;
    RowLines rows(product_.lhs, shared_ + kStages, 0, Tile::kColumns, depth_);
    SecondLines second(body_.lhs2 + product_.first_row * Tile::kValueColumns,
                       shared_ + kStages + kRowBytes, 0, Tile::kValueColumns, depth_);
    const int tiles = depth_.tiles, inside = min(rows.inside(), second.inside());
    KeptTile own = kept_from(0);
    rows.skip(own.number());
    second.skip(own.number());
    rows.begin(tiles, own.number());
    second.begin(tiles, own.number());
    KeptTile next = kept_from(own.number() + 1);
    place<kAsync>(0, own.number(), next.number(), tiles, inside, rows, second);
    know_rows(own.number(), 0);
    int stage = 0;
#pragma unroll 1
    while (own.number() < tiles) {
      const KeptTile after = kept_from(next.number() + 1);
      wait<kAsync>();
      place<kAsync>(kStageBytes - stage, next.number(), after.number(), tiles, inside, rows,
                    second);
      const int turn = stage == 0 ? 0 : kRows;
      if (next.number() < tiles) know_rows(next.number(), kRows - turn);
      Scores scores = {}, second_scores = {};
      score<0, Tile::kColumns / 16>(keys_, rows_, stage, scores);
      score<0, Tile::kValueColumns / 16>(second_keys_, second_rows_, stage, second_scores);
      visit(stage, known_ + turn, own.number() * static_cast<long long>(kRows), own.all(), scores,
            second_scores);
      stage = kStageBytes - stage;
      own = next, next = after;
    }
  }

  /// The first block of rows from this one on of which the mask keeps something.
  __device__ __forceinline__ KeptTile kept_from(int tile) const {
    const int last_column = min(block_first_ + kKeys, body_.columns()) - 1;
    return kept_tile(tile, depth_.tiles, [&](int number) {
      const long long first = number * static_cast<long long>(kRows);
      const Kept kept = kept_of(body_, element_, first, min(first + kRows, product_.rows) - 1,
                                block_first_, last_column);
      return kept == Kept::all && first + kRows > product_.rows ? Kept::some : kept;
    });
  }

  /// What the rows of a block share with all columns, by a thread each.
  __device__ __forceinline__ void know_rows(int tile, int first) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread >= kRows) return;
    Known& known = known_[first + thread];
    const long long row = row_of(tile * static_cast<long long>(kRows) + thread);
    body_.load(row, known.uniforms);
    if constexpr (Body::kRowValues == 0) known.reduced[0] = 0.0f;  // is read with what is beside it
    body_.template derive<0>(known.uniforms, known.reduced);
  }
  /// Of the body's rows, by its number in the batch's element; past the end the last one again.
  __device__ __forceinline__ long long row_of(long long row) const {
    return product_.first_row + min(row, product_.rows - 1);
  }

  /// sums += the warp's keys times a block of rows.
  template <int kStep, int kSteps, class KeysOf, class RowsOf>
  __device__ __forceinline__ void score(const KeysOf& keys, const RowsOf& rows, int stage,
                                        Scores& sums) const {
    typename KeysOf::Registers words;
    keys.template load<kStep>(0, words);
    multiply_step<T, kStep>(words[0], rows, stage, sums);
    if constexpr (kStep + 1 < kSteps) score<kStep + 1, kSteps>(keys, rows, stage, sums);
  }

  /// What the map makes of pairs of scores, of two neighbouring rows in a word: mma's a of the
  /// products with rows.
  template <bool kAll>
  __device__ __forceinline__ void weigh(const Known* known, long long first, const Scores& scores,
                                        const Scores& second_scores, Words& words,
                                        Words& second_words) const {
#pragma unroll
    for (int eight = 0; eight < kRows / 8; ++eight) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        T weights[2][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int place = 8 * eight + column_of_lane() + i;
          const long long row = row_of(first + place);
          Inputs inputs;
          body_.load(row, first_ + 8 * half, inputs);
          typename Body::template Outputs<1> outputs;
          T terms[2];
          body_.template compute<kAll>(known[place].uniforms, known[place].reduced,
                                       scores[eight][2 * half + i],
                                       second_scores[eight][2 * half + i], inputs, 0, row,
                                       first_ + 8 * half, outputs, terms);
          const bool exists = kAll || first + place < product_.rows;
          weights[0][i] = exists ? terms[0] : T{};
          weights[1][i] = exists ? terms[1] : T{};
        }
        words[eight][half] = word_of(weights[0]);
        second_words[eight][half] = word_of(weights[1]);
      }
    }
  }

  const Body& body_;
  const Product<Body> product_;
  const unsigned int shared_;
  Known* const known_;
  const Depth depth_;
  const Keys keys_;
  const SecondKeys second_keys_;
  const Rows rows_;
  const SecondRows second_rows_;
  const Summed summed_;
  const SecondSummed second_summed_;
  const long long element_;
  const int block_first_;   ///< column
  const int first_;         ///< column of the lane's first results; the others are eight after it
  const long long column_;  ///< the first of the batch's element, among those of all
};

/// body's results of Tile::kKeys columns of one element of the batch: blockIdx.x = element * tiles
/// of its columns + tile. Shared memory is dynamic.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  extern __shared__ __align__(128) unsigned char storage[];
  const unsigned int tiles = (body.columns() + Tile::kKeys - 1) / Tile::kKeys;
  Worker<Body, Tile> worker(body, blockIdx.x / tiles,
                            static_cast<int>(blockIdx.x % tiles) * Tile::kKeys, storage);
  worker.store();
}

}  // namespace halftone::kernels::attention_columns
