// SPDX-License-Identifier: Apache-2.0
// warpgroup_contraction.cuh with two operands of 8-bit floats that lie along k, whose sums keep
// what wgmma keeps (N13), or are of 128 products each, which are added in f32 (N14). Two codes are
// one element there: lines of 128 bytes are 64 pairs, a step of 32 bytes is 32 of k, and the depth
// is half as long.
#pragma once

#include "halftone/kernels/float8.cuh"
#include "halftone/kernels/ptx_sm90_float8.cuh"

namespace halftone::kernels {

/// A tensor map of bytes; coordinates along memory count pairs.
struct PairMap {
  const TensorMap* map;
};

#if defined(__CUDA_ARCH__)
namespace ptx {
__device__ __forceinline__ void tensor_load(unsigned int to, const PairMap& pairs,
                                            unsigned int barrier, int x, int y) {
  tensor_load(to, *pairs.map, barrier, 2 * x, y);
}
}  // namespace ptx
#endif

}  // namespace halftone::kernels

#include "halftone/kernels/warpgroup_contraction.cuh"

namespace halftone::kernels::warpgroup_contraction {

/// Two codes of either operand; what they are says the instruction.
template <class Lhs, class Rhs>
struct CodePair {
  unsigned short code;
};

#define HALFTONE_MULTIPLY_CODES(lhs, rhs, formats, n)                                    \
  template <>                                                                            \
  __device__ __forceinline__ void multiply<CodePair<lhs, rhs>, false, false, n / 2>(     \
      float(&sums)[n / 2], unsigned long long a, unsigned long long b, int accumulate) { \
    ptx::wgmma_m64n##n##k32_##formats(sums, a, b, accumulate);                           \
  }
#define HALFTONE_MULTIPLY_SIZES(lhs, rhs, formats) \
  HALFTONE_MULTIPLY_CODES(lhs, rhs, formats, 64)   \
  HALFTONE_MULTIPLY_CODES(lhs, rhs, formats, 128)  \
  HALFTONE_MULTIPLY_CODES(lhs, rhs, formats, 192)  \
  HALFTONE_MULTIPLY_CODES(lhs, rhs, formats, 256)
HALFTONE_MULTIPLY_SIZES(f8e4m3, f8e4m3, e4m3)
HALFTONE_MULTIPLY_SIZES(f8e4m3, f8e5m2, e4m3_e5m2)
HALFTONE_MULTIPLY_SIZES(f8e5m2, f8e4m3, e5m2_e4m3)
HALFTONE_MULTIPLY_SIZES(f8e5m2, f8e5m2, e5m2)
#undef HALFTONE_MULTIPLY_SIZES
#undef HALFTONE_MULTIPLY_CODES

/// A tile whose stages, of 128 of k, are summed apart (N14). Of a warp group's rows 64 have a
/// second set of sums at a time: while they are added the other warp group multiplies.
template <class Whole>
struct OfParts : Whole {
  static constexpr int kPart = Whole::kOwnColumns / 2;  ///< a thread's sums of 64 rows
  static_assert(Whole::kOwnRows / 64 * kPart + kPart <= 192,
                "a thread has no registers for so many sums twice; take a smaller tile");
};

template <class Body, class Whole, class EachStage, class AllBegun>
__device__ __forceinline__ void add_up(Sums<OfParts<Whole>>& sums, const Ring<OfParts<Whole>>& ring,
                                       Turn<OfParts<Whole>::kStages>& turn, int tiles, int own_row,
                                       int own_column, const EachStage&,
                                       const AllBegun& all_begun) {
  constexpr int kBlocks = Whole::kOwnRows / 64, kPart = OfParts<Whole>::kPart;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) sums[i][j] = 0.0f;
  }
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    ring.wait_full(turn.stage, turn.parity);
    const unsigned int stage = ring.stage(turn.stage);
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
      ptx::wgmma_wait_group<0>();
      ptx::wgmma_take(part);
      if (i + 1 == kBlocks) ring.release(turn.stage);
#pragma unroll
      for (int j = 0; j < kPart; ++j) sums[i][j] += part[j];
    }
    turn.next();
  }
  all_begun();  // which loads what elements read: beside both sets of sums is no room for it
}

/// A Body whose operands are pairs of codes.
template <class Body>
struct OfPairs : Body {
  using Lhs = CodePair<typename Body::Lhs, typename Body::Rhs>;
  using Rhs = Lhs;
};

}  // namespace halftone::kernels::warpgroup_contraction

namespace halftone::kernels::float8_warpgroup_contraction {

using warpgroup_contraction::Tile;

/// body's results. `lhs` and `rhs`: maps of bytes, boxes of 128 along memory by the tile's rows or
/// columns, otherwise as warpgroup_contraction's.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    int splits, float* workspace) {
  static_assert(!Body::kTransposeLhs && Body::kTransposeRhs,
                "wgmma multiplies codes that lie along k; take float8_contraction");
  using Pairs = warpgroup_contraction::OfPairs<Body>;
  Pairs pairs{body};
  pairs.depth = body.depth / 2;
  if constexpr (Body::kPromotes)
    warpgroup_contraction::run<Pairs, warpgroup_contraction::OfParts<Tile>>(
        pairs, PairMap{&lhs}, PairMap{&rhs}, splits, workspace);
  else
    warpgroup_contraction::run<Pairs, Tile>(pairs, PairMap{&lhs}, PairMap{&rhs}, splits, workspace);
}

}  // namespace halftone::kernels::float8_warpgroup_contraction
