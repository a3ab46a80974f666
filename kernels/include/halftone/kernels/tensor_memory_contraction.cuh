// SPDX-License-Identifier: Apache-2.0
// Contractions by the tensor cores of sm_100a, sm_103a and sm_110a, which keep sums in tensor
// memory: of two operands of 8-bit floats, as numbers (N13, N14) or in blocks, each with a power of
// two as its scale, which the instruction multiplies by; or of two packed ones of 4-bit floats in
// blocks along the sum, of which a byte is two; or of 8-bit ones in blocks with scales of f32, by
// which the warps multiply promoted sums (N17). A block stays for many tiles. One warp asks for
// tensor copies and one for products, a thread of each; two fetch scales; two warp groups take sums
// out of tensor memory, each of half of a tile's columns, and finish their elements, while the next
// ones are added up in the other half of tensor memory.
#pragma once

#include "halftone/kernels/float8.cuh"
#include "halftone/kernels/ptx_sm100.cuh"
#include "halftone/kernels/ptx_sm89.cuh"
#include "halftone/kernels/warpgroup_epilogue.cuh"

namespace halftone::kernels::tensor_memory_contraction {

using warpgroup_contraction::Order;
using warpgroup_contraction::Turn;

constexpr int kLineBytes = 128;                   // of the swizzle
constexpr int kDepth = 128;                       // bytes of a line in a stage
constexpr int kStep = 32;                         // of them in an instruction
constexpr int kSteps = kDepth / kStep;            // of a stage
constexpr int kBlockBytes = kDepth * kLineBytes;  // 128 lines of 128 codes, either way
constexpr int kScaleBytes = 128 * 4;              // of 128 lines: a word of scales for each
constexpr int kScaleColumns = 4;                  // of tensor memory, likewise

/// Words of scales that a line has in a stage: of codes of 8 bits a byte for each 32 places, which
/// an instruction multiplies; of packed ones, of 4 bits, a word for each 64 places, likewise.
constexpr int kWordsOfCodes = 1, kWordsOfPairs = kSteps;

/// A plan: 128 x kColumns results, kStages times 128 products under way. Tiles go in groups of
/// kGroupRows rows of tiles, whose columns of tiles are taken one after another. kScaleWords: 0 of
/// numbers. kSplits: whether a launch may split the depth. kFactors: whether the sums of a stage,
/// of numbers, are multiplied by factors of its lines.
template <int kColumns_, int kStages_, int kScaleWords_, int kGroupRows_ = 16,
          bool kSplits_ = false, bool kFactors_ = false>
struct Tile {
  static constexpr int kRows = 128, kColumns = kColumns_, kStages = kStages_;
  static constexpr int kScaleWords = kScaleWords_;
  static constexpr bool kScales = kScaleWords > 0, kSplits = kSplits_, kAlternates = false;
  static constexpr bool kFactors = kFactors_;
  static constexpr int kGroupRows = kGroupRows_;
  static constexpr int kThreads = 384;
  /// Of a thread of the first four warps, and of those that finish elements.
  static constexpr int kRegisters = kScales || kFactors ? 72 : 56,
                       kOthersRegisters = kScales || kFactors ? 216 : 224;
  static constexpr int kOwnRows = kRows, kOwnColumns = kColumns / 2;  ///< of a warp group
  static constexpr int kBlocks = kColumns / 128;                      ///< of rhs
  static constexpr int kLhsBytes = kBlockBytes, kRhsBytes = kBlocks * kBlockBytes;
  static constexpr int kStageBytes = kLhsBytes + kRhsBytes;
  /// For one word after another those of lhs's 128 lines and of rhs's.
  static constexpr int kScaleBlocks = kScaleWords * (1 + kBlocks);
  static constexpr int kStageScaleBytes = kScaleBlocks * kScaleBytes;
  static constexpr int kWarpSlabBytes = 16 * 32 * 4;
  /// Of a part's 128 rows and kColumns columns, of as many parts as there are stages.
  static constexpr int kFactorBytes = kFactors ? 4 * (kRows + kColumns) : 0;
  static constexpr int kFactorsAt =
      kStages * (kStageBytes + kStageScaleBytes + 16) + 48 + 8 * kWarpSlabBytes;
  static constexpr int kSharedBytes = kFactorsAt + (kFactors ? kStages * (kFactorBytes + 16) : 0);
  /// Sums that are taken out and sums that are added up, where there is room for both.
  static constexpr int kBuffers = kScales && kColumns > 128 ? 1 : 2;
  static constexpr int kScalesFrom = kBuffers * kColumns;
  static constexpr int kUsedColumns = kScalesFrom + kScaleBlocks * kScaleColumns;
  static constexpr int kMemoryColumns = kUsedColumns <= 256 ? 256 : 512;
  static_assert(kColumns == 128 || kColumns == 256, "a tile has 128 or 256 columns");
  static_assert(!kScales || kScaleWords == kWordsOfCodes || kScaleWords == kWordsOfPairs,
                "a line has no scales, a word of them for a stage, or one for an instruction");
  static_assert(!kFactors || !kScales, "factors are of sums of numbers");
  static_assert(kSharedBytes <= 227 * 1024, "shared memory ends at 227 KiB; take fewer stages");
};

/// Sixteen rows of each warp, as Elements counts a warp group's.
template <class Whole>
struct SixteenRows : Whole {
  static constexpr int kOwnRows = 64;
};

/// What lies in shared memory: stages, their scales, mbarriers, the address of tensor memory, the
/// number of splits, slabs.
template <class Tile>
class Storage {
 public:
  __device__ __forceinline__ explicit Storage(unsigned int shared) : shared_(shared) {}

