// SPDX-License-Identifier: Apache-2.0
// tensor_contraction.cuh with a matrix that is gathered (gathered_lines.cuh): pieces of its lines
// come into shared memory from where they lie, and zeros for those that lie nowhere.
#pragma once

#include "halftone/kernels/gathered_lines.cuh"
#include "halftone/kernels/tensor_contraction.cuh"

namespace halftone::kernels::tensor_contraction {

template <class Body, class T, class Rhs>
struct Common<Gathered<Body, T>, Rhs> : Common<T, Rhs> {};
template <class Body, class T, class Lhs>
struct Common<Lhs, Gathered<Body, T>> : Common<Lhs, T> {};

/// As Pieces: a thread's share of the tiles, and where each of its pieces is gathered from.
/// kRowBytes divides the channels of a tap, so that a piece is of one tap; where it is two bytes,
/// of two.
template <class Layout, class Body, class T, int kThreads, int kRowBytes>
class GatheredPieces {
 public:
  using Share = Pieces<Layout, T, kThreads, kRowBytes, unsigned long long>;
  static constexpr int kPerThread = Share::kPerThread;
  static constexpr bool kAlongDepth = Layout::kAlongDepth;

  __device__ __forceinline__ GatheredPieces(const GatheredMatrix<Body, T>& matrix,
                                            unsigned int shared, long long first, long long extent,
                                            const Depth& depth)
      : share(0, shared, first, extent, depth),
        matrix_(matrix),
        lines_(*matrix.body, kAlongDepth ? first : depth.first),
        line_(static_cast<int>(threadIdx.x) / Share::kPerLine),
        element_(static_cast<int>(kAlongDepth ? depth.first : first) +
                 static_cast<int>(threadIdx.x) % Share::kPerLine * Share::kElements) {
#pragma unroll
    for (int p = 0; kAlongDepth && p < kPerThread; ++p) kept_[p] = line(p);
  }

  /// Moves to a tile behind.
  __device__ __forceinline__ void advance() {
    if constexpr (kAlongDepth)
      element_ += Layout::kDepth;
    else
      lines_.advance(*matrix_.body, Layout::kDepth);
  }

  /// Whether piece p's i-th element of the tile at hand lies somewhere, and where.
  __device__ __forceinline__ bool find(int p, int i, const T*& from) const {
    long long place;
    const bool is_somewhere = line_of(p).find(*matrix_.body, element_ + i, place);
    from = matrix_.memory + place;
    return is_somewhere;
  }

  Share share;  ///< how tiles are shared out, and what of them belongs to the matrix

 private:
  __device__ __forceinline__ GatheredLine<Body> line(int p) const {
    return lines_.at(*matrix_.body, line_ + p * Share::kLineStep);
  }
  __device__ __forceinline__ GatheredLine<Body> line_of(int p) const {
    if constexpr (kAlongDepth)
      return kept_[p];
    else
      return line(p);
  }

  GatheredMatrix<Body, T> matrix_;
  GatheredLines<Body> lines_;
  GatheredLine<Body> kept_[kAlongDepth ? kPerThread : 1];
  int line_, element_;  // of this thread's first piece
};

#if __CUDA_ARCH__ >= 800
/// As AsyncStaging.
template <class Layout, class Body, class T, int kThreads, int kRowBytes>
class GatheredAsyncStaging {
 public:
  static constexpr bool kAsync = true;

  __device__ __forceinline__ GatheredAsyncStaging(const GatheredMatrix<Body, T>& matrix,
                                                  unsigned int shared, long long first,
                                                  long long extent, const Depth& depth)
      : pieces_(matrix, shared, first, extent, depth) {}

  __device__ __forceinline__ int inside() const { return pieces_.share.inside(); }
  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    if (pieces_.share.has_piece()) copy<kMasked>(stage, tile);
    pieces_.advance();
  }
  __device__ __forceinline__ void begin(int, int = 0) {}
  __device__ __forceinline__ void pass(int, int, int) {}

 private:
  using All = GatheredPieces<Layout, Body, T, kThreads, kRowBytes>;

  template <bool kMasked, int kPiece = 0>
  __device__ __forceinline__ void copy(int stage, int tile) const {
    constexpr int kOffset = kPiece * All::Share::kDistance;
    const unsigned int to = pieces_.share.to(kPiece) + stage;
    const T* from;
    const bool is_somewhere = pieces_.find(kPiece, 0, from);
    const int bytes = kMasked ? pieces_.share.bytes(kPiece, tile) : kRowBytes;
    const unsigned long long address = __cvta_generic_to_global(from);
    if constexpr (kRowBytes == 16)
      ptx::cp_async_cg_zero_fill<kOffset>(to, address, is_somewhere ? bytes : 0);
    else
      ptx::cp_async_ca_zero_fill<kRowBytes, kOffset>(to, address, is_somewhere ? bytes : 0);
    if constexpr (kPiece + 1 < All::kPerThread) copy<kMasked, kPiece + 1>(stage, tile);
  }

