// SPDX-License-Identifier: Apache-2.0
// What comes into the stages of tensor_memory_contraction.cuh: codes, by tensor copies for which a
// thread asks, and scales or factors of their lines, which two warps fetch.
#pragma once

#include "halftone/kernels/block_scales.cuh"
#include "halftone/kernels/ptx_sm89.cuh"
#include "halftone/kernels/tensor_memory_stages.cuh"

namespace halftone::kernels::tensor_memory_contraction {

//===--- Tensor copies, by one thread ---===//

template <class Body, class Tile>
__device__ __forceinline__ void copy_codes(const TensorMap& lhs, const TensorMap& rhs,
                                           const Storage<Tile>& storage, const Order<Tile>& order) {
  constexpr int kElementBytes = sizeof(typename Body::Lhs);
  Turn<Tile::kStages> turn;
  int begun = 0;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      const unsigned int full = storage.full(turn.stage), stage = storage.stage(turn.stage);
      storage.wait(storage.empty(turn.stage), turn.parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(full, Tile::kStageBytes);
      if constexpr (Body::kTransposeLhs)
        ptx::tensor_load(stage, lhs, full, place.row, k);
      else
        ptx::tensor_load(stage, lhs, full, k / kElementBytes, place.row);
      if constexpr (Body::kTransposeRhs) {
        ptx::tensor_load(stage + Tile::kLhsBytes, rhs, full, k / kElementBytes, place.column);
      } else {
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block)
          ptx::tensor_load(stage + Tile::kLhsBytes + block * kBlockBytes, rhs, full,
                           place.column + 128 * block, k);
      }
      turn.next();
      begun = min(begun + 1, Tile::kStages);
    }
  }
  // The block stays until the tensor cores have arrived everywhere.
  for (; begun > 0; --begun) {
    Turn<Tile::kStages> oldest = turn;
    oldest.skip(Tile::kStages - begun);
    storage.wait(storage.empty(oldest.stage), oldest.parity ^ 1);
  }
}

//===--- Scales, by two warps ---===//

/// The scales of one operand, as scale_at finds them.
template <bool kAlongDepth, int kLines, int kPlaces>
struct Scales {
  static_assert(kPlaces % kStep == 0, "an instruction multiplies 32 places by one scale");
  const float* scales;
  long long pitch, lines, places;

  __device__ __forceinline__ const float* at(int line, int place) const {
    return scales + scale_at<kAlongDepth, kLines, kPlaces>(line, place, pitch);
  }

  /// Of a line, the word of four for the stage from `place` on; past the ends 2^-127, which zeros
  /// are multiplied by.
  __device__ __forceinline__ void load(int line, int place,
                                       unsigned int (&words)[kWordsOfCodes]) const {
    float values[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const bool is_inside = line < lines && place + i * kStep < places;
      values[i] = is_inside ? __ldg(at(line, place + i * kStep)) : 0.0f;
    }
    words[0] = 0;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) words[0] |= f8e8m0_of(__float_as_uint(values[i])) << 8 * i;
  }
};

/// Those of packed codes, words as the instruction wants them, one for kStep bytes of a line.
struct PackedScales {
  const int* scales;
  long long pitch, lines;

  /// Of a line, four for the stage from its byte `place` on; past the ends zeros, likewise.
  __device__ __forceinline__ void load(int line, int place,
                                       unsigned int (&words)[kWordsOfPairs]) const {
#pragma unroll
    for (int i = 0; i < kWordsOfPairs; ++i) {
      const int part = place / kStep + i;
      const bool is_inside = line < lines && part < pitch;
      words[i] = is_inside ? static_cast<unsigned int>(__ldg(scales + line * pitch + part)) : 0;
    }
  }
};

