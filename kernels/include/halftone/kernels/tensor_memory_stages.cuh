// SPDX-License-Identifier: Apache-2.0
// What a block of tensor_memory_contraction.cuh shares: its tile, and where stages, their scales or
// factors, mbarriers and slabs lie in shared memory, sums and scales in tensor memory.
#pragma once

#include "halftone/kernels/ptx_sm100.cuh"
#include "halftone/kernels/warpgroup_stages.cuh"

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

}  // namespace halftone::kernels::tensor_memory_contraction
