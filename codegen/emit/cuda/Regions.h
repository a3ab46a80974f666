// SPDX-License-Identifier: Apache-2.0
// Scalar regions as CUDA statements.
#ifndef HALFTONE_EMIT_CUDA_REGIONS_H
#define HALFTONE_EMIT_CUDA_REGIONS_H

#include "codegen/ir/Dialect.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::ir {

/// What CUDA calls a scalar type; empty for a type that kernels cannot hold.
llvm::StringRef cudaType(mlir::Type type);

/// The product of the dimensions as a `long long` expression; a symbol is a variable `symbol_NAME`.
std::string cudaProduct(llvm::ArrayRef<mlir::Attribute> dims);

/// Expressions that stand for values: what surrounds a region binds its arguments and the
/// operations whose value it provides; everything else is printed as a statement that defines
/// `v<position in the block>`.
using CudaNames = llvm::DenseMap<mlir::Value, std::string>;

/// Prints one statement for every operation of `block` that `roots` need and `names` lacks, in the
/// block's order, each line after `indent`. Fails with a diagnostic at an operation without CUDA
/// text, or at a block argument that has no name, which `scope` explains: "is not the same in the
/// whole row".
mlir::LogicalResult printScalars(mlir::Block &block, mlir::ValueRange roots, CudaNames &names,
                                 llvm::StringRef indent, llvm::StringRef scope,
                                 llvm::raw_ostream &out);

} // namespace halftone::ir

#endif
