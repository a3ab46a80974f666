// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_EMIT_CPU_LOWERING_H
#define HALFTONE_EMIT_CPU_LOWERING_H

#include <memory>

#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace halftone::cpu {

/// LLVM IR of what buildCpuKernel appended to `module`, each function for its variant's processor;
/// null after a diagnostic.
std::unique_ptr<llvm::Module> lowerToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace halftone::cpu

#endif
