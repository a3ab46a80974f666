// SPDX-License-Identifier: Apache-2.0
// Copies of codes for products by warp groups, which multiply 8 bits that lie along the sum alone.
#ifndef HALFTONE_PASSES_TRANSPOSEDCODES_H
#define HALFTONE_PASSES_TRANSPOSEDCODES_H

#include <array>

#include "codegen/ir/Dialect.h"
#include "codegen/plan/AssumedSizes.h"
#include "codegen/plan/Chips.h"

namespace halftone::ir {

/// Of one graph, whose products that read the same codes in one phase share a copy.
class TransposedCodes {
public:
  /// With no chip there are no copies, and no product lies across.
  TransposedCodes(mlir::OpBuilder &builder, const Chip *chip, const AssumedSizes &sizes)
      : builder(builder), chip(chip), sizes(sizes) {}

  /// Why the operands that lie across the sum, whose codes these are, are not turned; empty where
  /// they are, or where there are none. Beside numbers of f32, which blocks with such scales have,
  /// copies always gain.
  std::string whyNot(ContractOp contract, std::array<mlir::Value, 2> codes,
                     bool areBesideF32 = false) const;
  /// Has the product read copies of codes that lie across its sum.
  void turn(ContractOp contract);
  /// The copy along the sum of an operand's codes, which lie across it, as long as a multiple of
  /// 16; or of what blocks of codes have, so long.
  mlir::Value turned(ContractOp contract, mlir::Value codes, mlir::Attribute length = {});

private:
  bool gains(ContractOp contract, std::array<mlir::Value, 2> codes) const;
  double extent(llvm::ArrayRef<mlir::Attribute> dims) const;

  mlir::OpBuilder &builder;
  const Chip *chip;
  const AssumedSizes &sizes;
  llvm::DenseMap<std::pair<mlir::Value, Phase>, mlir::Value> copies;
};

} // namespace halftone::ir

#endif