  /// A stage is full once so many arrived; it is empty, and sums are whole, once the tensor cores
  /// are done; sums are taken once all eight warps have.
  __device__ __forceinline__ void begin(unsigned int arrivals) const {
#pragma unroll
    for (int s = 0; s < Tile::kStages; ++s) {
      ptx::mbarrier_init(full(s), arrivals);
      ptx::mbarrier_init(empty(s), 1);
    }
#pragma unroll
    for (int b = 0; b < Tile::kBuffers; ++b) {
      ptx::mbarrier_init(whole(b), 1);
      ptx::mbarrier_init(taken(b), 8);
    }
    if constexpr (Tile::kFactors) {
#pragma unroll
      for (int s = 0; s < Tile::kStages; ++s) {
        ptx::mbarrier_init(factors_full(s), 64);
        ptx::mbarrier_init(factors_empty(s), 8);
      }
    }
    ptx::fence_mbarrier_init();
  }
  __device__ __forceinline__ unsigned int stage(int s) const {
    return shared_ + s * Tile::kStageBytes;
  }
  __device__ __forceinline__ unsigned int scales(int s) const {
    return shared_ + Tile::kStages * Tile::kStageBytes + s * Tile::kStageScaleBytes;
  }
  __device__ __forceinline__ unsigned int full(int s) const { return barriers() + 16 * s; }
  __device__ __forceinline__ unsigned int empty(int s) const { return full(s) + 8; }
  __device__ __forceinline__ unsigned int whole(int buffer) const {
    return full(Tile::kStages) + 16 * buffer;
  }
  __device__ __forceinline__ unsigned int taken(int buffer) const { return whole(buffer) + 8; }
  /// Those of rows, and behind them those of columns. They are there once all copies of two warps
  /// have arrived, and read once all eight warps have.
  __device__ __forceinline__ unsigned int factors(int s) const {
    return shared_ + Tile::kFactorsAt + s * Tile::kFactorBytes;
  }
  __device__ __forceinline__ unsigned int factors_full(int s) const {
    return factors(Tile::kStages) + 16 * s;
  }
  __device__ __forceinline__ unsigned int factors_empty(int s) const { return factors_full(s) + 8; }
  __device__ __forceinline__ unsigned int address() const { return shared_ + kAddress; }
  /// What all roles need lies in shared memory, too, and each of them reads it anew: what threads
  /// hold from before they part ptxas spills.
  __device__ __forceinline__ static unsigned int memory(const unsigned char* shared) {
    return *reinterpret_cast<const volatile unsigned int*>(shared + kAddress);
  }
  __device__ __forceinline__ static void keep_splits(unsigned char* shared, int splits) {
    *reinterpret_cast<volatile int*>(shared + kAddress + 4) = splits;
  }
  __device__ __forceinline__ static int splits(const unsigned char* shared) {
    return Tile::kSplits ? *reinterpret_cast<const volatile int*>(shared + kAddress + 4) : 1;
  }
  static constexpr int kSlabs = Tile::kFactorsAt - 8 * Tile::kWarpSlabBytes;
  static constexpr int kAddress = kSlabs - 16;

