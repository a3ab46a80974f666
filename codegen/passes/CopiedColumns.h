// SPDX-License-Identifier: Apache-2.0
// Results of kernels that are columns of their operands, as concatenations and slices are.
#ifndef HALFTONE_PASSES_COPIEDCOLUMNS_H
#define HALFTONE_PASSES_COPIEDCOLUMNS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Columns [begin, end) of a result: those of operand `input` from column `from` on.
struct CopiedColumns {
  unsigned input = 0;
  int64_t begin = 0, end = 0, from = 0;
};

struct CopiedRow {
  llvm::SmallVector<CopiedColumns> parts; ///< side by side, all of the row
  bool rounds = false; ///< widened and rounded back, which gives every NaN the one code of its own
};

/// What the kernel puts a stored result together of, whatever else it computes; nothing where it
/// computes the result.
std::optional<CopiedRow> findCopiedRow(KernelOp kernel, unsigned result);

/// Whether the kernel computes nothing but that row.
bool copiesAlone(KernelOp kernel);

/// A kernel before `copy`, which copies a row's parts, that copies these neighbours among them and
/// no others, to where they lie in it.
KernelOp copyColumns(KernelOp copy, llvm::ArrayRef<CopiedColumns> rest, bool rounds);

/// The kernel without one of its stored results, which nothing reads; it takes the place of the old
/// one.
KernelOp dropResult(KernelOp kernel, unsigned result);

} // namespace halftone::ir

#endif
