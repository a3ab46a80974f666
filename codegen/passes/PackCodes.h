// SPDX-License-Identifier: Apache-2.0
// Products of codes of 4 bits in blocks, as chips with such products read them: packed, with a word
// of scales for every 64 places of the sum (decisions/0068).
#ifndef HALFTONE_PASSES_PACKCODES_H
#define HALFTONE_PASSES_PACKCODES_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// The codes of one operand, wherever they lie, and the scales of their blocks.
struct CodesInBlocks {
  MapOp numbers; ///< which it makes of them
  bool alongSum; ///< whether the sum is over its last dimension
};

class CodePacker {
public:
  explicit CodePacker(mlir::OpBuilder &builder) : builder(builder) {}

  /// Has a scaled_contract of packed codes take the contraction's place. Says why not, or nothing.
  std::string multiply(ContractOp contract, CodesInBlocks lhs, CodesInBlocks rhs);

private:
  struct Packed {
    mlir::Value words, scales;
  };
  Packed pack(CodesInBlocks operand, int64_t places);
  mlir::Value multiplyBehind(ContractOp contract, mlir::Value sum,
                             llvm::ArrayRef<mlir::Value> factors);

  mlir::OpBuilder &builder;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Packed>
      known; ///< by numbers and direction
};

} // namespace halftone::ir

#endif
