// SPDX-License-Identifier: Apache-2.0
// Contractions of two operands of 8-bit floats by the instruction for those (sm_89 and later): the
// tiles, copies and epilogue of tensor_contraction.cuh, with a byte for each element. Sums are
// those that the instruction keeps (N13), or of 128 products each, which are added in f32 (N14).
#pragma once

#include "halftone/kernels/float8.cuh"
#include "halftone/kernels/ptx_sm89.cuh"
#include "halftone/kernels/tensor_contraction.cuh"

namespace halftone::kernels::tensor_contraction {

/// A code of either operand in shared memory; what they are says the instruction.
template <int kLhsExponentBits, int kRhsExponentBits>
struct Code8 {
  unsigned char code;
};

template <int kLhs, int kRhs>
struct Common<float8<kLhs>, float8<kRhs>> {
  using Type = Code8<kLhs, kRhs>;
};
template <int kBoth>
struct Common<float8<kBoth>, float8<kBoth>> {
  using Type = Code8<kBoth, kBoth>;
};

/// As lhs's, whose sums over k are the only ones that read single codes.
template <int kLhs, int kRhs>
__device__ __forceinline__ float widen(Code8<kLhs, kRhs> x) {
  return kernels::widen(float8<kLhs>{x.code});
}
template <int kLhs, int kRhs>
__device__ __forceinline__ void load_vector(const Code8<kLhs, kRhs>* pointer,
                                            Code8<kLhs, kRhs> (&values)[16]) {
  const uint4 vector = *reinterpret_cast<const uint4*>(pointer);
  const unsigned int words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < 16; ++i)
    values[i] = {static_cast<unsigned char>(words[i / 4] >> (8 * (i % 4)))};
}

/// An operand that lies along its extent. A lane multiplies four codes that lie in lines 4t to
/// 4t + 3, and reads words of four neighbours in each: 32 bytes for the eight lanes of one t. Pairs
/// of chunks of a wavefront, 128 bytes, are exchanged so that those of the four t are of all banks.
template <int kLhs, int kRhs, int kExtent_, int kDepth_>
struct Layout<Code8<kLhs, kRhs>, kExtent_, kDepth_, false> {
  using Element = Code8<kLhs, kRhs>;
  static constexpr int kSize = 1;
  static constexpr int kExtent = kExtent_, kDepth = kDepth_;
  static constexpr bool kAlongDepth = false, kByWords = true;
  static constexpr int kLines = kDepth, kLineBytes = kExtent;
  static constexpr int kBytes = kLines * kLineBytes;
  static constexpr int kChunks = kLineBytes / 16;
  static constexpr int kLinesPerWavefront = kChunks < 8 ? 8 / kChunks : 1;

  __device__ __forceinline__ static int offset(int line, int element) {
    const int chunk = line % kLinesPerWavefront * kChunks + element / 16;
    return line / kLinesPerWavefront * (kLinesPerWavefront * kLineBytes) +
           16 * (chunk ^ line / 4 % 4 * 2) + element % 16;
  }
};

/// Of such an operand: each word of a lane is turned with those of the three lines beside it, so
/// that four places of eights of rows or columns have four neighbours along k each.
template <int kLhs, int kRhs, int kExtent, int kDepth, int kWarpExtent, bool kIsRhs>
class Fragments<Layout<Code8<kLhs, kRhs>, kExtent, kDepth, false>, kWarpExtent, kIsRhs> {
  using Its = Layout<Code8<kLhs, kRhs>, kExtent, kDepth, false>;
  static_assert(kWarpExtent >= 32,
                "of an 8-bit operand that lies along its extent a warp takes 32 rows or columns or "
                "more; take larger warp tiles");

 public:
  static constexpr bool kByWords = true;
  static constexpr int kTiles = kWarpExtent / 16, kStep = 32, kRun = 4;
  using Registers = unsigned int[kTiles][4];

