// SPDX-License-Identifier: Apache-2.0
// A weight of codes of 8 bits as an operand of tensor cores: threads read codes and write what they
// stand for into shared memory, in the other operand's format, which has all of their numbers.
#pragma once

#include "halftone/kernels/codes.cuh"
#include "halftone/kernels/float8.cuh"
#include "halftone/kernels/tensor_contraction.cuh"

namespace halftone::kernels {

template <class Body, class T>
struct Gathered;

}  // namespace halftone::kernels

namespace halftone::kernels::tensor_contraction {

template <class Lhs>
struct Common<Lhs, i8> {
  using Type = Lhs;
};
template <class Lhs, int kExponentBits>
struct Common<Lhs, float8<kExponentBits>> {
  using Type = Lhs;
};
template <class Body, class T>
struct Common<Gathered<Body, T>, i8> {
  using Type = T;
};
template <class Body, class T, int kExponentBits>
struct Common<Gathered<Body, T>, float8<kExponentBits>> {
  using Type = T;
};

/// As words hold them: two numbers of 16 bits, or one.
__device__ __forceinline__ unsigned int code_as(const f16*, float x) { return to_f16(x).code; }
__device__ __forceinline__ unsigned int code_as(const bf16*, float x) { return bits_of(x) >> 16; }
__device__ __forceinline__ unsigned int code_as(const float*, float x) { return bits_of(x); }

/// As RegisterStaging. Rows that begin at no multiple of four bytes are read byte by byte.
template <class Layout, class Source, int kThreads, int kRowBytes>
class CodeStaging {
  using Element = typename Layout::Element;
  static constexpr int kSize = Layout::kSize;
  /// What a piece becomes is at most one chunk of 16 bytes.
  static constexpr int kMost = 16 / kSize;
  static constexpr int kPieceBytes = kRowBytes < 4 ? 4 : kRowBytes < kMost ? kRowBytes : kMost;
  static constexpr int kWords = kPieceBytes / 4;  ///< of codes
  using Address = const unsigned char*;
  using Share = Pieces<Layout, Source, kThreads, kPieceBytes, Address>;

 public:
  static constexpr bool kAsync = false;

  __device__ __forceinline__ CodeStaging(const Source* operand, unsigned int shared,
                                         long long first, long long extent, const Depth& depth)
      : pieces_(reinterpret_cast<Address>(operand), shared, first, extent, depth) {}

  __device__ __forceinline__ int inside() const { return 0x7fffffff; }
  template <bool kMasked>
  __device__ __forceinline__ void start(int, int) {}
  __device__ __forceinline__ void begin(int tiles) { fetch(0, tiles); }
  __device__ __forceinline__ void pass(int stage, int tile, int tiles) {
    if (tile < tiles && pieces_.has_piece()) {
#pragma unroll
      for (int p = 0; p < Share::kPerThread; ++p)
        write(pieces_.to(p) + p * Share::kDistance + stage, words_[p]);
    }
    fetch(tile + 1, tiles);
  }

 private:
  __device__ __forceinline__ void fetch(int tile, int tiles) {
    if (tile < tiles && pieces_.has_piece()) {
      Address from = pieces_.from();
#pragma unroll
      for (int p = 0; p < Share::kPerThread; ++p, from += pieces_.step())
        read(from, pieces_.bytes(p, tile), words_[p]);
    }
    pieces_.advance();
  }

  __device__ __forceinline__ static void read(Address from, int bytes,
                                              unsigned int (&words)[kWords]) {
#pragma unroll
    for (unsigned int& word : words) word = 0;
    if constexpr (kRowBytes < 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (i < bytes) words[0] |= static_cast<unsigned int>(from[i]) << (8 * i);
    } else if (bytes > 0) {
      if constexpr (kWords == 2) {
        const uint2 vector = *reinterpret_cast<const uint2*>(from);
        words[0] = vector.x, words[1] = vector.y;
      } else {
        words[0] = *reinterpret_cast<const unsigned int*>(from);
      }
    }
  }

  __device__ __forceinline__ static unsigned int number(const unsigned int (&words)[kWords],
                                                        int i) {
    const unsigned int code = words[i / 4] >> (8 * (i % 4)) & 0xffu;
    using Code = decltype(Source::code);
    return code_as(static_cast<const Element*>(nullptr), widen(Source{static_cast<Code>(code)}));
  }

  __device__ __forceinline__ static void write(unsigned int to,
                                               const unsigned int (&words)[kWords]) {
    unsigned int numbers[kWords * kSize];
#pragma unroll
    for (int i = 0; i < kWords * kSize; ++i) {
      if constexpr (kSize == 2)
        numbers[i] = number(words, 2 * i) | number(words, 2 * i + 1) << 16;
      else
        numbers[i] = number(words, i);
    }
    ptx::st_shared(to, numbers);
  }

  Share pieces_;
  unsigned int words_[Share::kPerThread][kWords];
};

template <class Layout, int kThreads, int kRowBytes>
struct StagingChoice<Layout, i8, kThreads, kRowBytes, false> {
  using Type = CodeStaging<Layout, i8, kThreads, kRowBytes>;
};
template <class Layout, int kExponentBits, int kThreads, int kRowBytes>
struct StagingChoice<Layout, float8<kExponentBits>, kThreads, kRowBytes, false> {
  using Type = CodeStaging<Layout, float8<kExponentBits>, kThreads, kRowBytes>;
};

}  // namespace halftone::kernels::tensor_contraction
