// SPDX-License-Identifier: Apache-2.0
// Contractions of two operands of 4-bit floats in blocks along the sum, by the instructions that
// multiply by the scales of both (sm_120a and sm_121a): block_scaled_contraction.cuh of pairs of
// codes, a byte each, with a word of scales for every 64 codes of a line. Both operands lie along
// k. Sums are N13's, or N14's, of numbers, code times scale.
#pragma once

#include "halftone/kernels/block_scaled_contraction.cuh"
#include "halftone/kernels/ptx_sm120_float4.cuh"

namespace halftone::kernels::tensor_contraction {

/// Pairs of codes of either operand, of which kPlaces share a scale: 16 an f8e4m3, 32 an f8e8m0.
template <int kPlaces>
struct CodePair {
  unsigned char codes;
};

/// An operand: a line is eight words of codes, the first in the lowest bits, for every 64 places of
/// the sum, and a word of their scales, likewise.
template <int kPlaces>
struct PackedMatrix : ScaledMatrix<4, 1, 32> {
  static_assert(kPlaces == 16 || kPlaces == 32, "a scale is that of 16 or of 32 places");
};

template <int kPlaces>
struct Common<PackedMatrix<kPlaces>, PackedMatrix<kPlaces>> {
  using Type = CodePair<kPlaces>;
};

/// In bytes, scales and all, as codes of 8 bits with a float for 32 of them.
template <int kPlaces, int kExtent, int kDepth>
struct Layout<CodePair<kPlaces>, kExtent, kDepth, true>
    : Layout<ScaledCode8<4, 4>, kExtent, kDepth, true> {};

template <int kPlaces, int kExtent, int kDepth>
class LhsSum<Layout<CodePair<kPlaces>, kExtent, kDepth, true>> : public NoLhsSum {
  using NoLhsSum::NoLhsSum;
};

/// A word of scales as it is.
template <int kPlaces>
__device__ __forceinline__ unsigned int scale_in_register(CodePair<kPlaces>*, unsigned int scales) {
  return scales;
}

template <int kPlaces, int kExtent, int kDepth, int kWarpExtent, bool kIsRhs>
class Fragments<Layout<CodePair<kPlaces>, kExtent, kDepth, true>, kWarpExtent, kIsRhs>
    : public ScaledFragments<
          CodePair<kPlaces>, Layout<CodePair<kPlaces>, kExtent, kDepth, true>,
          Fragments<Layout<Code8<4, 4>, kExtent, kDepth, true>, kWarpExtent, kIsRhs>, kIsRhs> {
  using Fragments::ScaledFragments::ScaledFragments;
};

#if __CUDA_ARCH__ >= 1200
/// Copies of codes and of the words of scales of their stage. A thread's words are of one line.
template <class Layout, int kPlaces, int kThreads, int kRowBytes>
class PackedCopies : public AsyncStaging<Layout, kThreads, kRowBytes> {
  using Codes = AsyncStaging<Layout, kThreads, kRowBytes>;
  static constexpr int kParts = Layout::kDepth / Layout::kScaled;  ///< words of a line and stage
  static constexpr int kStep = kThreads / Layout::kExtent;  ///< of them, to a thread's next one
  static_assert(kThreads % Layout::kExtent == 0,
                "a block has as many threads as a tile has rows or columns, or twice as many, ...");

 public:
  __device__ __forceinline__ PackedCopies(const PackedMatrix<kPlaces>& x, unsigned int shared,
                                          long long first, long long extent, const Depth& depth)
      : Codes(reinterpret_cast<const typename Layout::Element*>(x.codes), shared, first, extent,
              depth),
        to_(shared + Layout::scale_offset(static_cast<int>(threadIdx.x), 0)) {
    const int thread = static_cast<int>(threadIdx.x);
    const long long line = first + thread % Layout::kExtent;
    const long long part = depth.first / Layout::kScaled + thread / Layout::kExtent;
    from_ = __cvta_generic_to_global(x.scales) + 4 * (line * x.pitch + part);
    left_ = line < extent ? static_cast<int>(x.pitch - part) : 0;
  }

  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    Codes::template start<kMasked>(stage, tile);
    copy(stage);
    from_ += 4 * kParts;
    left_ -= kParts;
  }

