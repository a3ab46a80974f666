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

/// A stage, all of which is part of one sum, has a factor for each line, and room for another:
/// those of a part's last tile are read when its stage is being filled again.
template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
struct Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>
    : ScaledLayout<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kDepth / 2> {};

/// Which of both places the factors of a stage are in: from tile to tile, whose stages come round.
class FactorTurn {
 public:
  __device__ __forceinline__ void next(int stage) {
    if (stage == 0) turn_ ^= 1;
  }
  /// Bytes of `lines`, an operand's.
  __device__ __forceinline__ int offset(int lines) const { return turn_ * 4 * lines; }

 private:
  int turn_ = 0;
};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
class LhsSum<Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>> : public NoLhsSum {
  using NoLhsSum::NoLhsSum;
};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth, int kWarpExtent,
          bool kIsRhs>
class Fragments<Layout<FactoredCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent,
                kIsRhs> : public Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>,
                                           kWarpExtent, kIsRhs> {
  using Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent,
                  kIsRhs>::Fragments;
};

#if __CUDA_ARCH__ >= 890
/// Copies of codes and of the factors of their stage, of which a thread's are those of one line.
template <class Layout, int kExponentBits, int kLines, int kPlaces, int kThreads, int kRowBytes>
class FactorCopies : public CodeCopies<Layout, kExponentBits, kThreads, kRowBytes> {
  using Codes = CodeCopies<Layout, kExponentBits, kThreads, kRowBytes>;
  static_assert(Layout::kExtent <= kThreads,
                "a block has at least as many threads as a tile has rows and columns");

 public:
  __device__ __forceinline__ FactorCopies(const FactoredMatrix<kExponentBits, kLines, kPlaces>& x,
                                          unsigned int shared, long long first, long long extent,
                                          const Depth& depth)
      : Codes(x.codes, shared, first, extent, depth),
        to_(shared + Layout::scale_offset(static_cast<int>(threadIdx.x), 0)),
        total_(static_cast<int>(depth.total)),
        step_(Layout::kAlongDepth ? 4 : 4 * x.pitch) {
    const long long line = first + static_cast<int>(threadIdx.x);
    from_ = __cvta_generic_to_global(x.scales) +
            4 * scale_at<Layout::kAlongDepth, kLines, kPlaces>(line, depth.first, x.pitch);
    left_ = line < extent ? static_cast<int>(depth.total - depth.first) : 0;
  }

  /// Past the operand's ends zeros are written.
  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    Codes::template start<kMasked>(stage, tile);
    turn_.next(stage);
    if (Layout::kExtent == kThreads || static_cast<int>(threadIdx.x) < Layout::kExtent)
      ptx::cp_async_ca_zero_fill<4, 0>(to_ + stage + turn_.offset(Layout::kExtent), from_,
                                       left_ > 0 ? 4 : 0);
    left_ -= Layout::kDepth;
    if ((total_ - left_) % kPlaces == 0) from_ += step_;
  }

 private:
  unsigned int to_;
  unsigned long long from_;
  int left_, total_;  ///< places of the sum from the next tile's first on, and all of it
  long long step_;
  FactorTurn turn_;
};
template <class Layout, int kExponentBits, int kLines, int kPlaces, int kThreads, int kRowBytes,
          bool kAsync>
