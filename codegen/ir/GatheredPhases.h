// SPDX-License-Identifier: Apache-2.0
// Rows of windows of which the same taps lie between the gradients of a stride
// (docs/decisions/0063).
#ifndef HALFTONE_IR_GATHEREDPHASES_H
#define HALFTONE_IR_GATHEREDPHASES_H

#include "codegen/ir/GatheredLines.h"

namespace halftone::ir {

/// Of a gathered lhs that is outside unless remainders of places are 0, as where the windows that
/// hold place t begin at every s: with t modulo s, the row's phase, it is known which taps those
/// are. Every tap is of one phase.
struct Phases {
  llvm::SmallVector<int64_t> strides; ///< of each axis that rows are counted by; 1 for no stride
  llvm::SmallVector<mlir::Attribute> rows; ///< those axes of one phase, or of the longest
  llvm::SmallVector<int64_t> taps;         ///< all, ascending in a phase and phase after phase
  llvm::SmallVector<int64_t> firsts; ///< where each phase's begin, row-major, and behind the last
  int64_t tapLength = 0;             ///< elements of a tap

  int64_t count() const { return static_cast<int64_t>(firsts.size()) - 1; }
};

/// Of an access Lhs; nothing where there is one phase alone, or too many for tables.
std::optional<Phases> findPhases(AccessAttr access, const Axes &axes, unsigned batchAxes);

} // namespace halftone::ir

#endif
