// SPDX-License-Identifier: Apache-2.0
// A kernel operation as a complete CUDA text, and how it is launched.
// The entry is `extern "C" __global__ void halftone_NAME(inputs..., stored results..., finished
// results..., workspace if it has a finish or splits its sum, one long long per symbol of the
// model)`. Where a macro HALFTONE_SYMBOL_batch is defined, the text is for that batch alone, and
// the argument is not read. A module that holds a kernel with a finish must not run that kernel
// twice at the same time: its blocks count themselves in a variable of the module.
#ifndef HALFTONE_EMIT_CUDA_KERNELTEXT_H
#define HALFTONE_EMIT_CUDA_KERNELTEXT_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// blocks = the product over the axes of ceil(product of `extent` / `tile`), times the number of
/// splits, in one grid dimension.
struct CudaLaunch {
  struct Axis {
    llvm::SmallVector<mlir::Attribute> extent;
    int64_t tile = 1;
  };
  int64_t threads = 0;
  llvm::SmallVector<Axis> axes;
  int64_t sharedBytes = 0; ///< dynamic shared memory
  /// A part of the workspace: bytes * the product of the axes (* the number of splits).
  struct Work {
    int64_t bytes = 0;
    llvm::SmallVector<Axis> axes;
    bool perSplit = false, zeroed = false;
  };
  llvm::SmallVector<Work> workspace;
};

/// The entry's name: "halftone_" and the kernel's, since a kernel may be called as a function of
/// CUDA, such as norm.
std::string cudaEntryName(KernelOp kernel);

/// The simt plan with the kernel's `cuda_tile`, or with one that suits its shape: any chip can run
/// it, and none of its numbers changes a bit of the results.
CudaPlanAttr defaultCudaPlan(KernelOp kernel);

/// Whether an element needs lhs's sum over k, so that no part of the sum can be left to others.
bool elementsUseLhsSum(KernelOp kernel);

/// Of an element of either operand in shared memory on tensor cores, which take two different
/// formats as tf32.
int64_t tensorElementBytes(KernelOp kernel);

/// Shared memory of a block under the tile of a tensor plan (tensor_contraction.cuh).
int64_t tensorSharedBytes(llvm::ArrayRef<int64_t> tile, int64_t elementBytes);

/// The launch under a plan; fails with a diagnostic when the plan fits no launch.
mlir::FailureOr<CudaLaunch> cudaLaunch(KernelOp kernel, CudaPlanAttr plan);

/// The text under a plan, self-contained and the same in every run. `symbols` are all symbols of
/// the model in the manifest's order.
mlir::FailureOr<std::string> emitCudaText(KernelOp kernel, CudaPlanAttr plan, llvm::StringRef model,
                                          llvm::StringRef version,
                                          llvm::ArrayRef<std::string> symbols);

} // namespace halftone::ir

#endif
