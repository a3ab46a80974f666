// SPDX-License-Identifier: Apache-2.0
// From one kernel to native loops: each kernel and variant becomes a function with the C signature
// of manifest::Kernel's CPU entries, and a second one when it has a finish.
#ifndef HALFTONE_EMIT_CPU_LOOPNESTS_H
#define HALFTONE_EMIT_CPU_LOOPNESTS_H

#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"
#include "halftone/manifest/manifest.hpp"

namespace halftone::cpu {

/// Names of a kernel's functions: `<name>__<variant>` and `<name>__<variant>_finish`.
std::string entryName(ir::KernelOp kernel, const CpuVariant &variant);
std::string finishName(ir::KernelOp kernel, const CpuVariant &variant);

/// The tile that PlanTiles gives a kernel: rows per task (pointwise and row), elements per task
/// (pointwise that is flattened), columns (column), chunks of 1024 elements (flat), or rows and
/// columns (contraction).
llvm::SmallVector<int64_t> defaultCpuTile(ir::KernelOp kernel);

/// The axes of a kernel's tasks, the last one fastest. `symbols` are Manifest::symbols.
std::vector<manifest::TaskAxis> taskAxes(ir::KernelOp kernel, llvm::ArrayRef<std::string> symbols);

/// Appends the functions of `kernel` for `variant` to `destination`, in the func, scf, arith, math,
/// vector and llvm dialects. Every operation keeps its own rounding: no fast-math flags, fma only
/// where the body says so.
llvm::LogicalResult buildCpuKernel(ir::KernelOp kernel, const CpuVariant &variant,
                                   llvm::ArrayRef<std::string> symbols, mlir::ModuleOp destination);

} // namespace halftone::cpu

#endif
