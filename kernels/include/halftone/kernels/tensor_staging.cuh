// SPDX-License-Identifier: Apache-2.0
// How the operands of a tensor-core contraction come into shared memory and how they lie there: in
// the order of their memory, whichever that is, 16-byte chunks exchanged so that eight rows of a
// matrix never share a bank. cp.async from sm_80 on; through registers on sm_75 and where rows
// start at odd multiples of two bytes.
#pragma once

#include "halftone/kernels/convert.cuh"

namespace halftone::kernels::tensor_contraction {

/// One stage of an operand: kExtent rows (or columns) by kDepth. kAlongDepth: the operand is
/// [extent, depth] in memory, otherwise [depth, extent]; a line is what lies side by side there.
template <class T, int kExtent_, int kDepth_, bool kAlongDepth_>
struct Layout {
  using Element = T;
  static constexpr int kSize = static_cast<int>(sizeof(T));
  static constexpr int kExtent = kExtent_, kDepth = kDepth_;
  static constexpr bool kAlongDepth = kAlongDepth_;
  static constexpr int kLines = kAlongDepth ? kExtent : kDepth;
  static constexpr int kLineBytes = (kAlongDepth ? kDepth : kExtent) * kSize;
  static constexpr int kBytes = kLines * kLineBytes;
  static constexpr int kChunks = kLineBytes / 16;
  /// ldmatrix transposes elements of two bytes alone; others are read as words.
  static constexpr bool kByWords = kSize == 4 && !kAlongDepth;

  /// Bytes from the stage's start to an element. Eight chunks are a wavefront, 128 bytes. Of eight
  /// lines from a multiple of eight on, chunk c lies in eight places of it; of four lines that are
  /// read by words, chunks c and c + 1, c even, do.
  __device__ __forceinline__ static int offset(int line, int element) {
    constexpr int kLinesPerWavefront = kChunks < 8 ? 8 / kChunks : 1;
    constexpr int kPlaces = kByWords ? 4 / kLinesPerWavefront : 8 / kLinesPerWavefront;
    const int exchange = line / kLinesPerWavefront % kPlaces * (kByWords ? 2 : 1);
    const int byte = element * kSize;
    return line * kLineBytes + 16 * (byte / 16 ^ exchange) + byte % 16;
  }
};

/// What a block adds up: tiles of kDepth from its first k on, the last perhaps shorter.
struct Depth {
  long long first, total;  ///< the block's first k, and how long the operands are
  int tiles;               ///< of any length
  int full;                ///< of length kDepth
  int rest;                ///< length of the last one where tiles > full
};

/// A thread's share of an operand's tiles: kPerThread pieces, kLineStep lines apart. A piece is of
/// kRowBytes, the largest power of two up to 16 that divides where lines start in memory and how
/// long they are; two elements of 16 bits where that is one. Source: the elements in memory.
template <class Layout, class Source, int kThreads, int kRowBytes, class Address>
class Pieces {
  static constexpr int kSourceSize = static_cast<int>(sizeof(Source));

 public:
  static constexpr int kBytes = kRowBytes < 4 ? 4 : kRowBytes;
  static constexpr int kElements = kBytes / kSourceSize;
  static constexpr int kPerLine = Layout::kLineBytes / Layout::kSize / kElements;
  static constexpr int kLineStep = kThreads / kPerLine;
  static constexpr int kPerThread = (Layout::kLines + kLineStep - 1) / kLineStep;
  static_assert(kRowBytes >= kSourceSize, "rows of tf32 start at multiples of four bytes or more");
  static_assert(kThreads % kPerLine == 0,
                "a line of an operand's tile has more pieces than the block has threads; take more "
                "warps, a smaller tile or a larger kLhsBytes or kRhsBytes");

  /// `first` is the block's first row or column of `extent`, `shared` the first stage's address.
  __device__ __forceinline__ Pieces(Address operand, unsigned int shared, long long first,
                                    long long extent, const Depth& depth)
      : line_(static_cast<int>(threadIdx.x) / kPerLine),
        element_(static_cast<int>(threadIdx.x) % kPerLine * kElements),
        extent_(static_cast<int>(min(extent - first, static_cast<long long>(Layout::kExtent)))),
        full_(depth.full),
        rest_(depth.rest) {
    const long long pitch = (Layout::kAlongDepth ? depth.total : extent) * kSourceSize;
    const long long line = (Layout::kAlongDepth ? first : depth.first) + line_;
    const long long element = (Layout::kAlongDepth ? depth.first : first) + element_;
#pragma unroll
    for (int p = 0; p < (kAlike ? 1 : kPerThread); ++p)
      to_[p] = shared + Layout::offset(line_ + p * kLineStep, element_);
    from_ = operand + (line * pitch + element * kSourceSize);
    piece_step_ = kLineStep * pitch;
    tile_step_ = Layout::kAlongDepth ? Layout::kDepth * kSourceSize : Layout::kDepth * pitch;
  }

