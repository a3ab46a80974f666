// SPDX-License-Identifier: Apache-2.0
// Contractions of two operands of 8-bit floats in blocks, each with a power of two as its scale, by
// the instruction that multiplies by both (sm_120a and sm_121a): float8_contraction.cuh, with the
// scales of a stage behind its codes, a float for every 32 places of a line. Sums are N13's, or
// N14's, of numbers, code times scale.
#pragma once

#include "halftone/kernels/ptx_sm120.cuh"
#include "halftone/kernels/scaled_operands.cuh"

namespace halftone::kernels::tensor_contraction {

/// As Code8, beside whose stage scales lie.
template <int kLhsExponentBits, int kRhsExponentBits>
struct ScaledCode8 {
  unsigned char code;
};

template <int kLhs, int kLhsLines, int kLhsPlaces, int kRhs, int kRhsLines, int kRhsPlaces>
struct Common<ScaledMatrix<kLhs, kLhsLines, kLhsPlaces>,
              ScaledMatrix<kRhs, kRhsLines, kRhsPlaces>> {
  using Type = ScaledCode8<kLhs, kRhs>;
};
template <int kBoth, int kLines, int kPlaces>
struct Common<ScaledMatrix<kBoth, kLines, kPlaces>, ScaledMatrix<kBoth, kLines, kPlaces>> {
  using Type = ScaledCode8<kBoth, kBoth>;
};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
struct Layout<ScaledCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>
    : ScaledLayout<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, 32> {};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth>
class LhsSum<Layout<ScaledCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>> : public NoLhsSum {
  using NoLhsSum::NoLhsSum;
};

/// mma's registers of 16 rows, with the scale that this lane gives.
struct ScaledRows {
  const unsigned int (&words)[4];
  unsigned int scale;
};
/// Likewise one of 8 columns, or of 16.
struct ScaledWord {
  unsigned int word, scale;
};
struct ScaledColumns {
  const unsigned int (&words)[4];
  const unsigned int (&scales)[2];

  __device__ __forceinline__ ScaledWord operator[](int place) const {
    return {words[place], scales[place / 2]};
  }
};

/// What the instruction takes of a word behind a stage's codes.
template <int kLhs, int kRhs>
__device__ __forceinline__ unsigned int scale_in_register(ScaledCode8<kLhs, kRhs>*,
                                                          unsigned int scale) {
  return f8e8m0_of(scale);
}

/// Codes as fragments of float8_contraction.cuh, and beside each line of them what the instruction
/// takes of its scales.
template <class Element, class Its, class Codes, bool kIsRhs>
class ScaledFragments : public Codes {
  static constexpr int kScalesPerTile = kIsRhs ? 2 : 1;

 public:
  struct Registers {
    typename Codes::Registers words;
    unsigned int scales[Codes::kTiles][kScalesPerTile];

    __device__ __forceinline__ auto operator[](int tile) const {
      if constexpr (kIsRhs)
        return ScaledColumns{words[tile], scales[tile]};
      else
        return ScaledRows{words[tile], scales[tile][0]};
    }
  };

  /// Of 16 rows a lane gives the scales of row g or g + 8, of each 8 columns those of column g.
  __device__ __forceinline__ ScaledFragments(unsigned int shared, int first)
      : Codes(shared, first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int index = lane / 4 + (kIsRhs ? 0 : lane % 2 * 8);
    scales_ = shared + Its::scale_offset(first + Codes::line(0, index), 0);
  }

  template <int kIndex>
  __device__ __forceinline__ void load(int stage, Registers& registers) const {
    Codes::template load<kIndex>(stage, registers.words);
    load_scales<kIndex, 0>(stage, registers);
  }

 private:
  template <int kIndex, int kTile>
  __device__ __forceinline__ void load_scales(int stage, Registers& registers) const {
    registers.scales[kTile][0] = scale<kIndex, first_line_of<Codes>(kTile, 0)>(stage);
    if constexpr (kIsRhs)
      registers.scales[kTile][1] = scale<kIndex, first_line_of<Codes>(kTile, 1)>(stage);
    if constexpr (kTile + 1 < Codes::kTiles) load_scales<kIndex, kTile + 1>(stage, registers);
  }

  template <int kIndex, int kLine>
  __device__ __forceinline__ unsigned int scale(int stage) const {
    constexpr int kAt = 4 * (kIndex * Its::kExtent + kLine);
    return scale_in_register(static_cast<Element*>(nullptr), ptx::ld_shared<kAt>(scales_ + stage));
  }

