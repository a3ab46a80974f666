// SPDX-License-Identifier: Apache-2.0
// Contractions of two operands of 8-bit floats in blocks, each with a factor of f32 that is no
// power of two: float8_contraction.cuh, of whose sums of 128 products each is multiplied by the
// product of both blocks' factors before it is added in f32 (N17).
#pragma once

#include "halftone/kernels/scaled_operands.cuh"

namespace halftone::kernels::tensor_contraction {

/// An operand whose scales multiply sums of codes.
template <int kExponentBits, int kLines, int kPlaces>
struct FactoredMatrix : ScaledMatrix<kExponentBits, kLines, kPlaces> {
  static_assert(kPlaces % kColumnChunk == 0, "a sum of 128 products has one factor of an operand");

  __device__ __forceinline__ FactoredMatrix(const float8<kExponentBits>* codes,
                                            const float* factors, long long pitch)
      : ScaledMatrix<kExponentBits, kLines, kPlaces>{codes, factors, pitch} {}
};

/// As Code8, beside whose stage factors lie.
template <int kLhsExponentBits, int kRhsExponentBits>
struct FactoredCode8 {
  unsigned char code;
};

template <int kLhs, int kLhsLines, int kLhsPlaces, int kRhs, int kRhsLines, int kRhsPlaces>
struct Common<FactoredMatrix<kLhs, kLhsLines, kLhsPlaces>,
              FactoredMatrix<kRhs, kRhsLines, kRhsPlaces>> {
  using Type = FactoredCode8<kLhs, kRhs>;
};
template <int kBoth, int kLines, int kPlaces>
struct Common<FactoredMatrix<kBoth, kLines, kPlaces>, FactoredMatrix<kBoth, kLines, kPlaces>> {
  using Type = FactoredCode8<kBoth, kBoth>;
};

/// A stage, all of which is part of one sum, has a factor for each line.
template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
struct Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>
    : ScaledLayout<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kDepth> {};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
class LhsSum<Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>> : public NoLhsSum {
  using NoLhsSum::NoLhsSum;
};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth, int kWarpExtent,
          bool kIsRhs>
class Fragments<Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent,
                kIsRhs>
    : public Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent,
                       kIsRhs> {
  using Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent,
                  kIsRhs>::Fragments;
};

#if __CUDA_ARCH__ >= 890
template <class Layout, int kExponentBits, int kLines, int kPlaces, int kThreads, int kRowBytes,
          bool kAsync>
struct StagingChoice<Layout, FactoredMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes,
                     kAsync> {
  using Type =
      ScaledCopies<Layout, ScaledMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes>;
};

template <>
__device__ __forceinline__ void multiply<FactoredCode8<4, 4>>(float (&sums)[4],
                                                              const unsigned int (&lhs)[4],
                                                              unsigned int rhs_low,
                                                              unsigned int rhs_high) {
  multiply<Code8<4, 4>>(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<FactoredCode8<4, 5>>(float (&sums)[4],
                                                              const unsigned int (&lhs)[4],
                                                              unsigned int rhs_low,
                                                              unsigned int rhs_high) {
  multiply<Code8<4, 5>>(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<FactoredCode8<5, 4>>(float (&sums)[4],
                                                              const unsigned int (&lhs)[4],
                                                              unsigned int rhs_low,
                                                              unsigned int rhs_high) {
  multiply<Code8<5, 4>>(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<FactoredCode8<5, 5>>(float (&sums)[4],
                                                              const unsigned int (&lhs)[4],
                                                              unsigned int rhs_low,
                                                              unsigned int rhs_high) {
  multiply<Code8<5, 5>>(sums, lhs, rhs_low, rhs_high);
}
#endif

/// The factors of a lane's lines of an operand: rows g and g + 8 of each 16 of lhs, columns 2 t and
/// 2 t + 1 of each 8 of rhs. Where a block has all lines of a warp it is one.
template <class Layout, class Fragments, int kLines, int kWarpExtent, bool kIsRhs>
class LineFactors {
  static constexpr bool kAreAlike = kLines % kWarpExtent == 0;
  static constexpr int kEights = kAreAlike ? 1 : kWarpExtent / 8, kOfEight = kIsRhs ? 2 : 1;
  /// From a column to the next one in mma's place.
  static constexpr int kNext = Fragments::kByWords ? 4 : 1;

 public:
  /// `shared`: the operand's first stage; `first`: the warp's first line in the block's tile.
  __device__ __forceinline__ LineFactors(unsigned int shared, int first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int index = kIsRhs ? lane % 4 * 2 : lane / 4;
    from_ = shared + Layout::scale_offset(first + (kAreAlike ? 0 : Fragments::line(0, index)), 0);
  }

  /// Of a stage so many bytes past the first.
  template <int kEight = 0>
  __device__ __forceinline__ void load(int stage) {
    constexpr int kLine = first_line_of<Fragments>(kEight / 2, kEight % 2);
    values_[kEight][0] = __uint_as_float(ptx::ld_shared<4 * kLine>(from_ + stage));
    if constexpr (kIsRhs && !kAreAlike)
      values_[kEight][1] = __uint_as_float(ptx::ld_shared<4 * (kLine + kNext)>(from_ + stage));
    if constexpr (kEight + 1 < kEights) load<kEight + 1>(stage);
  }

  /// That of the eight rows, or of one of a lane's two columns of the eight.
  __device__ __forceinline__ float of(int eight, int column = 0) const {
    return kAreAlike ? values_[0][0] : values_[eight][kIsRhs ? column : 0];
  }

 private:
  unsigned int from_;
  float values_[kEights][kOfEight] = {};
};

/// Of both operands, for the part of the sums that is under way.
template <class Body, class Tile>
class FactorsOfBoth {
  using Its = Products<Body, Tile>;
  template <class Layout, class Fragments, class Matrix, int kWarpExtent, bool kIsRhs>
  struct Of;
  template <class Layout, class Fragments, int kBits, int kLines, int kPlaces, int kWarpExtent,
            bool kIsRhs>
  struct Of<Layout, Fragments, FactoredMatrix<kBits, kLines, kPlaces>, kWarpExtent, kIsRhs> {
    using Type = LineFactors<Layout, Fragments, kLines, kWarpExtent, kIsRhs>;
  };

 public:
  __device__ __forceinline__ FactorsOfBoth(unsigned int lhs_shared, int warp_row, int warp_column)
      : lhs_(lhs_shared, warp_row), rhs_(lhs_shared + Its::LhsLayout::kBytes, warp_column) {}

  __device__ __forceinline__ void load(int stage) {
    lhs_.load(stage);
    rhs_.load(stage);
  }

  __device__ __forceinline__ float added(float sum, float part, int i, int j, int place) const {
    return __fmaf_rn(part, lhs_.of(2 * i + place / 2) * rhs_.of(j, place % 2), sum);
  }

 private:
  typename Of<typename Its::LhsLayout, typename Its::LhsFragments, typename Body::Lhs,
              Tile::kWarpRows, false>::Type lhs_;
  typename Of<typename Its::RhsLayout, typename Its::RhsFragments, typename Body::Rhs,
              Tile::kWarpColumns, true>::Type rhs_;
};

/// A Body whose operands' blocks have factors.
template <class Body>
using Factoring = Scaled<FactoredMatrix, Body>;

template <class Body, class Tile>
class PartFactors<Factoring<Body>, Tile> : public FactorsOfBoth<Factoring<Body>, Tile> {
  using PartFactors::FactorsOfBoth::FactorsOfBoth;
};

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels::factored_contraction {

using tensor_contraction::Tile;

/// body: README.md of this folder.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(Body::kPromotes && !Body::kIsBatch && !Body::kUsesLhsSum,
                "factors multiply promoted sums, of no batch, and no sum of lhs: that is of "
                "numbers, which codes in blocks are not");
  using tensor_contraction::Factoring, tensor_contraction::ScaledTile;
  tensor_contraction::run_scaled<Factoring<Body>, ScaledTile<Tile, Tile::kDepth>>(body);
}

}  // namespace halftone::kernels::factored_contraction
