// SPDX-License-Identifier: Apache-2.0
// The chips that kernels are planned for: one product stands for each compute capability.
#ifndef HALFTONE_PLAN_CHIPS_H
#define HALFTONE_PLAN_CHIPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace halftone::ir {

/// Per clock and SM where it says so. A multiply-add counts as two operations.
struct Chip {
  llvm::StringLiteral name; ///< as a target: "sm_80"
  int number;               ///< 80
  llvm::StringLiteral product;
  int sms;
  double gigahertz;   ///< boost
  int sharedPerSm;    ///< bytes
  int sharedPerBlock; ///< bytes, what a block may ask for
  int threadsPerSm, blocksPerSm;
  double halfOperations;             ///< mma.sync of f16 with f32 sums; bf16 too from sm_80
  double tf32Operations;             ///< mma.sync of tf32, 0 where there is none
  double f32Operations;              ///< without tensor cores
  double gigabytesPerSecond;         ///< of memory
  double cacheBytes;                 ///< from L2
  double warpgroupOperations = 0;    ///< wgmma of f16 and bf16 with f32 sums, 0 where there is none
  double float8Operations = 0;       ///< mma.sync of 8-bit floats with f32 sums, likewise; wgmma of
                                     ///< those has twice warpgroupOperations
  double float4Operations = 0;       ///< mma.sync of 4-bit floats in blocks with scales, likewise
  double tensorMemoryOperations = 0; ///< tcgen05 of 8-bit floats with f32 sums, also in blocks with
                                     ///< scales, likewise; that of 4-bit ones has twice as many

  /// Whether 8-bit floats are multiplied as such: others with the instruction make f16 of them.
  bool multipliesFloat8() const { return float8Operations > halfOperations; }
  /// Whether mma.sync multiplies 32 places of either operand by a scale, too; chips from 100 to 110
  /// have that in tcgen05.
  bool multipliesBlocks() const { return number >= 120 && multipliesFloat8(); }
  /// Whether some instruction multiplies codes of 8 bits as such.
  bool multipliesCodes() const {
    return multipliesFloat8() || warpgroupOperations > 0 || tensorMemoryOperations > 0;
  }
};

inline constexpr int kRegistersPerSm = 65536; // of 32 bits, of every chip here

/// In the order of their numbers.
llvm::ArrayRef<Chip> chips();

/// Null for a target that is none of them.
const Chip *findChip(llvm::StringRef name);

/// Which of the candidates was most likely meant by a name that is none of them, or "".
std::string nearestName(llvm::StringRef name, llvm::ArrayRef<std::string> candidates);

} // namespace halftone::ir

#endif
