// SPDX-License-Identifier: Apache-2.0
// From one kernel to native loops: each kernel and variant becomes a function with the C signature
// of manifest::Kernel's CPU entries, and a second one when it has a finish.
#ifndef HALFTONE_EMIT_CPU_LOOPNESTS_H
#define HALFTONE_EMIT_CPU_LOOPNESTS_H

#include "codegen/emit/cpu/Variants.h"
#include "codegen/ir/Dialect.h"

namespace halftone::cpu {

/// The variant whose code runs the kernel where `variant` is asked for: another one where that
/// multiplies bf16 as such and the kernel has no such products.
const CpuVariant &codeVariant(ir::KernelOp kernel, const CpuVariant &variant);

/// Names of a kernel's functions: `<name>__<variant>` and `<name>__<variant>_finish`, of its
/// codeVariant.
std::string entryName(ir::KernelOp kernel, const CpuVariant &variant);
std::string finishName(ir::KernelOp kernel, const CpuVariant &variant);

/// Appends the functions of `kernel` for `variant` to `destination`, unless they are there, in the
/// func, scf, arith, math, vector and llvm dialects. Every operation keeps its own rounding: no
/// fast-math flags, fma only where the body says so.
llvm::LogicalResult buildCpuKernel(ir::KernelOp kernel, const CpuVariant &variant,
                                   llvm::ArrayRef<std::string> symbols, mlir::ModuleOp destination);

} // namespace halftone::cpu

#endif