 private:
  /// Past the operand's ends zeros are written: 2^-127 or 0, which codes of zero are multiplied by.
  template <int kPiece = 0>
  __device__ __forceinline__ void copy(int stage) const {
    constexpr int kFirst = kPiece * kThreads;
    if (Layout::kScales % kThreads == 0 || kFirst + static_cast<int>(threadIdx.x) < Layout::kScales)
      ptx::cp_async_ca_zero_fill<4, 4 * kFirst>(to_ + stage, from_ + 4 * kPiece * kStep,
                                                kPiece * kStep < left_ ? 4 : 0);
    if constexpr (kFirst + kThreads < Layout::kScales) copy<kPiece + 1>(stage);
  }

  unsigned int to_;
  unsigned long long from_;
  int left_;  ///< words of the line from the thread's first of the next tile on
};
template <class Layout, int kPlaces, int kThreads, int kRowBytes, bool kAsync>
struct StagingChoice<Layout, PackedMatrix<kPlaces>, kThreads, kRowBytes, kAsync> {
  using Type = PackedCopies<Layout, kPlaces, kThreads, kRowBytes>;
};

template <int kPlaces>
__device__ __forceinline__ void multiply_scaled(CodePair<kPlaces>*, float (&sums)[4],
                                                const ScaledRows& lhs, ScaledWord low,
                                                ScaledWord high) {
  if constexpr (kPlaces == 16)
    ptx::mma_nvf4(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
  else
    ptx::mma_mxf4(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
}
#endif

/// A Body whose operands are packed; `depth` of the Body counts words of eight codes.
template <class Body>
struct Packing : Body {
  using Lhs = PackedMatrix<Body::kScalePlaces>;
  using Rhs = PackedMatrix<Body::kScalePlaces>;

  __device__ __forceinline__ explicit Packing(const Body& body)
      : Body(body),
        lhs(matrix(body.lhs, body.lhs_scales, body.depth / 8)),
        rhs(matrix(body.rhs, body.rhs_scales, body.depth / 8)),
        depth(4 * body.depth) {}

  Lhs lhs;
  Rhs rhs;
  long long depth;  ///< in bytes

 private:
  __device__ __forceinline__ static Lhs matrix(const int* words, const int* scales,
                                               long long pitch) {
    return {
        {reinterpret_cast<const float8<4>*>(words), reinterpret_cast<const float*>(scales), pitch}};
  }
};

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels {

template <class Body>
struct Product<tensor_contraction::Packing<Body>> {
  typename tensor_contraction::Packing<Body>::Lhs lhs;
  typename tensor_contraction::Packing<Body>::Rhs rhs;
  long long rows, first_row, end_row;
  int columns;
};
template <class Body>
struct Product<tensor_contraction::Promoting<tensor_contraction::Packing<Body>>>
    : Product<tensor_contraction::Packing<Body>> {};

}  // namespace halftone::kernels

namespace halftone::kernels::tensor_contraction {

template <class Body>
inline constexpr int kProductsOfPlace<Packing<Body>> = 2;

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels::float4_contraction {

using tensor_contraction::Tile;

/// body: README.md of this folder. A tile's depth is in bytes.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(
      !Body::kIsBatch && !Body::kUsesLhsSum && !Body::kTransposeLhs && Body::kTransposeRhs,
      "no batch, no sum of lhs, and both operands along k: so codes are packed");
  using tensor_contraction::Packing, tensor_contraction::ScaledTile;
  tensor_contraction::run_scaled<Packing<Body>, ScaledTile<Tile, 32>>(body);
}

}  // namespace halftone::kernels::float4_contraction