  __device__ __forceinline__ static void wait(unsigned int barrier, unsigned int parity) {
    while (!ptx::mbarrier_try_wait(barrier, parity)) {
    }
  }

 private:
  __device__ __forceinline__ unsigned int barriers() const { return scales(Tile::kStages); }
  unsigned int shared_;
};

__device__ __forceinline__ int stages_of(int depth) { return (depth + kDepth - 1) / kDepth; }

/// Instructions whose sums are added up before they are taken out, where those are of 128 products
/// (N14), and how many such parts there are; else all are one.
template <class Tile>
inline constexpr int kStepsOfPart = Tile::kScaleWords == kWordsOfPairs ? kSteps / 2 : kSteps;
template <class Body, class Tile>
__device__ __forceinline__ int parts_of(int stages) {
  return Body::kPromotes ? stages * (kSteps / kStepsOfPart<Tile>) : 1;
}

//===--- Tensor copies, by one thread ---===//

template <class Body, class Tile>
__device__ __forceinline__ void copy_codes(const TensorMap& lhs, const TensorMap& rhs,
                                           const Storage<Tile>& storage, const Order<Tile>& order) {
  constexpr int kElementBytes = sizeof(typename Body::Lhs);
  Turn<Tile::kStages> turn;
  int begun = 0;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      const unsigned int full = storage.full(turn.stage), stage = storage.stage(turn.stage);
      storage.wait(storage.empty(turn.stage), turn.parity ^ 1);
      ptx::mbarrier_arrive_expect_tx(full, Tile::kStageBytes);
      if constexpr (Body::kTransposeLhs)
        ptx::tensor_load(stage, lhs, full, place.row, k);
      else
        ptx::tensor_load(stage, lhs, full, k / kElementBytes, place.row);
      if constexpr (Body::kTransposeRhs) {
        ptx::tensor_load(stage + Tile::kLhsBytes, rhs, full, k / kElementBytes, place.column);
      } else {
#pragma unroll
        for (int block = 0; block < Tile::kBlocks; ++block)
          ptx::tensor_load(stage + Tile::kLhsBytes + block * kBlockBytes, rhs, full,
                           place.column + 128 * block, k);
      }
      turn.next();
      begun = min(begun + 1, Tile::kStages);
    }
  }
  // The block stays until the tensor cores have arrived everywhere.
  for (; begun > 0; --begun) {
    Turn<Tile::kStages> oldest = turn;
    oldest.skip(Tile::kStages - begun);
    storage.wait(storage.empty(oldest.stage), oldest.parity ^ 1);
  }
}

//===--- Scales, by two warps ---===//

/// Of a float, a power of two, the f8e8m0 that it is. P21: numbers of a scale of 2^113 or more may
/// be infinite, which their codes are not.
__device__ __forceinline__ unsigned int f8e8m0_of(float scale) {
  const unsigned int exponent = __float_as_uint(scale) >> 23;
  return exponent < 127 + 113 ? exponent : 255;
}

/// The scales of one operand: kLines lines, none of which is summed over, by kPlaces places share
/// one; a line of them, in the order of the codes' memory, is `pitch` long.
template <bool kAlongDepth, int kLines, int kPlaces>
struct Scales {
  static_assert(kPlaces % kStep == 0, "an instruction multiplies 32 places by one scale");
  const float* scales;
  long long pitch, lines, places;

  /// Of a line, the word of four for the stage from `place` on; past the ends 2^-127, which zeros
  /// are multiplied by.
  __device__ __forceinline__ void load(long long line, int place,
                                       unsigned int (&words)[kWordsOfCodes]) const {
    float values[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const long long at = place + i * kStep;
      const long long from =
          kAlongDepth ? line / kLines * pitch + at / kPlaces : at / kPlaces * pitch + line / kLines;
      values[i] = line < lines && at < places ? __ldg(scales + from) : 0.0f;
    }
    words[0] = f8e8m0_of(values[0]) | f8e8m0_of(values[1]) << 8 | f8e8m0_of(values[2]) << 16 |
               f8e8m0_of(values[3]) << 24;
  }
};

