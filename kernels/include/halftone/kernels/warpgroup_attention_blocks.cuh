// SPDX-License-Identifier: Apache-2.0
// Of attention by rows with warp groups: which tiles there are, which rows a block has, and the
// warp that keeps the ring of slots filled with the blocks of keys that the map's mask does not
// leave out.
#pragma once

#include "halftone/kernels/warpgroup_attention_stages.cuh"

namespace halftone::kernels::warpgroup_attention {

/// A plan: kKeys keys at a time, kGroups warp groups of 64 rows, kSlots slots. kColumns: of lhs and
/// rhs; kValueColumns: of the values, or of the second product's operands.
template <int kKeys_, int kColumns_, int kValueColumns_, int kGroups_, int kSlots_>
struct Tile {
  static constexpr int kKeys = kKeys_, kColumns = kColumns_, kValueColumns = kValueColumns_;
  static constexpr int kGroups = kGroups_, kSlots = kSlots_;
  static constexpr int kRows = 64 * kGroups, kThreads = 128 * (kGroups + 1);
  static constexpr int kBlocks = kGroups == 1 ? 2 : 1;  ///< of a multiprocessor
  static constexpr int kProducerRegisters = kGroups == 3 ? 32 : 40;
  static constexpr int kConsumerRegisters = kGroups == 1 ? 216 : kGroups == 2 ? 232 : 160;
  using Queries = Lines<kRows, kColumns>;
  using SecondQueries = Lines<kRows, kValueColumns>;
  using Keys = Lines<kKeys, kColumns>;
  using Values = Lines<kKeys, kValueColumns>;
  static constexpr int kSlotBytes = Keys::kBytes > Values::kBytes ? Keys::kBytes : Values::kBytes;
  using Ring = warpgroup_attention::Ring<kSlots, kSlotBytes, kGroups>;
  /// Of a Body of so many products.
  __host__ __device__ static constexpr int shared_bytes(int products) {
    return Queries::kBytes + (products == 2 ? SecondQueries::kBytes : 0) + Ring::kBytes;
  }
  static_assert(kKeys == 64 || kKeys == 128, "wgmma gives 64 or 128 columns");
  static_assert(kGroups >= 1 && kGroups <= 3, "registers are dealt out to one to three groups");
  static_assert(kProducerRegisters + kGroups * kConsumerRegisters <=
                    65536 / kBlocks / kThreads / 8 * 8 * (kGroups + 1),
                "a block has the registers that it was launched with");
  static_assert(shared_bytes(2) <= 227 * 1024, "shared memory ends at 227 KiB; take fewer slots");
};

/// Which rows a block has: those of one head from `first` on. Blocks of a head are neighbours, so
/// that its keys stay in L2, and the last rows come first, which under a causal mask have most to
/// do.
struct Place {
  long long head, element;
  int first, queries;
};

template <class Tile, class Body>
__device__ __forceinline__ Place place_of(const Body& body) {
  Place place;
  place.queries = static_cast<int>(body.queries());
  const unsigned int tiles = (place.queries + Tile::kRows - 1) / Tile::kRows;
  const unsigned int head = blockIdx.x / tiles, tile = blockIdx.x - head * tiles;
  place.head = head;
  place.element = head / static_cast<unsigned int>(body.group());
  place.first = static_cast<int>(tiles - 1 - tile) * Tile::kRows;
  return place;
}

/// What a slot's note says: the number of the block, and above it two bits for every warp group.
constexpr int kEnd = -1, kNoteBits = 24;

/// The producer: one warp.
template <class Body, class Tile>
class Producer {
  static constexpr bool kTwo = Body::kProducts == 2;

 public:
  __device__ __forceinline__ Producer(const Body& body, const typename Tile::Ring& ring,
                                      const Place& place, const TensorMap& rhs,
                                      const TensorMap& second)
      : body_(body), ring_(ring), place_(place), rhs_(rhs), second_(second) {}