  __device__ __forceinline__ Fragments(unsigned int shared, int first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
#pragma unroll
      for (int i = 0; i < kVariants; ++i)
        from_[pair][i] =
            shared + Its::offset(lane % 4 * 4 + i, first + 32 * pair + lane / 4 * kRun);
    }
  }

  template <int kIndex, int kPair = 0>
  __device__ __forceinline__ void load(int stage, Registers& registers) const {
    load_half<kIndex, kPair, 0>(stage, registers);
    load_half<kIndex, kPair, 1>(stage, registers);
    if constexpr (kPair + 1 < kPairs) load<kIndex, kPair + 1>(stage, registers);
  }

  /// As of words of four bytes.
  __device__ __forceinline__ static int line(int tile, int index) {
    return tile / 2 * 32 + index % 8 * 4 + tile % 2 * 2 + index / 8;
  }

 private:
  static constexpr int kPairs = kTiles / 2;
  /// Lines whose addresses do not differ by a constant alone.
  static constexpr int kVariants = Its::kLinesPerWavefront;
  static_assert(kVariants <= 4);

  template <int kIndex, int kPair, int kHalf>
  __device__ __forceinline__ void load_half(int stage, Registers& registers) const {
    constexpr int kFirst = (kIndex * 32 + kHalf * 16) * Its::kLineBytes;
    constexpr int kLine = Its::kLineBytes;
    const unsigned int words[4] = {
        ptx::ld_shared<kFirst>(from_[kPair][0] + stage),
        ptx::ld_shared<kFirst + (1 - 1 % kVariants) * kLine>(from_[kPair][1 % kVariants] + stage),
        ptx::ld_shared<kFirst + (2 - 2 % kVariants) * kLine>(from_[kPair][2 % kVariants] + stage),
        ptx::ld_shared<kFirst + (3 - 3 % kVariants) * kLine>(from_[kPair][3 % kVariants] + stage)};
    const unsigned int low01 = __byte_perm(words[0], words[1], 0x5140),
                       low23 = __byte_perm(words[2], words[3], 0x5140),
                       high01 = __byte_perm(words[0], words[1], 0x7362),
                       high23 = __byte_perm(words[2], words[3], 0x7362);
    put<kPair, kHalf, 0>(registers, __byte_perm(low01, low23, 0x5410));
    put<kPair, kHalf, 1>(registers, __byte_perm(low01, low23, 0x7632));
    put<kPair, kHalf, 2>(registers, __byte_perm(high01, high23, 0x5410));
    put<kPair, kHalf, 3>(registers, __byte_perm(high01, high23, 0x7632));
  }

  /// Of the kPlace-th of four neighbouring rows or columns.
  template <int kPair, int kHalf, int kPlace>
  __device__ __forceinline__ static void put(Registers& registers, unsigned int word) {
    registers[2 * kPair + kPlace / 2][kIsRhs ? kPlace % 2 * 2 + kHalf : kPlace % 2 + 2 * kHalf] =
        word;
  }

  unsigned int from_[kPairs][kVariants];
};

#if __CUDA_ARCH__ >= 890
/// Copies of codes, whichever operand's they are.
template <class Layout, int kExponentBits, int kThreads, int kRowBytes>
class CodeCopies : public AsyncStaging<Layout, kThreads, kRowBytes> {
  using Share = Pieces<Layout, typename Layout::Element, kThreads, kRowBytes, unsigned long long>;
  static_assert(Layout::kAlongDepth || Share::kLineStep != 8,
                "pieces of a thread are eight lines apart, and chunks are exchanged alike every "
                "sixteen; take more threads or another alignment");

 public:
  __device__ __forceinline__ CodeCopies(const float8<kExponentBits>* operand, unsigned int shared,
                                        long long first, long long extent, const Depth& depth)
      : AsyncStaging<Layout, kThreads, kRowBytes>(
            reinterpret_cast<const typename Layout::Element*>(operand), shared, first, extent,
            depth) {}
};
template <class Layout, int kExponentBits, int kThreads, int kRowBytes>
struct StagingChoice<Layout, float8<kExponentBits>, kThreads, kRowBytes, true> {
  using Type = CodeCopies<Layout, kExponentBits, kThreads, kRowBytes>;
};