  unsigned int scales_;
};

template <int kLhs, int kRhs, int kExtent, int kDepth, bool kAlongDepth, int kWarpExtent,
          bool kIsRhs>
class Fragments<Layout<ScaledCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent, kIsRhs>
    : public ScaledFragments<
          ScaledCode8<kLhs, kRhs>, Layout<ScaledCode8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>,
          Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, kAlongDepth>, kWarpExtent, kIsRhs>,
          kIsRhs> {
  using Fragments::ScaledFragments::ScaledFragments;
};

#if __CUDA_ARCH__ >= 1200
/// Copies of codes and of the scales of their stage, four bytes each.
template <class Layout, class Matrix, int kThreads, int kRowBytes>
class ScaledCopies;
template <class Layout, int kExponentBits, int kLines, int kPlaces, int kThreads, int kRowBytes>
class ScaledCopies<Layout, ScaledMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes>
    : public CodeCopies<Layout, kExponentBits, kThreads, kRowBytes> {
  using Codes = CodeCopies<Layout, kExponentBits, kThreads, kRowBytes>;

 public:
  __device__ __forceinline__ ScaledCopies(const ScaledMatrix<kExponentBits, kLines, kPlaces>& x,
                                          unsigned int shared, long long first, long long extent,
                                          const Depth& depth)
      : Codes(x.codes, shared, first, extent, depth),
        to_(shared + Layout::scale_offset(static_cast<int>(threadIdx.x), 0)),
        from_(__cvta_generic_to_global(x.scales)),
        pitch_(x.pitch),
        first_(first),
        extent_(extent),
        place_(depth.first),
        places_(depth.total) {}

  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    Codes::template start<kMasked>(stage, tile);
    copy(stage);
    place_ += Layout::kDepth;
  }

 private:
  /// Past the operand's ends zeros are written: 2^-127, which codes of zero are multiplied by.
  template <int kPiece = 0>
  __device__ __forceinline__ void copy(int stage) const {
    const int number = kPiece * kThreads + static_cast<int>(threadIdx.x);
    if (Layout::kScales % kThreads == 0 || number < Layout::kScales) {
      const long long line = first_ + number % Layout::kExtent;
      const long long place = place_ + number / Layout::kExtent * Layout::kScaled;
      const bool is_inside = line < extent_ && place < places_;
      const long long at = scale_at<Layout::kAlongDepth, kLines, kPlaces>(line, place, pitch_);
      ptx::cp_async_ca_zero_fill<4, 4 * kPiece * kThreads>(
          to_ + stage, from_ + 4 * (is_inside ? at : 0), is_inside ? 4 : 0);
    }
    if constexpr ((kPiece + 1) * kThreads < Layout::kScales) copy<kPiece + 1>(stage);
  }

  unsigned int to_;
  unsigned long long from_;
  long long pitch_, first_, extent_, place_, places_;
};
template <class Layout, int kExponentBits, int kLines, int kPlaces, int kThreads, int kRowBytes,
          bool kAsync>
struct StagingChoice<Layout, ScaledMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes,
                     kAsync> {
  using Type =
      ScaledCopies<Layout, ScaledMatrix<kExponentBits, kLines, kPlaces>, kThreads, kRowBytes>;
};

template <int kLhs, int kRhs>
__device__ __forceinline__ void multiply_scaled(ScaledCode8<kLhs, kRhs>*, float (&sums)[4],
                                                const ScaledRows& lhs, ScaledWord low,
                                                ScaledWord high) {
  if constexpr (kLhs == 4 && kRhs == 4)
    ptx::mma_block_scaled_e4m3(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
  else if constexpr (kLhs == 4)
    ptx::mma_block_scaled_e4m3_e5m2(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
  else if constexpr (kRhs == 4)
    ptx::mma_block_scaled_e5m2_e4m3(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
  else
    ptx::mma_block_scaled_e5m2(sums, lhs.words, low.word, high.word, lhs.scale, low.scale);
}
/// Found by its arguments, as all that tensor_contraction.cuh multiplies.
template <class Element>
__device__ __forceinline__ void multiply(float (&sums)[4], const ScaledRows& lhs, ScaledWord low,
                                         ScaledWord high) {
  multiply_scaled(static_cast<Element*>(nullptr), sums, lhs, low, high);
}
#endif

template <class Body>
using Scaling = Scaled<ScaledMatrix, Body>;

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels::block_scaled_contraction {

using tensor_contraction::Tile;

/// body: README.md of this folder.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  static_assert(!Body::kIsBatch && !Body::kUsesLhsSum,
                "no batch and no sum of lhs: they are of numbers, which codes in blocks are not");
  using tensor_contraction::Scaling, tensor_contraction::ScaledTile;
  tensor_contraction::run_scaled<Scaling<Body>, ScaledTile<Tile, 32>>(body);
}

}  // namespace halftone::kernels::block_scaled_contraction