/// Those of packed codes, words as the instruction wants them, one for kStep bytes of a line.
struct PackedScales {
  const int* scales;
  long long pitch, lines;

  /// Of a line, four for the stage from its byte `place` on; past the ends zeros, likewise.
  __device__ __forceinline__ void load(long long line, int place,
                                       unsigned int (&words)[kWordsOfPairs]) const {
#pragma unroll
    for (int i = 0; i < kWordsOfPairs; ++i) {
      const long long part = place / kStep + i;
      const bool is_inside = line < lines && part < pitch;
      words[i] = is_inside ? static_cast<unsigned int>(__ldg(scales + line * pitch + part)) : 0;
    }
  }
};

template <class Tile, class Body>
__device__ __forceinline__ auto lhs_scales(const Body& body) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return PackedScales{body.lhs_scales, body.depth / kStep, body.rows};
  else
    return Scales<!Body::kTransposeLhs, Body::kLhsScaleLines, Body::kLhsScalePlaces>{
        body.lhs_scales, body.lhs_scale_pitch(), body.rows, body.depth};
}
template <class Tile, class Body>
__device__ __forceinline__ auto rhs_scales(const Body& body) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return PackedScales{body.rhs_scales, body.depth / kStep, body.columns()};
  else
    return Scales<Body::kTransposeRhs, Body::kRhsScaleLines, Body::kRhsScalePlaces>{
        body.rhs_scales, body.rhs_scale_pitch(), body.columns(), body.depth};
}

/// Number `thread` of 64 fetches those of every 64th line; words of neighbouring lines lie 16 bytes
/// apart, where the instruction's copy makes them neighbours in a column.
template <class Body, class Tile>
__device__ __forceinline__ void copy_scales(const Body& body, const Storage<Tile>& storage,
                                            const Order<Tile>& order, int thread) {
  constexpr int kThreads = 64, kOwnRhs = Tile::kColumns / kThreads, kOwnLhs = 128 / kThreads;
  const auto lhs = lhs_scales<Tile>(body);
  const auto rhs = rhs_scales<Tile>(body);
  Turn<Tile::kStages> turn;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      unsigned int words[kOwnLhs + kOwnRhs][Tile::kScaleWords];
#pragma unroll
      for (int i = 0; i < kOwnLhs; ++i) lhs.load(place.row + i * kThreads + thread, k, words[i]);
#pragma unroll
      for (int i = 0; i < kOwnRhs; ++i)
        rhs.load(place.column + i * kThreads + thread, k, words[kOwnLhs + i]);
      storage.wait(storage.empty(turn.stage), turn.parity ^ 1);
#pragma unroll
      for (int i = 0; i < kOwnLhs + kOwnRhs; ++i) {
        const int line = i * kThreads + thread;  // of rhs from 128 on
#pragma unroll
        for (int j = 0; j < Tile::kScaleWords; ++j) {
          const int block = j * (1 + Tile::kBlocks) + line / 128;
          const unsigned int word[1] = {words[i][j]};
          ptx::st_shared(storage.scales(turn.stage) + block * kScaleBytes + line % 32 * 16 +
                             line % 128 / 32 * 4,
                         word);
        }
      }
      ptx::fence_proxy_async();
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage.full(turn.stage));
      turn.next();
    }
  }
}

//===--- Factors, by two warps ---===//

