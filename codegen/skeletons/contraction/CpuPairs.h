// SPDX-License-Identifier: Apache-2.0
// Products of bf16 matrices two k at a time, by AVX512-BF16, of operands that are packed in pairs
// (CpuPacking). VDPBF16PS adds the product of the upper halves of a word to a sum, fused, and then
// that of the lower halves; subnormal factors and sums are zeros ("Intel 64 and IA-32 Architectures
// Software Developer's Manual", volume 2). The upper half of a word is the earlier k, so that a sum
// is the chain N1 but for what is flushed, and no bit depends on blocks of whole pairs.
#ifndef HALFTONE_SKELETONS_CONTRACTION_CPUPAIRS_H
#define HALFTONE_SKELETONS_CONTRACTION_CPUPAIRS_H

#include "codegen/skeletons/contraction/CpuPacking.h"

namespace halftone::skeletons {

class CpuPairs {
public:
  CpuPairs(cpu::Code &code, const CpuPacking &packed) : code(code), packed(packed) {}

  /// Of a block of so many k.
  Value pairsOf(Value length) { return code.ceilDivide(length, 2); }
  /// Where the block's `row` of lhs is packed, with those that follow in its tile.
  Value lhsAt(Value row);
  /// The panel's line of a pair of k, in parts of so many columns.
  cpu::Values lineOf(Value pair, int64_t columnsOfPart);
  /// Adds that line's products with as many rows of lhs as there are sums.
  cpu::Values addProducts(Value lhs, Value pair, mlir::ValueRange line, mlir::ValueRange sums);

private:
  cpu::Code &code;
  const CpuPacking &packed;
};

} // namespace halftone::skeletons

#endif
