// SPDX-License-Identifier: Apache-2.0
// The formats that kernels store but do not compute in, and casts from and to them, as calls into
// kernels/include/halftone/kernels/convert.cuh and float8.cuh.
#ifndef HALFTONE_EMIT_CUDA_CASTS_H
#define HALFTONE_EMIT_CUDA_CASTS_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// What CUDA calls a narrow type; empty for any other.
llvm::StringRef storedType(mlir::Type type);

/// The text of an arith.extf or arith.truncf, `$a` being the operand; empty for other operations,
/// and for casts between other formats or by other rounding than F2 has.
std::string castText(mlir::Operation *op);

/// A number of a narrow type, a NaN by F3.
std::string storedConstant(mlir::FloatAttr value);

/// Whether the kernel's text needs integers.cuh.
bool readsDelivered(KernelOp kernel);

/// Whether the kernel's text needs convert.cuh.
bool usesCasts(KernelOp kernel);

/// Whether it needs float8.cuh, too.
bool usesFloat8(KernelOp kernel);

} // namespace halftone::ir

#endif