/// Number `thread` of 64 copies those of every 64th line of rows and columns, as Scales has them of
/// one block, asking for those of further parts meanwhile; past the ends zeros.
template <class Body, class Tile>
__device__ __forceinline__ void copy_factors(const Body& body, const Storage<Tile>& storage,
                                             const Order<Tile>& order, int thread) {
  constexpr int kThreads = 64, kOwn = (Tile::kRows + Tile::kColumns) / kThreads;
  static_assert(Body::kLhsScalePlaces % kDepth == 0 && Body::kRhsScalePlaces % kDepth == 0,
                "a sum of 128 products has one factor of an operand");
  const auto from_lhs = [&](int line, int k) {
    const long long block = line / Body::kLhsScaleLines, part = k / Body::kLhsScalePlaces;
    return body.lhs_scales + (Body::kTransposeLhs ? part * body.lhs_scale_pitch() + block
                                                  : block * body.lhs_scale_pitch() + part);
  };
  const auto from_rhs = [&](int line, int k) {
    const long long block = line / Body::kRhsScaleLines, part = k / Body::kRhsScalePlaces;
    return body.rhs_scales + (Body::kTransposeRhs ? block * body.rhs_scale_pitch() + part
                                                  : part * body.rhs_scale_pitch() + block);
  };
  Turn<Tile::kStages> turn;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
#pragma unroll 1
    for (int k = place.first_depth; k < place.first_depth + place.depth; k += kDepth) {
      storage.wait(storage.factors_empty(turn.stage), turn.parity ^ 1);
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int at = i * kThreads + thread;
        const bool is_row = i < Tile::kRows / kThreads;
        const int line = is_row ? place.row + at : place.column + at - Tile::kRows;
        const bool is_inside = is_row ? line < body.rows : line < body.columns();
        const float* const from = is_row ? from_lhs(line, k) : from_rhs(line, k);
        ptx::cp_async_ca_zero_fill<4, 0>(storage.factors(turn.stage) + 4 * at,
                                         __cvta_generic_to_global(from), is_inside ? 4 : 0);
      }
      ptx::cp_async_arrive(storage.factors_full(turn.stage));
      turn.next();
    }
  }
}

//===--- Products, by one thread ---===//

/// What matrix descriptors say beside the address: the 128-byte swizzle; 1024 bytes from eight
/// lines to the next; where lines lie across k, one block of 128 to the next.
template <bool kAlongDepth>
inline constexpr unsigned long long kDescriptor =
    2ull << 61 | 1ull << 46 | (1024ull >> 4) << 32 | (kAlongDepth ? 1ull : kBlockBytes >> 4) << 16;

/// Of 32 rows of 16 bytes, one behind the other.
inline constexpr unsigned long long kScaleDescriptor =
    1ull << 46 | (128ull >> 4) << 32 | 1ull << 16;

template <class T>
inline constexpr unsigned int kFormat = 0;  // E4M3
template <>
inline constexpr unsigned int kFormat<f8e5m2> = 1;
template <>
inline constexpr unsigned int kFormat<int> = 1;  // E2M1, of packed codes

/// Whether scales are f8e4m3, each of 16 packed codes; all others are f8e8m0.
template <class Body, class Tile>
__device__ __forceinline__ constexpr bool has_f8e4m3_scales() {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    return Body::kScalePlaces == 16;
  else
    return false;
}

/// The instruction descriptor of 128 rows; of scales all but which byte of their words.
template <class Body, class Tile>
inline constexpr unsigned int kInstruction =
    kFormat<typename Body::Lhs> << 7 | kFormat<typename Body::Rhs> << 10 |
    (Body::kTransposeLhs ? 1u : 0u) << 15 | (Body::kTransposeRhs ? 0u : 1u) << 16 |
    static_cast<unsigned int>(Tile::kColumns >> 3) << 17 |
    (Tile::kScales ? (has_f8e4m3_scales<Body, Tile>() ? 0u : 1u) << 23 | (128u >> 7) << 27
                   : 1u << 4 | (128u >> 4) << 24);

/// Number kIndex of a stage's instructions. `scales`: the column where lhs's begin.
template <class Body, class Tile, int kIndex>
__device__ __forceinline__ void multiply_step(unsigned int sums, unsigned long long lhs,
                                              unsigned long long rhs, unsigned int scales,
                                              int accumulate) {
  constexpr int kLhsStep = Body::kTransposeLhs ? kStep * kLineBytes : kStep;
  constexpr int kRhsStep = Body::kTransposeRhs ? kStep : kStep * kLineBytes;
  constexpr unsigned int kInstruct = kInstruction<Body, Tile>;
  lhs += kIndex * kLhsStep >> 4;
  rhs += kIndex * kRhsStep >> 4;
  if constexpr (Tile::kScaleWords == kWordsOfPairs) {
    scales += kIndex * (1 + Tile::kBlocks) * kScaleColumns;
    if constexpr (has_f8e4m3_scales<Body, Tile>())
      ptx::tcgen05_mma_nvf4(sums, lhs, rhs, kInstruct, scales, scales + kScaleColumns, accumulate);
    else
      ptx::tcgen05_mma_mxf4(sums, lhs, rhs, kInstruct, scales, scales + kScaleColumns, accumulate);
  } else if constexpr (Tile::kScales) {
    ptx::tcgen05_mma_mxf8f6f4(sums, lhs, rhs, kInstruct | kIndex << 4 | kIndex << 29, scales,
                              scales + kScaleColumns, accumulate);
  } else {
    ptx::tcgen05_mma_f8f6f4(sums, lhs, rhs, kInstruct, accumulate);
  }
}

