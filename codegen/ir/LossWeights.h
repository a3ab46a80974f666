// SPDX-License-Identifier: Apache-2.0
// What losses under weights share: D70 to D73 of docs/spec/description.md.
#ifndef HALFTONE_IR_LOSSWEIGHTS_H
#define HALFTONE_IR_LOSSWEIGHTS_H

#include "codegen/ir/Forms.h"

namespace halftone::ir {

/// D of D71: the sum of `weightOf`, or without it of `inputs`, over the elements of `inputs`; times
/// the columns of `rows`, where that is given.
mlir::Value makeDivisor(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                        ScalarCode weightOf = nullptr, TensorType rows = {});

/// A summand under its weight.
mlir::Value weigh(Scalars &s, mlir::Value weight, mlir::Value summand);
/// The gradient, +0 where the weight is 0.
mlir::Value passOver(Scalars &s, mlir::Value weight, mlir::Value gradient);

//===--- Losses of single elements: `operands` are x, what has its shape, and maybe a weight
//---===//

/// D70: whether the last operand is a weight for every row.
bool weighsRows(mlir::ValueRange operands);
/// What such a loss results in, before the mean.
TensorType getSummands(mlir::ValueRange operands);
llvm::SmallVector<AccessAttr> getLossAccesses(mlir::Operation *op);
/// Whether the shapes of operands and result fit.
llvm::LogicalResult verifySummands(mlir::Operation *op);
/// The map that it is; `code` is the loss of one element, `weight` null or the last operand.
llvm::SmallVector<mlir::Value> lowerLoss(mlir::Operation *op, mlir::OpBuilder &builder,
                                         llvm::StringRef label, mlir::Value weight,
                                         ScalarCode code);
/// Its D.
mlir::Value makeElementDivisor(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value weight);
/// Of its gradients' map, whose last operands are the weight, if there is one, and what arrives.
Space getGradientSpace(mlir::Operation *op, unsigned gradients);

//===--- Losses of rows: the first `full` operands have elements, the others a value for every row
//---===//

/// What such a loss results in, before the mean.
TensorType getRowSummands(mlir::ValueRange operands);
llvm::SmallVector<AccessAttr> getRowLossAccesses(mlir::Operation *op, unsigned full);
/// Whether what has a value for every row has as many as the first operand has rows.
llvm::LogicalResult verifyRowSummands(mlir::Operation *op, unsigned full);
/// Of its gradients' map, whose last operand is what arrives: of the first `full` operands.
Space getRowGradientSpace(mlir::Operation *op, unsigned full);

} // namespace halftone::ir

#endif
