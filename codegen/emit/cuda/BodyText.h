// SPDX-License-Identifier: Apache-2.0
// The generated part of a kernel's text: `struct Body`, which a skeleton of kernels/ is
// instantiated with.
#ifndef HALFTONE_EMIT_CUDA_BODYTEXT_H
#define HALFTONE_EMIT_CUDA_BODYTEXT_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Whether the elements of a pointwise or flat kernel know neither row nor column, so that the
/// domain counts as one row.
bool isCollapsed(KernelOp kernel);

/// Prints `struct Body { ... };`. Its data members are named as the entry's parameters, and `rows`,
/// `elements` (when collapsed), `depth` (contractions).
mlir::LogicalResult printBody(KernelOp kernel, CudaPlanAttr plan,
                              llvm::ArrayRef<std::string> symbols, llvm::raw_ostream &out);

} // namespace halftone::ir

#endif
