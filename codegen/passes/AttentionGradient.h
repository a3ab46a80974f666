// SPDX-License-Identifier: Apache-2.0
// The gradient of attention as JoinProducts finds it: two batched products, a map of their pairs
// that reduces rows, and the three products that read what it leaves.
#ifndef HALFTONE_PASSES_ATTENTIONGRADIENT_H
#define HALFTONE_PASSES_ATTENTIONGRADIENT_H

#include "codegen/passes/RowProducts.h"
#include "codegen/skeletons/attention/Attention.h"

namespace halftone::ir {

/// As a skeleton asks; `operands` is for people.
skeletons::AttentionProduct productOf(llvm::StringRef operands, ContractOp product);

class AttentionGradient {
public:
  explicit AttentionGradient(RowProducts &around) : around(around) {}

  /// Whether the map reads two products.
  bool find();
  /// Why chips run it in kernels apart; empty where they need not.
  std::string whyNot();
  /// Likewise, one chip.
  std::string whyNotOn(llvm::StringRef chip);
  /// Makes of it what becomes two kernels: one over the rows of the map, which leaves what it
  /// reduces of them, and one over its columns, which computes both products again and reads that.
  /// What forward reduced of the same they read of it (KeptReductions.h).
  void mark(llvm::StringRef name);

private:
  std::string findProducts();
  MapOp copyRows(mlir::OpBuilder &builder, ContractOp first, ContractOp second,
                 llvm::ArrayRef<mlir::Value> reductions, mlir::ValueRange reduced,
                 mlir::ValueRange yields);

  RowProducts &around;
  ContractOp scores, arriving;            ///< those that the map reads
  ContractOp ofQueries, ofKeys, ofValues; ///< those that read it, by whose gradient they are
};

} // namespace halftone::ir

#endif