template <class Tile, class Body>
__device__ __forceinline__ auto lhs_scales(const Body& body) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return PackedScales{body.lhs_scales, body.depth / kStep, body.rows};
  else
    return Scales<!Body::kTransposeLhs, Body::kLhsScaleLines, Body::kLhsScalePlaces>{
        body.lhs_scales, body.lhs_scale_pitch(), body.rows, body.depth};
}
template <class Tile, class Body>
__device__ __forceinline__ auto rhs_scales(const Body& body) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return PackedScales{body.rhs_scales, body.depth / kStep, body.columns()};
  else
    return Scales<Body::kTransposeRhs, Body::kRhsScaleLines, Body::kRhsScalePlaces>{
        body.rhs_scales, body.rhs_scale_pitch(), body.columns(), body.depth};
}

/// Number `thread` of 64 fetches those of every 64th line; words of neighbouring lines lie 16 bytes
/// apart, where the instruction's copy makes them neighbours in a column.
template <class Body, class Tile>
__device__ __forceinline__ void copy_scales(const Body& body, const Storage<Tile>& storage,
                                            const Order<Tile>& order, int thread) {
  constexpr int kThreads = 64, kOwnRhs = Tile::kColumns / kThreads, kOwnLhs = 128 / kThreads;
  const auto lhs = lhs_scales<Tile>(body);
  const auto rhs = rhs_scales<Tile>(body);
  Turn<Tile::kStages> turn;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      unsigned int words[kOwnLhs + kOwnRhs][Tile::kScaleWords];
#pragma unroll
      for (int i = 0; i < kOwnLhs; ++i) lhs.load(place.row + i * kThreads + thread, k, words[i]);
#pragma unroll
      for (int i = 0; i < kOwnRhs; ++i)
        rhs.load(place.column + i * kThreads + thread, k, words[kOwnLhs + i]);
      storage.wait(storage.empty(turn.stage), turn.parity ^ 1);
#pragma unroll
      for (int i = 0; i < kOwnLhs + kOwnRhs; ++i) {
        const int line = i * kThreads + thread;  // of rhs from 128 on
#pragma unroll
        for (int j = 0; j < Tile::kScaleWords; ++j) {
          const int block = j * (1 + Tile::kBlocks) + line / 128;
          const unsigned int word[1] = {words[i][j]};
          ptx::st_shared(storage.scales(turn.stage) + block * kScaleBytes + line % 32 * 16 +
                             line % 128 / 32 * 4,
                         word);
        }
      }
      ptx::fence_proxy_async();
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage.full(turn.stage));
      turn.next();
    }
  }
}

//===--- Factors, by two warps ---===//

/// Number `thread` of 64 copies those of every 64th line of rows and columns, asking for those of
/// further parts meanwhile; past the ends zeros.
template <class Body, class Tile>
__device__ __forceinline__ void copy_factors(const Body& body, const Storage<Tile>& storage,
                                             const Order<Tile>& order, int thread) {
  constexpr int kThreads = 64, kOwn = (Tile::kRows + Tile::kColumns) / kThreads;
  static_assert(Body::kLhsScalePlaces % kDepth == 0 && Body::kRhsScalePlaces % kDepth == 0,
                "a sum of 128 products has one factor of an operand");
  const auto lhs = lhs_scales<Tile>(body);
  const auto rhs = rhs_scales<Tile>(body);
  Turn<Tile::kStages> turn;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      storage.wait(storage.factors_empty(turn.stage), turn.parity ^ 1);
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int at = i * kThreads + thread;
        const bool is_row = i < Tile::kRows / kThreads;
        const int line = is_row ? place.row + at : place.column + at - Tile::kRows;
        const bool is_inside = line < (is_row ? lhs.lines : rhs.lines);
        const float* const from = is_row ? lhs.at(line, k) : rhs.at(line, k);
        ptx::cp_async_ca_zero_fill<4, 0>(storage.factors(turn.stage) + 4 * at,
                                         __cvta_generic_to_global(from), is_inside ? 4 : 0);
      }
      ptx::cp_async_arrive(storage.factors_full(turn.stage));
      turn.next();
    }
  }
}

}  // namespace halftone::kernels::tensor_memory_contraction
