// SPDX-License-Identifier: Apache-2.0
// What goes before the products of warpgroup_attention_columns: its tile, which blocks of rows are
// needed, how they and what the Body knows of rows come into shared memory.
#pragma once

#include "halftone/kernels/warpgroup_attention_stages.cuh"

namespace halftone::kernels::warpgroup_attention_columns {

using warpgroup_attention::Lines;
using warpgroup_attention::Turn;

/// A plan: kKeys columns of the map, 64 a warp group, and 64 rows at a time, kStages times those
/// under way. kColumns: of lhs and rhs; kValueColumns: of lhs2 and rhs2. Of blocks with one warp
/// group two run on an SM, so that one multiplies while the other computes.
template <int kKeys_, int kColumns_, int kValueColumns_, int kStages_>
struct Tile {
  static constexpr int kRows = 64, kKeys = kKeys_, kStages = kStages_;
  static constexpr int kColumns = kColumns_, kValueColumns = kValueColumns_;
  static constexpr int kGroups = kKeys / 64, kThreads = 128 * (kGroups + 1);
  static constexpr int kBlocks = kGroups == 1 ? 2 : 1;
  static constexpr int kKnowingWarps = kRows / 32;
  using Keys = Lines<kKeys, kColumns>;
  using SecondKeys = Lines<kKeys, kValueColumns>;
  using Rows = Lines<kRows, kColumns>;
  using SecondRows = Lines<kRows, kValueColumns>;
  /// Sums take so many registers that each sixteen rows' products begin as soon as they can.
  static constexpr bool kIsWide = Keys::kPadded + SecondKeys::kPadded > 128;
  /// Whether blocks of which the mask keeps all have a loop of their own. Of sums with columns that
  /// no result has, ptxas spilled where two loops pass them on to each other.
  static constexpr bool kWholeApart = !kIsWide || (kColumns % 64 == 0 && kValueColumns % 64 == 0);
  // Of those that a launch of kThreads has, in multiples of eight.
  static constexpr int kLaunchRegisters = 65536 / (kBlocks * kThreads) / 8 * 8;
  static constexpr int kProducerRegisters = kIsWide || kGroups == 3 ? 32 : 40;
  static constexpr int kSharedRegisters =
      (kLaunchRegisters * (kGroups + 1) - kProducerRegisters) / kGroups / 8 * 8;
  static constexpr int kConsumerRegisters = kSharedRegisters < 240 ? kSharedRegisters : 240;
  static constexpr int kKeyBytes = Keys::kBytes + SecondKeys::kBytes;
  using Ring = warpgroup_attention::Ring<kStages, Rows::kBytes + SecondRows::kBytes, kGroups,
                                         1 + kKnowingWarps>;
  static constexpr int kKnownAt = (kKeyBytes + Ring::kBytes + 15) / 16 * 16;
  /// With so many bytes that the Body knows of a row, a multiple of four.
  __host__ __device__ static constexpr int shared_bytes(int known) {
    return kKnownAt + kStages * kRows * known;
  }
  static_assert(kKeys % 64 == 0 && kGroups >= 1 && kGroups <= 3, "warp groups have 64 keys each");
  static_assert(kColumns % 16 == 0 && kValueColumns % 16 == 0 && kColumns <= 128 &&
                    kValueColumns <= 128,
                "columns of either product's operands are multiples of 16 up to 128");
};

/// What the Body knows of a row, as words: those of kRows rows lie one word after another, and rows
/// so that a lane finds its four of each sixteen side by side.
template <class Body, class Tile>
struct Known {
  struct Row {
    typename Body::Uniforms uniforms;
    float reduced[Body::kRowValues > 0 ? Body::kRowValues : 1];  // no array is empty
  };
  static constexpr int kWords = (static_cast<int>(sizeof(Row)) + 3) / 4;
  static constexpr int kStageWords = kWords * Tile::kRows;

  __device__ __forceinline__ static int place_of(int row) {
    return row / 16 * 16 + row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2;
  }
  __device__ __forceinline__ static void put(unsigned int* stage, int row, const Row& known) {
    unsigned int words[kWords] = {};
    memcpy(words, &known, sizeof(Row));
#pragma unroll
    for (int w = 0; w < kWords; ++w) stage[w * Tile::kRows + place_of(row)] = words[w];
  }
  /// Rows 2 t, 2 t + 1, 2 t + 8, 2 t + 9 of the sixteen of number `step`, t = lane % 4.
  __device__ __forceinline__ static void get(const unsigned int* stage, int step, Row (&rows)[4]) {
    unsigned int words[4][kWords];
    const int lane = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint4 four =
          *reinterpret_cast<const uint4*>(stage + w * Tile::kRows + step * 16 + lane * 4);
      words[0][w] = four.x, words[1][w] = four.y, words[2][w] = four.z, words[3][w] = four.w;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) memcpy(&rows[i], words[i], sizeof(Row));
  }
};

