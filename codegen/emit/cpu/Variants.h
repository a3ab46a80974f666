// SPDX-License-Identifier: Apache-2.0
// The processors that an artifact carries code for: everything about emission that differs between
// them.
#ifndef HALFTONE_EMIT_CPU_VARIANTS_H
#define HALFTONE_EMIT_CPU_VARIANTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::cpu {

/// How a product of two bf16 is made whose sum may take any order: as one of f32, by tiles of
/// matrices (AMX, decisions/0022), or two k at a time (AVX512-BF16, decisions/0073).
enum class Bf16Products { Widened, Tiles, Pairs };

/// Sums of a contraction that stay in the vector registers while products are added.
struct SumsTile {
  unsigned rows = 0, columns = 0;
  unsigned lowRows = 0; // of a lower tile that wastes less at the end; 0 for none

  /// Floats between two k of a copied block of a transposed lhs.
  unsigned lhsLanes() const { return static_cast<unsigned>(llvm::PowerOf2Ceil(rows)); }
};

struct CpuVariant {
  llvm::StringRef name;         // as in Manifest::variants
  llvm::StringRef suffix;       // of its functions' names
  llvm::StringRef architecture; // as in llvm::Triple
  llvm::StringRef cpu;          // as LLVM spells it
  unsigned bodyLanes;           // elements that one copy of a body computes
  unsigned rowLanes;    // the same in loops that add into the 32 partial sums (N2); divides 32
  unsigned vectorLanes; // f32 of a register
  SumsTile tile;
  bool f16c;                     // converts f16 by F16C
  llvm::StringRef features = {}; // that the cpu lacks, as LLVM spells them
  Bf16Products products = Bf16Products::Widened;
  /// Of one that does not widen bf16: the variant whose code runs all other kernels.
  llvm::StringRef others = {};
  SumsTile otherTile = {}; // for columns of which it leaves fewer lanes without a column; or none

  /// Whether it has stores past the caches for all that a copy of a body computes.
  bool hasStoresPastCaches() const { return architecture == "x86_64" && bodyLanes >= 16; }
  /// Of the register tile of a contraction with so many columns.
  SumsTile tileOf(std::optional<int64_t> columns) const {
    if (!columns)
      return tile;
    auto padded = [&](uint64_t width) {
      return llvm::alignTo(static_cast<uint64_t>(*columns), width);
    };
    if (otherTile.columns > 0 && padded(otherTile.columns) < padded(tile.columns))
      return otherTile;
    SumsTile narrow = tile;
    narrow.columns = static_cast<unsigned>(std::min<uint64_t>(tile.columns, padded(vectorLanes)));
    return narrow;
  }
  bool widensBf16() const { return products == Bf16Products::Widened; }
};

/// This machine's, as in llvm::Triple.
std::string hostArchitecture();

/// Those that have variants.
std::vector<std::string> cpuArchitectures();

/// The variants of an architecture, best first; the last one runs on all of its processors. Empty
/// for an architecture without any.
llvm::ArrayRef<CpuVariant> cpuVariants(llvm::StringRef architecture);

/// The variant of that name, of any architecture; null for none.
const CpuVariant *findCpuVariant(llvm::StringRef name);

} // namespace halftone::cpu

#endif