  All pieces_;
};
#endif

/// As RegisterStaging.
template <class Layout, class Body, class T, int kThreads, int kRowBytes>
class GatheredRegisterStaging {
  static constexpr bool kWidens = sizeof(T) < sizeof(typename Layout::Element);
  /// Widened, a piece is at most one chunk of 16 bytes.
  static constexpr int kPieceBytes = kWidens && kRowBytes > 8 ? 8 : kRowBytes;
  using All = GatheredPieces<Layout, Body, T, kThreads, kPieceBytes>;
  using Share = typename All::Share;
  static constexpr int kWords = Share::kBytes / 4;

 public:
  static constexpr bool kAsync = false;

  __device__ __forceinline__ GatheredRegisterStaging(const GatheredMatrix<Body, T>& matrix,
                                                     unsigned int shared, long long first,
                                                     long long extent, const Depth& depth)
      : pieces_(matrix, shared, first, extent, depth) {}

  __device__ __forceinline__ int inside() const { return 0x7fffffff; }
  template <bool kMasked>
  __device__ __forceinline__ void start(int, int) {}
  __device__ __forceinline__ void begin(int tiles) { fetch(0, tiles); }
  __device__ __forceinline__ void pass(int stage, int tile, int tiles) {
    if (tile < tiles && pieces_.share.has_piece()) {
#pragma unroll
      for (int p = 0; p < Share::kPerThread; ++p)
        write(pieces_.share.to(p) + p * Share::kDistance + stage, words_[p]);
    }
    fetch(tile + 1, tiles);
  }

 private:
  __device__ __forceinline__ void fetch(int tile, int tiles) {
    if (tile < tiles && pieces_.share.has_piece()) {
#pragma unroll
      for (int p = 0; p < Share::kPerThread; ++p) read(p, pieces_.share.bytes(p, tile), words_[p]);
    }
    pieces_.advance();
  }

  __device__ __forceinline__ void read(int p, int bytes, unsigned int (&words)[kWords]) const {
    if constexpr (kRowBytes == 2) {
      words[0] = half(p, 0, bytes) | half(p, 1, bytes) << 16;
    } else {
#pragma unroll
      for (unsigned int& word : words) word = 0;
      const T* from;
      if (!pieces_.find(p, 0, from) || bytes == 0) return;
      if constexpr (kWords == 4) {
        const uint4 vector = *reinterpret_cast<const uint4*>(from);
        words[0] = vector.x, words[1] = vector.y, words[2] = vector.z, words[3] = vector.w;
      } else if constexpr (kWords == 2) {
        const uint2 vector = *reinterpret_cast<const uint2*>(from);
        words[0] = vector.x, words[1] = vector.y;
      } else {
        words[0] = *reinterpret_cast<const unsigned int*>(from);
      }
    }
  }
  /// One of two elements that lie apart.
  __device__ __forceinline__ unsigned int half(int p, int i, int bytes) const {
    const T* from;
    const bool is_somewhere = pieces_.find(p, i, from) && bytes > 2 * i;
    return is_somewhere ? *reinterpret_cast<const unsigned short*>(from) : 0u;
  }

  __device__ __forceinline__ static void write(unsigned int to,
                                               const unsigned int (&words)[kWords]) {
    if constexpr (kWidens) {
      unsigned int widened[2 * kWords];
#pragma unroll
      for (int i = 0; i < 2 * kWords; ++i)
        widened[i] =
            __float_as_uint(widen(T{static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))}));
      ptx::st_shared(to, widened);
    } else {
      ptx::st_shared(to, words);
    }
  }

  All pieces_;
  unsigned int words_[Share::kPerThread][kWords];
};

template <class Layout, class Body, class T, int kThreads, int kRowBytes>
struct StagingChoice<Layout, Gathered<Body, T>, kThreads, kRowBytes, false> {
  using Type = GatheredRegisterStaging<Layout, Body, T, kThreads, kRowBytes>;
};
#if __CUDA_ARCH__ >= 800
template <class Layout, class Body, class T, int kThreads, int kRowBytes>
struct StagingChoice<Layout, Gathered<Body, T>, kThreads, kRowBytes, true> {
  using Type = GatheredAsyncStaging<Layout, Body, T, kThreads, kRowBytes>;
};
#else
template <class Layout, class Body, class T, int kThreads, int kRowBytes>
struct StagingChoice<Layout, Gathered<Body, T>, kThreads, kRowBytes, true> {
  using Type = GatheredRegisterStaging<Layout, Body, T, kThreads, kRowBytes>;
};
#endif

}  // namespace halftone::kernels::tensor_contraction

namespace halftone::kernels::gathered_tensor_contraction {

using tensor_contraction::Tile;

/// body: README.md of this folder.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body) {
  tensor_contraction::run<Gathering<Body>, Tile>(Gathering<Body>{body});
}

}  // namespace halftone::kernels::gathered_tensor_contraction