template <class Body, class Tile>
class Products {
 public:
  __device__ __forceinline__ Products(const Storage<Tile>& storage, unsigned int memory)
      : storage_(storage), memory_(memory) {}

  __device__ __forceinline__ void run(const Order<Tile>& order) {
    for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
      const int stages = stages_of(order(unit).depth);
#pragma unroll 1
      for (int i = 0; i < stages; ++i) {
        storage_.wait(storage_.full(turn_.stage), turn_.parity);
        ptx::tcgen05_fence_after_thread_sync();
        if constexpr (Tile::kScales) copy_scales_in();
        multiply<0>(i);
        ptx::tcgen05_commit(storage_.empty(turn_.stage));
        turn_.next();
      }
      if (!Body::kPromotes) end_part();
    }
  }

 private:
  __device__ __forceinline__ void copy_scales_in() const {
    const unsigned long long scales = kScaleDescriptor | storage_.scales(turn_.stage) >> 4;
#pragma unroll
    for (int block = 0; block < Tile::kScaleBlocks; ++block)
      ptx::tcgen05_cp_32x128b_warpx4(memory_ + Tile::kScalesFrom + block * kScaleColumns,
                                     scales + (block * kScaleBytes >> 4));
  }

  /// The stage's, which is number `i` of a tile's.
  template <int kIndex>
  __device__ __forceinline__ void multiply(int i) {
    constexpr bool kBegins = kIndex % kStepsOfPart<Tile> == 0;
    if (kBegins && (Body::kPromotes || (kIndex == 0 && i == 0))) begin_part();
    const unsigned int stage = storage_.stage(turn_.stage);
    const int goes_on = Body::kPromotes ? !kBegins : kIndex == 0 ? i : 1;
    multiply_step<Body, Tile, kIndex>(
        memory_ + buffer_.stage * Tile::kColumns, kDescriptor<!Body::kTransposeLhs> | stage >> 4,
        kDescriptor<Body::kTransposeRhs> | (stage + Tile::kLhsBytes) >> 4,
        memory_ + Tile::kScalesFrom, goes_on);
    if (Body::kPromotes && (kIndex + 1) % kStepsOfPart<Tile> == 0) end_part();
    if constexpr (kIndex + 1 < kSteps) multiply<kIndex + 1>(i);
  }

  __device__ __forceinline__ void begin_part() const {
    storage_.wait(storage_.taken(buffer_.stage), buffer_.parity ^ 1);
    ptx::tcgen05_fence_after_thread_sync();
  }
  __device__ __forceinline__ void end_part() {
    ptx::tcgen05_commit(storage_.whole(buffer_.stage));
    buffer_.next();
  }

  const Storage<Tile>& storage_;
  unsigned int memory_;
  Turn<Tile::kStages> turn_;
  Turn<Tile::kBuffers> buffer_;
};

//===--- Sums and elements, by two warp groups ---===//

/// Sums of a thread: [16 of its warp's 32 rows][place in tcgen05.ld's result, as in wgmma's].
template <class Tile>
using Sums = warpgroup_contraction::Sums<Tile>;

/// Whether all columns of a warp group have one factor.
template <class Body, class Tile>
__device__ __forceinline__ constexpr bool are_columns_alike() {
  if constexpr (Tile::kFactors)
    return Body::kRhsScaleLines % Tile::kOwnColumns == 0;
  else
    return true;
}

/// What sums of parts are multiplied by before they are added: nothing, or factors.
template <class Body, class Tile>
class Factors {
  static constexpr bool kAreAlike = are_columns_alike<Body, Tile>();

 public:
  /// Of a warp's rows and columns from these on.
  __device__ __forceinline__ Factors(const Storage<Tile>& storage, int row, int column)
      : storage_(storage),
        row_(4 * (row + static_cast<int>(threadIdx.x) % 32 / 4)),
        column_(4 *
                (Tile::kRows + column + (kAreAlike ? 0 : static_cast<int>(threadIdx.x) % 4 * 2))) {}

