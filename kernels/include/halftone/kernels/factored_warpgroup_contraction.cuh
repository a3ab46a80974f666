// SPDX-License-Identifier: Apache-2.0
// float8_warpgroup_contraction.cuh of operands in blocks, each with a factor of f32 that is no
// power of two: sums of 128 products are multiplied by the product of both blocks' factors before
// they are added in f32 (N17). Behind the slabs each stage has a factor for each row and column,
// which warps of the group that fills stages copy beside the tensor copies.
#pragma once

#include "halftone/kernels/float8_warpgroup_contraction.cuh"
#include "halftone/kernels/ptx_sm89.cuh"

namespace halftone::kernels::warpgroup_contraction {

/// A tile whose stages have factors.
template <class Whole>
struct OfFactors : OfParts<Whole> {
  static constexpr int kFactors = Whole::kRows + Whole::kColumns;
  static_assert(Whole::kSharedBytes + Whole::kStages * 4 * kFactors <= 227 * 1024,
                "shared memory ends at 227 KiB; take fewer stages");

  /// The address of a stage's factors, the rows' first.
  __device__ __forceinline__ static unsigned int factors(const Ring<OfFactors>& ring, int stage) {
    return ring.stage(0) + Whole::kSharedBytes + 4 * kFactors * stage;
  }
};

/// Beside the thread that asks for tensor copies three warps copy factors, a thread those of the
/// same lines in every stage.
template <class Body, class Whole, class LhsMap, class RhsMap>
class Filling<Body, OfFactors<Whole>, LhsMap, RhsMap> {
  using Copies = Filling<Body, Whole, LhsMap, RhsMap>;
  using Its = OfFactors<Whole>;
  static constexpr int kThreads = 96, kOfThread = (Its::kFactors + kThreads - 1) / kThreads;

 public:
  static constexpr int kRegisters = Copies::kRegisters;
  static constexpr int kOthersRegisters = Copies::kOthersRegisters;
  static constexpr int kArrivals = Copies::kArrivals + kThreads;

  __device__ __forceinline__ Filling(const Body& body, const LhsMap& lhs, const RhsMap& rhs,
                                     unsigned char* stages)
      : body_(body), copies_(body, lhs, rhs, stages) {}

  __device__ __forceinline__ void run(const Ring<Its>& ring, const Order<Its>& order) const {
    if (threadIdx.x < 32)
      copies_.run(Ring<Whole>(ring.stage(0)), Order<Whole>(body_, order.given_splits()));
    else
      copy_factors(ring, order);
  }

 private:
  /// A row's or a column's, one for each block of the sum.
  struct Line {
    const float* factors;
    bool is_of_row, is_inside;
  };

  __device__ __forceinline__ void copy_factors(const Ring<Its>& ring,
                                               const Order<Its>& order) const {
    const int first = static_cast<int>(threadIdx.x) - 32;
    Turn<Its::kStages> turn;
    for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
      const auto place = order(unit);
      Line lines[kOfThread];
#pragma unroll
      for (int i = 0; i < kOfThread; ++i)
        lines[i] = line_of(place.row, place.column, first + i * kThreads);
#pragma unroll 1
      for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
        const int of_rows = 2 * k / Body::kLhsScalePlaces;
        const int of_columns = 2 * k / Body::kRhsScalePlaces;
        ring.wait_empty(turn.stage, turn.parity ^ 1);
#pragma unroll
        for (int i = 0; i < kOfThread; ++i) {
          const int at = first + i * kThreads;
          const float* const from = lines[i].factors + (lines[i].is_of_row ? of_rows : of_columns);
          if (at < Its::kFactors)
            ptx::cp_async_ca_zero_fill<4, 0>(Its::factors(ring, turn.stage) + 4 * at,
                                             __cvta_generic_to_global(from),
                                             lines[i].is_inside ? 4 : 0);
        }
        ptx::cp_async_arrive(ring.full(turn.stage));
        turn.next();
      }
    }
    // No thread ends before its copies are done.
#pragma unroll 1
    for (int s = 0; s < Its::kStages; ++s) {
      ring.wait_empty(turn.stage, turn.parity ^ 1);
      turn.next();
    }
  }

  /// Number `at` of a tile's rows and, behind them, columns; past the ends factors are zero.
  __device__ __forceinline__ Line line_of(int row, int column, int at) const {
    static_assert(Body::kLhsScalePlaces % 128 == 0 && Body::kRhsScalePlaces % 128 == 0,
                  "a sum of 128 products has one factor of an operand");
    if (at < Whole::kRows)
      return {body_.lhs_scales + (row + at) / Body::kLhsScaleLines * body_.lhs_scale_pitch(), true,
              row + at < body_.rows};
    const int line = column + at - Whole::kRows;
    return {body_.rhs_scales + line / Body::kRhsScaleLines * body_.rhs_scale_pitch(), false,
            line < body_.columns()};
  }

  const Body& body_;
  Copies copies_;
};

