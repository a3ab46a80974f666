// SPDX-License-Identifier: Apache-2.0
// Operands of 8-bit floats in blocks, each with a float as its scale: where the scales lie in
// memory and behind a stage's codes in shared memory.
#pragma once

#include "halftone/kernels/block_scales.cuh"
#include "halftone/kernels/float8_contraction.cuh"

namespace halftone::kernels::tensor_contraction {

/// An operand, and its scales, as scale_at finds them.
template <int kExponentBits, int kLines, int kPlaces>
struct ScaledMatrix {
  static_assert(kPlaces % 32 == 0, "an instruction multiplies 32 places by one scale");
  const float8<kExponentBits>* codes;
  const float* scales;
  long long pitch;
};

template <class T>
inline constexpr int kExponentBitsOf = 0;
template <int kExponentBits>
inline constexpr int kExponentBitsOf<float8<kExponentBits>> = kExponentBits;

/// Of Codes, a layout, whose stage ends in a float for each line and kScaled places.
template <class Codes, int kScaled_>
struct ScaledLayout : Codes {
  static constexpr int kScaled = kScaled_;
  static constexpr int kScales = Codes::kExtent * (Codes::kDepth / kScaled);
  static constexpr int kBytes = Codes::kBytes + 4 * kScales;

  /// Bytes from the stage's start to the scale of a line's places from kScaled * part on.
  __device__ __forceinline__ static constexpr int scale_offset(int line, int part) {
    return Codes::kBytes + 4 * (part * Codes::kExtent + line);
  }
};

/// No element needs the sum of lhs's codes, which no rule asks for.
class NoLhsSum {
 public:
  __device__ __forceinline__ NoLhsSum(float*, unsigned int) {}
  __device__ __forceinline__ void add(const unsigned char*, int, int) {}
  __device__ __forceinline__ void end(int) {}
  __device__ __forceinline__ void gather(const float*, long long) {}
  __device__ __forceinline__ float total() const { return 0.0f; }
};

/// Of a 16-row tile, or 8 columns in either half of 16, how far its lines are from the first
/// tile's: their number there is added.
template <class Fragments>
__device__ __forceinline__ constexpr int first_line_of(int tile, int half) {
  if constexpr (Fragments::kByWords)
    return tile / 2 * 32 + tile % 2 * 2 + half;
  else
    return 16 * tile + 8 * half;
}

/// A Body whose operands have scales, which it finds by the members that kernels/README.md names,
/// as matrices of a kind.
template <template <int, int, int> class Matrix, class Body>
struct Scaled : Body {
  using Lhs =
      Matrix<kExponentBitsOf<typename Body::Lhs>, Body::kLhsScaleLines, Body::kLhsScalePlaces>;
  using Rhs =
      Matrix<kExponentBitsOf<typename Body::Rhs>, Body::kRhsScaleLines, Body::kRhsScalePlaces>;

  __device__ __forceinline__ explicit Scaled(const Body& body)
      : Body(body),
        lhs{body.lhs, body.lhs_scales, body.lhs_scale_pitch()},
        rhs{body.rhs, body.rhs_scales, body.rhs_scale_pitch()} {}

  Lhs lhs;
  Rhs rhs;
};

/// A tile whose stages hold scales, too, one for each kScaled places of a line.
template <class Its, int kScaled>
struct ScaledTile : Its {
  __device__ static constexpr int shared_bytes(int) {
    const int stages = Its::kStages * (Its::kRows + Its::kColumns) *
                       (Its::kDepth + Its::kDepth / kScaled * static_cast<int>(sizeof(float)));
    const int epilogue = Its::kSlabBytes + 4 * Its::kRows;
    return stages > epilogue ? stages : epilogue;
  }
};

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels {

template <template <int, int, int> class Matrix, class Body>
struct Product<tensor_contraction::Scaled<Matrix, Body>> {
  typename tensor_contraction::Scaled<Matrix, Body>::Lhs lhs;
  typename tensor_contraction::Scaled<Matrix, Body>::Rhs rhs;
  long long rows, first_row, end_row;
  int columns;
};
template <template <int, int, int> class Matrix, class Body>
struct Product<tensor_contraction::Promoting<tensor_contraction::Scaled<Matrix, Body>>>
    : Product<tensor_contraction::Scaled<Matrix, Body>> {};

}  // namespace halftone::kernels

namespace halftone::kernels::tensor_contraction {

/// `Operands`: the Body with its matrices and their scales.
template <class Operands, class Tile, class Body>
__device__ __forceinline__ void run_scaled(const Body& body) {
  if constexpr (Body::kPromotes)
    run<Promoting<Operands>, Tile>(Promoting<Operands>{Operands(body)});
  else
    run<Operands, Tile>(Operands(body));
}

}  // namespace halftone::kernels::tensor_contraction