  /// How many tiles, from the first on, lie inside the operand as a whole.
  __device__ __forceinline__ int inside() const { return extent_ == Layout::kExtent ? full_ : 0; }
  /// A tile can have fewer pieces than the block has threads.
  __device__ __forceinline__ bool has_piece() const {
    return Layout::kLines >= kLineStep || line_ < Layout::kLines;
  }

  /// Where the first piece of the next tile is, and each further one from the one before.
  __device__ __forceinline__ Address from() const { return from_; }
  __device__ __forceinline__ long long step() const { return piece_step_; }
  __device__ __forceinline__ void advance(int tiles = 1) { from_ += tiles * tile_step_; }

  /// Bytes of piece p of a tile that belong to the operand.
  __device__ __forceinline__ int bytes(int p, int tile) const {
    const int depth = tile < full_ ? Layout::kDepth : rest_;
    const int lines = Layout::kAlongDepth ? extent_ : depth;
    const int elements = (Layout::kAlongDepth ? depth : extent_) - element_;
    return line_ + p * kLineStep < lines ? min(max(elements, 0), kElements) * kSourceSize : 0;
  }

  /// Piece p's place in the first stage, less p * kDistance. Lines that are a multiple of eight
  /// apart exchange their chunks alike, so that the distance of pieces is a constant.
  __device__ __forceinline__ unsigned int to(int p) const { return to_[kAlike ? 0 : p]; }
  static constexpr bool kAlike = kLineStep % 8 == 0;
  static constexpr int kDistance = kAlike ? kLineStep * Layout::kLineBytes : 0;

 private:
  int line_, element_;  // of this thread's first piece in a tile
  int extent_, full_, rest_;
  unsigned int to_[kAlike ? 1 : kPerThread];
  Address from_;
  long long piece_step_, tile_step_;
};

#if __CUDA_ARCH__ >= 800
/// start() begins the copies of tile 0, 1, 2, ... into the stage so many bytes past the first, but
/// for those that skip() leaves out. Past the operand's ends zeros are written.
template <class Layout, int kThreads, int kRowBytes>
class AsyncStaging {
  using Share = Pieces<Layout, typename Layout::Element, kThreads, kRowBytes, unsigned long long>;

 public:
  static constexpr bool kAsync = true;

  __device__ __forceinline__ AsyncStaging(const typename Layout::Element* operand,
                                          unsigned int shared, long long first, long long extent,
                                          const Depth& depth)
      : pieces_(__cvta_generic_to_global(operand), shared, first, extent, depth) {}

  __device__ __forceinline__ int inside() const { return pieces_.inside(); }
  template <bool kMasked>
  __device__ __forceinline__ void start(int stage, int tile) {
    if (pieces_.has_piece()) copy<kMasked>(stage, tile, pieces_.from());
    pieces_.advance();
  }
  __device__ __forceinline__ void skip(int tiles) { pieces_.advance(tiles); }
  __device__ __forceinline__ void begin(int, int = 0) {}
  __device__ __forceinline__ void pass(int, int, int) {}
  __device__ __forceinline__ void pass(int, int, int, int) {}

 private:
  template <bool kMasked, int kPiece = 0>
  __device__ __forceinline__ void copy(int stage, int tile, unsigned long long from) const {
    constexpr int kOffset = kPiece * Share::kDistance;
    const unsigned int to = pieces_.to(kPiece) + stage;
    if constexpr (kRowBytes == 16 && kMasked)
      ptx::cp_async_cg_zero_fill<kOffset>(to, from, pieces_.bytes(kPiece, tile));
    else if constexpr (kRowBytes == 16)
      ptx::cp_async_cg<kOffset>(to, from);
    else if constexpr (kMasked)
      ptx::cp_async_ca_zero_fill<kRowBytes, kOffset>(to, from, pieces_.bytes(kPiece, tile));
    else
      ptx::cp_async_ca<kRowBytes, kOffset>(to, from);
    if constexpr (kPiece + 1 < Share::kPerThread)
      copy<kMasked, kPiece + 1>(stage, tile,
                                from + static_cast<unsigned long long>(pieces_.step()));
  }

