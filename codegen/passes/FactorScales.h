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

/// Lets contractions of one graph read codes. Those of 8 bits have a copy in 16 bits, an exact
/// cast, which readers of one value share; those of 16 bits are read as they are (P100).
class CodeReaders {
public:
  explicit CodeReaders(mlir::OpBuilder &builder) : builder(builder) {}

  /// Has `contract` read the codes of operands that are codes times scales, and a map behind it,
  /// which takes its place for its readers, multiply the sums by the product of both factors. Says
  /// whether there was such an operand. Where the scales of one are no factors of sums, it fails
  /// with a diagnostic if they are of f32, and otherwise leaves the operand as it is.
  llvm::FailureOr<bool> readCodes(ContractOp contract, FactoredScales scales);

private:
  mlir::Value codesOf(MapOp numbers, Element held);

  mlir::OpBuilder &builder;
  /// By the map that makes numbers, and by what they are held in.
  llvm::DenseMap<std::pair<mlir::Operation *, int>, mlir::Value> copies;
};

} // namespace halftone::ir

#endif
