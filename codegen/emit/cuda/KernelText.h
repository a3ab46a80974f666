// SPDX-License-Identifier: Apache-2.0
// A kernel operation as a complete CUDA text.
// The entry is `extern "C" __global__ void halftone_NAME(inputs..., stored results..., finished
// results..., workspace if it has a finish or splits its sum, one long long per symbol of the
// model)`. Where a macro HALFTONE_SYMBOL_batch is defined, the text is for that batch alone, and
// the argument is not read. A module that holds a kernel with a finish must not run that kernel
// twice at the same time: its blocks count themselves in a variable of the module.
#ifndef HALFTONE_EMIT_CUDA_KERNELTEXT_H
#define HALFTONE_EMIT_CUDA_KERNELTEXT_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// The entry's name: "halftone_" and the kernel's, since a kernel may be called as a function of
/// CUDA, such as norm.
std::string cudaEntryName(KernelOp kernel);

/// The text under a plan, self-contained and the same in every run. `symbols` are all symbols of
/// the model in the manifest's order.
mlir::FailureOr<std::string> emitCudaText(KernelOp kernel, CudaPlanAttr plan, llvm::StringRef model,
                                          llvm::StringRef version,
                                          llvm::ArrayRef<std::string> symbols);

} // namespace halftone::ir

#endif