  Share pieces_;
};
#endif

/// The same through registers: begin() reads the first tile, pass() writes the tile that it is
/// given and reads the next one. A Source of 16 bits is widened to a layout of tf32, which is
/// exact.
template <class Layout, class Source, int kThreads, int kRowBytes>
class RegisterStaging {
  static constexpr bool kWidens = sizeof(Source) < sizeof(typename Layout::Element);
  /// Widened, a piece is at most one chunk of 16 bytes.
  static constexpr int kPieceBytes = kWidens ? (kRowBytes < 8 ? kRowBytes : 8) : kRowBytes;
  using Address = const unsigned char*;
  using Share = Pieces<Layout, Source, kThreads, kPieceBytes, Address>;

 public:
  static constexpr bool kAsync = false;

  __device__ __forceinline__ RegisterStaging(const Source* operand, unsigned int shared,
                                             long long first, long long extent, const Depth& depth)
      : pieces_(reinterpret_cast<Address>(operand), shared, first, extent, depth) {}

  __device__ __forceinline__ int inside() const { return 0x7fffffff; }
  template <bool kMasked>
  __device__ __forceinline__ void start(int, int) {}
  __device__ __forceinline__ void skip(int) {}
  __device__ __forceinline__ void begin(int tiles, int first = 0) {
    pieces_.advance(first);
    fetch(first, tiles);
  }
  __device__ __forceinline__ void pass(int stage, int tile, int tiles) {
    pass(stage, tile, tile + 1, tiles);
  }
  __device__ __forceinline__ void pass(int stage, int tile, int next, int tiles) {
    if (tile < tiles && pieces_.has_piece()) {
#pragma unroll
      for (int p = 0; p < Share::kPerThread; ++p)
        write(pieces_.to(p) + p * Share::kDistance + stage, words_[p]);
    }
    pieces_.advance(next - tile - 1);
    fetch(next, tiles);
  }

 private:
  __device__ __forceinline__ void fetch(int tile, int tiles) {
    if (pieces_.has_piece()) {
      if (tile < pieces_.inside())
        read<false>(tile);
      else if (tile < tiles)
        read<true>(tile);
    }
    pieces_.advance();
  }

  template <int kWords>
  __device__ __forceinline__ static void write(unsigned int to,
                                               const unsigned int (&words)[kWords]) {
    if constexpr (kWidens) {
      unsigned int widened[2 * kWords];
#pragma unroll
      for (int i = 0; i < 2 * kWords; ++i)
        widened[i] = __float_as_uint(
            widen(Source{static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16))}));
      ptx::st_shared(to, widened);
    } else {
      ptx::st_shared(to, words);
    }
  }

  template <bool kMasked>
  __device__ __forceinline__ void read(int tile) {
    Address from = pieces_.from();
#pragma unroll
    for (int p = 0; p < Share::kPerThread; ++p, from += pieces_.step()) {
      const int bytes = kMasked ? pieces_.bytes(p, tile) : Share::kBytes;
      if constexpr (kRowBytes == 2) {
        const auto* const halves = reinterpret_cast<const unsigned short*>(from);
        const unsigned int low = bytes > 0 ? halves[0] : 0, high = bytes > 2 ? halves[1] : 0;
        words_[p][0] = low | high << 16;
      } else {
#pragma unroll
        for (unsigned int& word : words_[p]) word = 0;
        if (bytes > 0) load(from, words_[p]);
      }
    }
  }

  __device__ __forceinline__ static void load(Address from, unsigned int (&words)[1]) {
    words[0] = *reinterpret_cast<const unsigned int*>(from);
  }
  __device__ __forceinline__ static void load(Address from, unsigned int (&words)[2]) {
    const uint2 vector = *reinterpret_cast<const uint2*>(from);
    words[0] = vector.x, words[1] = vector.y;
  }
  __device__ __forceinline__ static void load(Address from, unsigned int (&words)[4]) {
    const uint4 vector = *reinterpret_cast<const uint4*>(from);
    words[0] = vector.x, words[1] = vector.y, words[2] = vector.z, words[3] = vector.w;
  }

  Share pieces_;
  unsigned int words_[Share::kPerThread][Share::kBytes / 4];
};

/// How rows of kRowBytes come into shared memory on this chip.
template <class Layout, class Source, int kThreads, int kRowBytes, bool kAsync>
struct StagingChoice {
  using Type = RegisterStaging<Layout, Source, kThreads, kRowBytes>;
};
#if __CUDA_ARCH__ >= 800
template <class Layout, class Source, int kThreads, int kRowBytes>
struct StagingChoice<Layout, Source, kThreads, kRowBytes, true> {
  using Type = AsyncStaging<Layout, kThreads, kRowBytes>;
};
#endif
template <class Layout, class Source, int kThreads, int kRowBytes>
using StagingOf = typename StagingChoice<Layout, Source, kThreads, kRowBytes,
                                         kRowBytes >= 4 && sizeof(Source) == Layout::kSize>::Type;

}  // namespace halftone::kernels::tensor_contraction