  __device__ __forceinline__ void begin() const {
    if constexpr (Tile::kFactors) storage_.wait(storage_.factors_full(turn_.stage), turn_.parity);
  }
  /// Of 16 rows from number 16 * i on.
  __device__ __forceinline__ void begin_rows(int i) {
    if constexpr (Tile::kFactors) {
      const unsigned int rows = storage_.factors(turn_.stage) + row_ + 64 * i;
      rows_[0] = ptx::ld_shared<0>(rows);
      rows_[1] = ptx::ld_shared<32>(rows);
      if (kAreAlike)
        columns_[0] = columns_[1] = ptx::ld_shared<0>(storage_.factors(turn_.stage) + column_);
    }
  }
  /// Of 8 columns from this one on.
  __device__ __forceinline__ void begin_columns(int column) {
    if constexpr (Tile::kFactors && !kAreAlike)
      ptx::ld_shared<0>(storage_.factors(turn_.stage) + column_ + 4 * column, columns_);
  }
  /// Number `place` of the four sums that a lane has of 16 rows and 8 columns.
  __device__ __forceinline__ float add(float part, int place, float sum) const {
    if constexpr (Tile::kFactors)
      return __fmaf_rn(
          part, __uint_as_float(rows_[place / 2]) * __uint_as_float(columns_[place % 2]), sum);
    else
      return sum + part;
  }
  __device__ __forceinline__ void end() {
    if constexpr (Tile::kFactors) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage_.factors_empty(turn_.stage));
      turn_.next();
    }
  }

 private:
  const Storage<Tile>& storage_;
  int row_, column_;
  unsigned int rows_[2], columns_[2];
  Turn<Tile::kStages> turn_;
};

/// Takes sums out of tensor memory, and adds them where they are promoted.
template <bool kAdds, class Body, class Tile>
__device__ __forceinline__ void take(Sums<Tile>& sums, const Storage<Tile>& storage,
                                     Turn<Tile::kBuffers>& buffer, unsigned int memory,
                                     Factors<Body, Tile>& factors) {
  static_assert(Tile::kOwnColumns % 64 == 0, "64 columns are loaded at a time");
  constexpr int kLoads = Tile::kOwnColumns / 64;
  factors.begin();
  storage.wait(storage.whole(buffer.stage), buffer.parity);
  ptx::tcgen05_fence_after_thread_sync();
  const unsigned int from = memory + buffer.stage * Tile::kColumns;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    factors.begin_rows(i);
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      float some[32];
      ptx::tcgen05_ld_16x256b_x8(some, from + (16 * i << 16) + 64 * load);
      ptx::tcgen05_wait_load();
      ptx::tcgen05_take(some);
      if (i == 1 && load == kLoads - 1) {
        ptx::tcgen05_fence_before_thread_sync();
        __syncwarp();
        if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(storage.taken(buffer.stage));
      }
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        float& sum = sums[i][32 * load + j];
        if (j % 4 == 0) factors.begin_columns(64 * load + 2 * j);
        if (kAdds || Tile::kFactors)
          sum = factors.add(some[j], j % 4, kAdds ? sum : 0.0f);
        else
          sum = some[j];
      }
    }
  }
  factors.end();
  buffer.next();
}