  __device__ __forceinline__ void load_queries(const TensorMap& lhs, const TensorMap* lhs2,
                                               unsigned int queries) const {
    if (threadIdx.x % 32 != 0) return;
    constexpr int kBytes = Tile::Queries::kBytes + (kTwo ? Tile::SecondQueries::kBytes : 0);
    int at[3];
    ptx::mbarrier_arrive_expect_tx(ring_.resident(), kBytes);
    body_.lhs_at(place_.head, place_.first, at);
    Tile::Queries::fetch(queries, lhs, ring_.resident(), at);
    if constexpr (kTwo) {
      body_.second_lhs_at(place_.head, place_.first, at);
      Tile::SecondQueries::fetch(queries + Tile::Queries::kBytes, *lhs2, ring_.resident(), at);
    }
  }

  /// Pass after pass over the keys: every stage of reductions, then the result.
  template <int kPass = 0>
  __device__ __forceinline__ void fill() {
    constexpr bool kResult = kPass == Body::kStages;
    fill_pass(kResult || (kTwo && Body::reads_sum2(kPass)));
    if constexpr (!kResult) fill<kPass + 1>();
  }

 private:
  /// Each lane looks at a block; one lane asks for those that are kept.
  __device__ __forceinline__ void fill_pass(bool with_second) {
    const int columns = body_.columns(), lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
    for (int block = 0; block * Tile::kKeys < columns; block += 32) {
      const int note = note_of(block + lane, columns);
      unsigned int rest = __ballot_sync(kAllLanes, note >> kNoteBits != 0);
#pragma unroll 1
      while (rest != 0) {
        const int next = __ffs(static_cast<int>(rest)) - 1;
        rest &= rest - 1;
        fill_slots(with_second, (block + next) * Tile::kKeys, __shfl_sync(kAllLanes, note, next));
      }
    }
    fill_slots(with_second, 0, kEnd);
  }

  __device__ __forceinline__ void fill_slots(bool with_second, int first, int note) {
    if (threadIdx.x % 32 == 0) {
      int at[3];
      ring_.open(turn_, Tile::Keys::kBytes, note);
      body_.rhs_at(place_.element, first, at);
      Tile::Keys::fetch(ring_.slot(turn_.stage), rhs_, ring_.full(turn_.stage), at);
    }
    turn_.next();
    if (!with_second) return;
    if (threadIdx.x % 32 == 0) {
      int at[3];
      ring_.open(turn_, Tile::Values::kBytes, note);
      if constexpr (kTwo)
        body_.second_rhs_at(place_.element, first, at);
      else
        body_.values_at(place_.element, first, at);
      Tile::Values::fetch(ring_.slot(turn_.stage), second_, ring_.full(turn_.stage), at);
    }
    turn_.next();
  }

  /// Of a block, 0 where it is past the end.
  __device__ __forceinline__ int note_of(int block, int columns) const {
    const int first = block * Tile::kKeys;
    if (first >= columns) return 0;
    const int last = min(first + Tile::kKeys, columns) - 1;
    int note = block;
#pragma unroll
    for (int group = 0; group < Tile::kGroups; ++group) {
      const int row = place_.first + 64 * group;
      if (row >= place_.queries) break;
      Kept kept = Body::kMasks
                      ? body_.kept(place_.head, row, min(row + 64, place_.queries) - 1, first, last)
                      : Kept::all;
      if (kept == Kept::all && first + Tile::kKeys > columns) kept = Kept::some;
      note |= static_cast<int>(kept) << (kNoteBits + 2 * group);
    }
    return note;
  }

  const Body& body_;
  const typename Tile::Ring& ring_;
  const Place& place_;
  const TensorMap& rhs_;
  const TensorMap& second_;
  Turn<Tile::kSlots> turn_;
};

}  // namespace halftone::kernels::warpgroup_attention
