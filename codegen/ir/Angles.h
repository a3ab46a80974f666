// SPDX-License-Identifier: Apache-2.0
// What layers that speak of positions share: the cosines and sines of angles that grow with the
// position, a pair of elements each (D64, D66).
#ifndef HALFTONE_IR_ANGLES_H
#define HALFTONE_IR_ANGLES_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// Llama 3's: waves up to length / high stay, those from length / low on are stretched.
struct Stretch {
  double low, high, length;
};

/// On a map of turns, what tells it from another (DictionaryAttr).
inline constexpr llvm::StringLiteral kFrequenciesAttr = "halftone.frequencies";

/// The frequencies of pairs.
struct Frequencies {
  int64_t width; ///< elements, two a pair
  double base, factor = 1;
  std::optional<Stretch> stretch;
};

/// Whether `position`, if there is one, has an integer for every row of `x`; says on `op` if not.
llvm::LogicalResult verifyPosition(mlir::Operation *op, mlir::Value position, TensorType x);

/// The shape of the cosines of `pairs` pairs, and of their sines, for rows of `x`: a row for every
/// position, or for every time where there are none.
TensorType typeOfTurns(TensorType x, mlir::Value position, int64_t pairs);

/// How an element of x's shape reads them, `pair` being a function of the column.
AccessAttr readOfTurns(TensorType x, TensorType turns,
                       llvm::function_ref<mlir::AffineExpr(mlir::AffineExpr)> pair);

/// Cosines and sines, of one map for all layers of the graph with equal frequencies and positions:
/// that which there is, or a new one before `layer`.
llvm::SmallVector<mlir::Value> makeTurns(mlir::Operation *layer, mlir::OpBuilder &builder,
                                         const Frequencies &frequencies, mlir::Value position,
                                         TensorType type);

} // namespace halftone::ir

#endif