/// The end of the blocks, in place of a block's note, which is its number, doubled, and one where
/// all its pairs are kept.
constexpr int kEnd = -1;

/// Calls visit(head, first row of it, note) for the blocks of rows that the block's columns need:
/// by a whole warp, whose lanes look at 32 blocks at once.
template <class Tile, class Body, class Visit>
__device__ __forceinline__ void each_block(const Body& body, long long element, int first_column,
                                           const Visit& visit) {
  const int queries = static_cast<int>(body.queries()), lane = static_cast<int>(threadIdx.x) % 32;
  const int blocks = (queries + Tile::kRows - 1) / Tile::kRows;
  const int last_column = min(first_column + Tile::kKeys, body.columns()) - 1;
  for (int i = 0; i < body.group(); ++i) {
    const long long head = element * body.group() + i;
#pragma unroll 1
    for (int from = 0; from < blocks; from += 32) {
      const int first = (from + lane) * Tile::kRows, last = min(first + Tile::kRows, queries) - 1;
      Kept kept = Kept::none;
      if (from + lane < blocks) {
        kept = Kept::all;
        if constexpr (Body::kMasks) kept = body.kept(head, first, last, first_column, last_column);
        if (kept == Kept::all && last != first + Tile::kRows - 1) kept = Kept::some;
      }
      unsigned int needed = __ballot_sync(0xffffffffu, kept != Kept::none);
      const unsigned int whole = __ballot_sync(0xffffffffu, kept == Kept::all);
#pragma unroll 1
      for (; needed != 0; needed &= needed - 1) {
        const int own = __ffs(static_cast<int>(needed)) - 1;
        visit(head, (from + own) * Tile::kRows,
              2 * (i * blocks + from + own) + static_cast<int>(whole >> own & 1));
      }
    }
  }
}

/// The warp whose first lane asks for copies.
template <class Tile, class Body>
__device__ __forceinline__ void fill(const Body& body, const typename Tile::Ring& ring,
                                     unsigned int keys, long long element, int first_column,
                                     const TensorMap& lhs, const TensorMap& rhs,
                                     const TensorMap& lhs2, const TensorMap& rhs2) {
  const bool asks = threadIdx.x % 32 == 0;
  int at[3];
  if (asks) {
    ptx::mbarrier_arrive_expect_tx(ring.resident(), Tile::kKeyBytes);
    body.rhs_at(element, first_column, at);
    Tile::Keys::fetch(keys, rhs, ring.resident(), at);
    body.second_rhs_at(element, first_column, at);
    Tile::SecondKeys::fetch(keys + Tile::Keys::kBytes, rhs2, ring.resident(), at);
  }
  Turn<Tile::kStages> turn;
  each_block<Tile>(body, element, first_column, [&](long long head, int first, int note) {
    if (asks) {
      const unsigned int full = ring.full(turn.stage), stage = ring.slot(turn.stage);
      ring.open(turn, Tile::Ring::kSlotBytes, note);
      body.lhs_at(head, first, at);
      Tile::Rows::fetch(stage, lhs, full, at);
      body.second_lhs_at(head, first, at);
      Tile::SecondRows::fetch(stage + Tile::Rows::kBytes, lhs2, full, at);
    }
    turn.next();
  });
  if (asks) ring.open(turn, 0, kEnd);
}

/// The warps beside it, a lane for a row: the one number `own` of each block. What is read of a row
/// arrives while the block before it waits for its stage.
template <class Tile, class Body>
__device__ __forceinline__ void know(const Body& body, const typename Tile::Ring& ring,
                                     unsigned int* known, long long element, int first_column,
                                     int own) {
  using Rows = Known<Body, Tile>;
  const int last = static_cast<int>(body.queries()) - 1;
  Turn<Tile::kStages> turn;
  const auto arrive = [&] {
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ring.full(turn.stage));
  };
  typename Rows::Row row;
  if constexpr (Body::kRowValues == 0) row.reduced[0] = 0.0f;
  const auto put = [&] {
    body.template derive<0>(row.uniforms, row.reduced);
    warpgroup_attention::wait(ring.empty(turn.stage), turn.parity ^ 1);
    Rows::put(known + turn.stage * Rows::kStageWords, own, row);
    arrive();
    turn.next();
  };
  bool any = false;
  each_block<Tile>(body, element, first_column, [&](long long head, int first, int) {
    typename Body::Uniforms next;
    body.load(head * body.queries() + min(first + own, last), next);
    if (any) put();
    any = true;
    row.uniforms = next;
  });
  if (any) put();
  warpgroup_attention::wait(ring.empty(turn.stage), turn.parity ^ 1);
  arrive();
}

}  // namespace halftone::kernels::warpgroup_attention_columns