/// All lanes have read factors.
template <class Tile>
__device__ __forceinline__ void release(const Ring<Tile>& ring, int stage) {
  __syncwarp();
  ring.release(stage);
}

/// As of parts; a stage is handed back once its factors were read, too.
template <class Body, class Whole, class EachStage, class AllBegun>
__device__ __forceinline__ void add_up(Sums<OfFactors<Whole>>& sums,
                                       const Ring<OfFactors<Whole>>& ring,
                                       Turn<OfFactors<Whole>::kStages>& turn, int tiles,
                                       int own_row, int own_column, const EachStage&,
                                       const AllBegun& all_begun) {
  using Its = OfFactors<Whole>;
  constexpr int kBlocks = Whole::kOwnRows / 64, kPart = Its::kPart;
  /// A block of columns has one factor.
  constexpr bool kAreAlike = Body::kRhsScaleLines % Whole::kOwnColumns == 0;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int row = own_row + thread / 32 * 16 + thread % 32 / 4;
  const int column = Whole::kRows + own_column + (kAreAlike ? 0 : thread % 4 * 2);
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) sums[i][j] = 0.0f;
  }
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    ring.wait_full(turn.stage, turn.parity);
    const unsigned int stage = ring.stage(turn.stage);
    const unsigned int factors = Its::factors(ring, turn.stage);
    const unsigned long long lhs = kDescriptor<true> | (stage + own_row * kLineBytes) >> 4;
    const unsigned long long rhs =
        kDescriptor<true> | (stage + Whole::kLhsBytes + own_column * kLineBytes) >> 4;
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      float part[kPart];
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < kDepth / 16; ++step)
        multiply<typename Body::Lhs, false, false>(part, lhs + ((step * 32 + i * kBlockBytes) >> 4),
                                                   rhs + (step * 32 >> 4), step);
      ptx::wgmma_commit_group();
      const unsigned int rows = factors + 4 * (row + 64 * i), columns = factors + 4 * column;
      const float low = __uint_as_float(ptx::ld_shared<0>(rows)),
                  high = __uint_as_float(ptx::ld_shared<32>(rows));
      unsigned int of_columns[2];
      if constexpr (kAreAlike) of_columns[0] = of_columns[1] = ptx::ld_shared<0>(columns);
      ptx::wgmma_wait_group<0>();
      ptx::wgmma_take(part);
      if (kAreAlike && i + 1 == kBlocks) release(ring, turn.stage);
#pragma unroll
      for (int j = 0; j < kPart; j += 4) {
        if constexpr (!kAreAlike) ptx::ld_shared<0>(columns + 8 * j, of_columns);
#pragma unroll
        for (int place = 0; place < 4; ++place)
          sums[i][j + place] = __fmaf_rn(
              part[j + place], (place < 2 ? low : high) * __uint_as_float(of_columns[place % 2]),
              sums[i][j + place]);
      }
      if (!kAreAlike && i + 1 == kBlocks) release(ring, turn.stage);
    }
    turn.next();
  }
  all_begun();
}

}  // namespace halftone::kernels::warpgroup_contraction

namespace halftone::kernels::factored_warpgroup_contraction {

using warpgroup_contraction::Tile;

/// body: README.md of this folder; otherwise as float8_warpgroup_contraction's.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    int splits, float* workspace) {
  static_assert(
      !Body::kTransposeLhs && Body::kTransposeRhs && Body::kPromotes && !Body::kUsesLhsSum,
      "wgmma multiplies codes that lie along k, and factors promoted sums of them");
  using Pairs = warpgroup_contraction::OfPairs<Body>;
  Pairs pairs{body};
  pairs.depth = body.depth / 2;
  warpgroup_contraction::run<Pairs, warpgroup_contraction::OfFactors<Tile>>(
      pairs, PairMap{&lhs}, PairMap{&rhs}, splits, workspace);
}

}  // namespace halftone::kernels::factored_warpgroup_contraction
