// SPDX-License-Identifier: Apache-2.0
// Products of codes: scales as factors of their sums (P88 of docs/spec/precision.md).
#ifndef HALFTONE_PASSES_FACTORSCALES_H
#define HALFTONE_PASSES_FACTORSCALES_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Which scales become factors: those of f32, as their meaning has it, or powers of two, too, which
/// changes no bit but where a sum leaves f32's range.
enum class FactoredScales { F32, All };

/// Whether the scales of `contract`'s operand (0: lhs, 1: rhs), whose numbers that map makes, are
/// factors of its sums: they differ along none, and no sum goes on from one that was multiplied.
bool areFactors(ContractOp contract, unsigned operand, MapOp numbers);

/// Lets contractions of one graph read codes. Each has its copy in bf16, an exact cast of the 8-bit
/// codes, which readers of one value share.
class CodeReaders {
public:
  explicit CodeReaders(mlir::OpBuilder &builder) : builder(builder) {}

  /// Has `contract` read the codes of operands that are codes times scales, and a map behind it,
  /// which takes its place for its readers, multiply the sums by the product of both factors. Says
  /// whether there was such an operand. Where the scales of one are no factors of sums, it fails
  /// with a diagnostic if they are of f32, and otherwise leaves the operand as it is.
  llvm::FailureOr<bool> readCodes(ContractOp contract, FactoredScales scales);

private:
  mlir::Value codesOf(MapOp numbers);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Operation *, mlir::Value> copies; ///< by the map that makes numbers
};

} // namespace halftone::ir

#endif
