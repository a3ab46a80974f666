// SPDX-License-Identifier: Apache-2.0
// A kernel operation as a complete CUDA text, and how it is launched.
// The entry is `extern "C" __global__ void halftone_NAME(inputs..., stored results..., finished
// results..., workspace if it has a finish, one long long per symbol of the model)`. A module that
// holds a kernel with a finish must not run that kernel twice at the same time: its blocks count
// themselves in a variable of the module.
#ifndef HALFTONE_EMIT_CUDA_KERNELTEXT_H
#define HALFTONE_EMIT_CUDA_KERNELTEXT_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// blocks = the product over the axes of ceil(product of `extent` / `tile`), in one grid dimension.
struct CudaLaunch {
  struct Axis {
    llvm::SmallVector<mlir::Attribute> extent;
    int64_t tile = 1;
  };
  int64_t threads = 0;
  llvm::SmallVector<Axis> axes;
  int64_t sharedBytes = 0; ///< dynamic shared memory
};

/// The entry's name: "halftone_" and the kernel's, since a kernel may be called as a function of
/// CUDA, such as norm.
std::string cudaEntryName(KernelOp kernel);

/// The numbers of `cuda_tile`, by skeleton: contraction {rows, columns, depth, rows of a thread,
/// columns of a thread}; column {columns of a block, chunks at once}; all others {threads}. None of
/// them changes a bit of the results.
llvm::SmallVector<int64_t> defaultCudaTile(KernelOp kernel);

/// The launch under the kernel's `cuda_tile`; fails with a diagnostic when there is none or it fits
/// no launch.
mlir::FailureOr<CudaLaunch> cudaLaunch(KernelOp kernel);

/// The text, self-contained and the same in every run. `symbols` are all symbols of the model in
/// the manifest's order.
mlir::FailureOr<std::string> emitCudaText(KernelOp kernel, llvm::StringRef model,
                                          llvm::StringRef version,
                                          llvm::ArrayRef<std::string> symbols);

} // namespace halftone::ir

#endif
