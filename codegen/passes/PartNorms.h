// SPDX-License-Identifier: Apache-2.0
// Sums over parts of the flat buffers, such as a parameter's norm, and what each gives all of its
// elements: U15.
#ifndef HALFTONE_PASSES_PARTNORMS_H
#define HALFTONE_PASSES_PARTNORMS_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

/// Whole parameters that lie one behind another, in elements.
struct FlatPart {
  int64_t begin = 0, end = 0;
};

/// Blocks of a flat buffer of so many elements, a multiple of kBlock; every part begins and ends at
/// one.
class PartNorms {
public:
  static constexpr int64_t kBlock = 1024;
  /// More would be rows that no kernel sums.
  static constexpr int64_t kMostElements = kBlock << 20;

  PartNorms(mlir::OpBuilder &builder, mlir::Location loc, int64_t elements, Phase phase)
      : builder(builder), loc(loc), elements(elements), phase(phase) {}

  /// Of every block the sum of each value that `summands` yields for an element; its arguments are
  /// elements of `operands`, which are flat, scalars or hold one value a block.
  llvm::SmallVector<mlir::Value> sumBlocks(llvm::StringRef label, mlir::ValueRange operands,
                                           unsigned sums, ScalarCode summands);

  /// What `number` makes of a part's index and its sums, at all of its blocks; 0 where no part is.
  using Number = llvm::function_ref<mlir::Value(Scalars &, mlir::Value part, mlir::ValueRange)>;
  mlir::Value spread(llvm::StringRef label, mlir::ValueRange blockSums,
                     llvm::ArrayRef<FlatPart> parts, Number number);

  /// The constant of the part whose index is `part`, from `first` on: parts are few.
  static mlir::Value choose(Scalars &s, mlir::Value part, llvm::ArrayRef<double> constants);

  /// How an element of a flat buffer, whose domain is its rows or all of it in one, reads what it,
  /// a scalar or its block has, blocks being of as many elements as the operand has too few.
  static llvm::SmallVector<AccessAttr> accesses(TensorType domain, mlir::ValueRange operands);

private:
  mlir::Value asBlocks(mlir::Value flat);
  TensorType type(llvm::ArrayRef<int64_t> dims);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t elements;
  Phase phase;
};

} // namespace halftone::ir

#endif