struct StagingChoice<Layout, FactoredMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes,
                     kAsync> {
  using Type = FactorCopies<Layout, kExponentBits, kLines, kPlaces, kThreads, kRowBytes>;
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
/// 2 t + 1 of each 8 of rhs. Where a block has all lines of a warp all are one.
template <class Layout, class Fragments, int kLines, int kWarpExtent, bool kIsRhs>
class LineFactors {
  static constexpr bool kAreAlike = kLines % kWarpExtent == 0;
  /// From a column to the next one in mma's place.
  static constexpr int kNext = Fragments::kByWords ? 4 : 1;

 public:
  /// `shared`: the operand's first stage; `first`: the warp's first line in the block's tile.
  __device__ __forceinline__ LineFactors(unsigned int shared, int first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int index = kIsRhs ? lane % 4 * 2 : lane / 4;
    from_ = shared + Layout::scale_offset(first + (kAreAlike ? 0 : Fragments::line(0, index)), 0);
  }

  /// That of a row of the kEight-th eight, or of either column, so many bytes past the first
  /// stage's.
  template <int kEight, int kColumn = 0>
  __device__ __forceinline__ float of(int stage) const {
    constexpr int kLine =
        kAreAlike ? 0 : first_line_of<Fragments>(kEight / 2, kEight % 2) + kColumn * kNext;
    return __uint_as_float(ptx::ld_shared<4 * kLine>(from_ + stage));
  }

 private:
  unsigned int from_;
};
template <class Layout, class Fragments, class Matrix, int kWarpExtent, bool kIsRhs>
struct FactorsOf;
template <class Layout, class Fragments, int kBits, int kLines, int kPlaces, int kWarpExtent,
          bool kIsRhs>
struct FactorsOf<Layout, Fragments, FactoredMatrix<kBits, kLines, kPlaces>, kWarpExtent, kIsRhs> {
  using Type = LineFactors<Layout, Fragments, kLines, kWarpExtent, kIsRhs>;
};

/// A Body whose operands' blocks have factors.
template <class Body>
using Factoring = Scaled<FactoredMatrix, Body>;

/// Each part times the product of both factors, which lie in the stage of its last tile.
template <class Body, class Tile>
class Addition<Factoring<Body>, Tile> {
  using Its = Products<Factoring<Body>, Tile>;

 public:
  __device__ __forceinline__ Addition(unsigned int lhs_shared, int warp_row, int warp_column)
      : lhs_(lhs_shared, warp_row), rhs_(lhs_shared + Its::LhsLayout::kBytes, warp_column) {}

  /// A tile, in a stage so many bytes past the first.
  __device__ __forceinline__ void begin(int stage) {
    turn_.next(stage);
    stage_ = stage;
  }

  __device__ __forceinline__ void add(Sums<Tile>& sums, const Sums<Tile>& part) const {
    add_rows<0>(sums, part, stage_ + turn_.offset(Its::LhsLayout::kExtent),
                stage_ + turn_.offset(Its::RhsLayout::kExtent));
  }

 private:
  template <int kI>
  __device__ __forceinline__ void add_rows(Sums<Tile>& sums, const Sums<Tile>& part, int lhs,
                                           int rhs) const {
    const float low = lhs_.template of<2 * kI>(lhs), high = lhs_.template of<2 * kI + 1>(lhs);
    add_columns<0>(sums[kI], part[kI], low, high, rhs);
    if constexpr (kI + 1 < Tile::kWarpRows / 16) add_rows<kI + 1>(sums, part, lhs, rhs);
  }
  template <int kJ>
  __device__ __forceinline__ void add_columns(float (&sums)[Tile::kWarpColumns / 8][4],
                                              const float (&part)[Tile::kWarpColumns / 8][4],
                                              float low, float high, int rhs) const {
    const float left = rhs_.template of<kJ>(rhs), right = rhs_.template of<kJ, 1>(rhs);
    const float factors[4] = {low * left, low * right, high * left, high * right};
#pragma unroll
    for (int place = 0; place < 4; ++place)
      sums[kJ][place] = __fmaf_rn(part[kJ][place], factors[place], sums[kJ][place]);
    if constexpr (kJ + 1 < Tile::kWarpColumns / 8) add_columns<kJ + 1>(sums, part, low, high, rhs);
  }

  typename FactorsOf<typename Its::LhsLayout, typename Its::LhsFragments,
                     typename Factoring<Body>::Lhs, Tile::kWarpRows, false>::Type lhs_;
  typename FactorsOf<typename Its::RhsLayout, typename Its::RhsFragments,
                     typename Factoring<Body>::Rhs, Tile::kWarpColumns, true>::Type rhs_;
  FactorTurn turn_;
  int stage_ = 0;
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
  tensor_contraction::run_scaled<Factoring<Body>, ScaledTile<Tile, Tile::kDepth / 2>>(body);
}

}  // namespace halftone::kernels::factored_contraction