template <>
__device__ __forceinline__ void multiply<Code8<4, 4>>(float (&sums)[4],
                                                      const unsigned int (&lhs)[4],
                                                      unsigned int rhs_low, unsigned int rhs_high) {
  ptx::mma_m16n8k32_e4m3(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<Code8<4, 5>>(float (&sums)[4],
                                                      const unsigned int (&lhs)[4],
                                                      unsigned int rhs_low, unsigned int rhs_high) {
  ptx::mma_m16n8k32_e4m3_e5m2(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<Code8<5, 4>>(float (&sums)[4],
                                                      const unsigned int (&lhs)[4],
                                                      unsigned int rhs_low, unsigned int rhs_high) {
  ptx::mma_m16n8k32_e5m2_e4m3(sums, lhs, rhs_low, rhs_high);
}
template <>
__device__ __forceinline__ void multiply<Code8<5, 5>>(float (&sums)[4],
                                                      const unsigned int (&lhs)[4],
                                                      unsigned int rhs_low, unsigned int rhs_high) {
  ptx::mma_m16n8k32_e5m2(sums, lhs, rhs_low, rhs_high);
}
#endif

/// A Body whose sums are promoted (N14).
template <class Body>
struct Promoting : Body {};

/// Products of each place along a tile's depth: of a byte of two codes of 4 bits two.
template <class Body>
inline constexpr int kProductsOfPlace = 1;

/// How parts are added to the sums: as they are.
template <class Body, class Tile>
class Addition {
 public:
  __device__ __forceinline__ Addition(unsigned int, int, int) {}
  __device__ __forceinline__ void begin(int) {}
  __device__ __forceinline__ void add(Sums<Tile>& sums, const Sums<Tile>& part) const {
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 8; ++j) {
#pragma unroll
        for (int place = 0; place < 4; ++place) sums[i][j][place] += part[i][j][place];
      }
    }
  }
};

/// Sums of N3's length are the instruction's; those are added in f32.
template <class Body, class Tile>
class Products<Promoting<Body>, Tile> : public Products<Body, Tile> {
  using Base = Products<Body, Tile>;
  static constexpr int kTilesPerPart = kColumnChunk / (kProductsOfPlace<Body> * Tile::kDepth);

 public:
  __device__ __forceinline__ Products(const Product<Promoting<Body>>& product, const Place& place,
                                      unsigned int lhs_shared, int warp_row, int warp_column)
      : Base({product.lhs, product.rhs, product.rows, product.first_row, product.end_row,
              product.columns},
             place, lhs_shared, warp_row, warp_column),
        addition_(lhs_shared, warp_row, warp_column),
        is_empty_(place.depth.tiles <= 0) {}

  template <class EachTile>
  __device__ __forceinline__ void add_up(Sums<Tile>& sums, const EachTile& each_tile) {
    Sums<Tile> part = {};
    Base::add_up(part, [&](int tile, int stage) {
      if (tile != 0 && tile % kTilesPerPart == 0) promote(part, sums);
      addition_.begin(stage);
      each_tile(tile, stage);
    });
    if (!is_empty_) promote(part, sums);
  }

 private:
  __device__ __forceinline__ void promote(Sums<Tile>& part, Sums<Tile>& sums) const {
    addition_.add(sums, part);
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpColumns / 8; ++j) {
#pragma unroll
        for (int place = 0; place < 4; ++place) part[i][j][place] = 0.0f;
      }
    }
  }

  Addition<Body, Tile> addition_;
  bool is_empty_;  ///< a split that is left no tile
};

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels::float8_contraction {

using tensor_contraction::Tile;

/// body: README.md of this folder.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  if constexpr (Body::kPromotes) {
    using Promoting = tensor_contraction::Promoting<Body>;
    tensor_contraction::run<Promoting, Tile>(Promoting{body});
  } else {
    tensor_contraction::run<Body, Tile>(body);
  }
}

}  // namespace halftone::kernels::float8_contraction
