// SPDX-License-Identifier: Apache-2.0
// Batched products around a map over rows, as attention's: those that it reads and those that read
// what it gives, with casts between. What runs in parts (RunInParts) and what becomes one kernel
// (JoinProducts) is found so.
#ifndef HALFTONE_PASSES_ROWPRODUCTS_H
#define HALFTONE_PASSES_ROWPRODUCTS_H

#include "codegen/ir/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::ir {

class RowProducts {
public:
  explicit RowProducts(MapOp rows) : rows(rows) {}

  /// Whether there are some, of one batch, and nothing else reads what passes between them.
  bool find();
  /// The product under casts that a value is, in this batch; null where it is none.
  ContractOp findProduct(mlir::Value value);
  /// The first member, or the last.
  mlir::Operation *edge(bool isFirst);
  /// What stands between members goes before them, or behind where it needs one.
  void gather();

  MapOp rows;
  int64_t axes = 0; ///< of the batch
  llvm::SmallVector<mlir::Attribute> dims;
  llvm::SetVector<mlir::Operation *> members;
  llvm::SetVector<mlir::Operation *> leaving; ///< those that others read

private:
  bool addProducer(mlir::Value value);
  bool addUsers(mlir::Value value);
};

} // namespace halftone::ir

#endif
