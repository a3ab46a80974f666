// SPDX-License-Identifier: Apache-2.0
// What the Body of a contraction has beyond others where a matrix is gathered
// (docs/decisions/0037): kernels/README.md says what the skeleton asks.
#ifndef HALFTONE_EMIT_CUDA_GATHEREDMATRIX_H
#define HALFTONE_EMIT_CUDA_GATHEREDMATRIX_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Nothing of a kernel that gathers none.
std::string gatheredConstants(KernelOp kernel);
/// What of such a matrix's images is counted in 32 bits and depends on symbols, each a product:
/// manifest::kMostOfImage at most.
llvm::SmallVector<llvm::SmallVector<mlir::Attribute>> countedInImages(KernelOp kernel);
void printGatheredMatrix(KernelOp kernel, llvm::raw_ostream &out);

} // namespace halftone::ir

#endif