/// A warp group: number `group` of two.
template <class Body, class Tile>
__device__ __forceinline__ void finish(const Body& body, const Storage<Tile>& storage,
                                       const Order<Tile>& order,
                                       const warpgroup_contraction::Slab& slab, int group,
                                       float* workspace, unsigned int memory) {
  using Lines = SixteenRows<Tile>;
  const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 32;
  const int column = group * Tile::kOwnColumns;
  Factors<Body, Tile> factors(storage, row, column);
  memory += (static_cast<unsigned int>(row) << 16) + column;
  Turn<Tile::kBuffers> buffer;
  for (unsigned int unit = blockIdx.x; unit < order.units(); unit += gridDim.x) {
    const auto place = order(unit);
    Sums<Tile> sums;
    take<false>(sums, storage, buffer, memory, factors);
    if constexpr (Body::kPromotes) {
      const int parts = parts_of<Body, Tile>(stages_of(place.depth));
#pragma unroll 1
      for (int part = 1; part < parts; ++part) take<true>(sums, storage, buffer, memory, factors);
    }
    if constexpr (Tile::kSplits) {
      if (order.splits() > 1) {
        const warpgroup_contraction::Partials<Tile> partials(workspace, order, place, group);
        if (!partials.add_up(sums)) continue;
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      warpgroup_contraction::Elements<Lines, Body> elements(body, slab, place.row + row + 16 * i,
                                                            place.column + column);
      elements.begin();
      elements.finish(reinterpret_cast<const Sums<Lines>&>(sums[i]));
    }
  }
}

/// As run() of a Body whose depth is in bytes.
template <class Body, class Tile>
__device__ __forceinline__ void run_bytes(const Body& body, const TensorMap& lhs,
                                          const TensorMap& rhs, int splits, float* workspace) {
  static_assert(!Body::kIsBatch, "a tensor map of two dimensions has no end of an element");
  static_assert(!Body::kUsesLhsSum, "no thread sees the codes of lhs");
  static_assert(!Tile::kFactors || Body::kPromotes, "factors are of sums of 128 products");
  extern __shared__ __align__(1024) unsigned char shared[];
  const Storage<Tile> storage(static_cast<unsigned int>(__cvta_generic_to_shared(shared)));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) {
    storage.begin(Tile::kScales ? 3 : 1);
    if constexpr (Tile::kSplits) storage.keep_splits(shared, splits);
  }
  if (warp == 1) {
    ptx::tcgen05_alloc<Tile::kMemoryColumns>(storage.address());
    ptx::tcgen05_relinquish_alloc_permit();
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const auto order = [&] { return Order<Tile>(body, storage.splits(shared)); };
  if (warp < 4) {
    ptx::setmaxnreg_dec<Tile::kRegisters>();
    if (threadIdx.x == 0) {
      copy_codes<Body>(lhs, rhs, storage, order());
    } else if (threadIdx.x == 32) {
      Products<Body, Tile>(storage, storage.memory(shared)).run(order());
    } else if (warp >= 2) {
      if constexpr (Tile::kScales) copy_scales(body, storage, order(), threadIdx.x - 64);
      if constexpr (Tile::kFactors) copy_factors(body, storage, order(), threadIdx.x - 64);
    }
    __syncwarp();
  } else {
    ptx::setmaxnreg_inc<Tile::kOthersRegisters>();
    const warpgroup_contraction::Slab slab(
        reinterpret_cast<float*>(shared + Storage<Tile>::kSlabs) +
        (warp - 4) * (Tile::kWarpSlabBytes / 4));
    finish(body, storage, order(), slab, warp / 4 - 1, workspace, storage.memory(shared));
    ptx::tcgen05_fence_before_thread_sync();
  }
  __syncthreads();
  if (warp == 1) {
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc<Tile::kMemoryColumns>(storage.memory(shared));
  }
}

/// A Body of packed codes, whose own depth is in words of eight.
template <class Body>
struct Packed : Body {
  static_assert(!Body::kTransposeLhs && Body::kTransposeRhs, "packed codes lie along k");
  static_assert(Body::kScalePlaces == 16 || Body::kScalePlaces == 32,
                "a scale is that of 16 or of 32 places");
  __device__ __forceinline__ explicit Packed(const Body& body)
      : Body(body), depth(sizeof(int) * body.depth) {}
  long long depth;
};

/// body's results. `lhs` and `rhs`: maps of codes, or of words of packed ones, boxes of 128 bytes
/// along memory by, where k lies along it, 128 rows or the tile's columns, else 128 of k; a swizzle
/// of 128 bytes; zero outside. The grid is at most as many blocks as run at once.
template <class Body, class Tile>
__device__ __forceinline__ void run(const Body& body, const TensorMap& lhs, const TensorMap& rhs,
                                    int splits, float* workspace) {
  if constexpr (Tile::kScaleWords == kWordsOfPairs)
    run_bytes<Packed<Body>, Tile>(Packed<Body>(body), lhs, rhs, splits, workspace);
  else
    run_bytes<Body, Tile>(body, lhs, rhs, splits, workspace);
}

}  // namespace halftone::kernels::tensor_memory_contraction
