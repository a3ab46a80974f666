// SPDX-License-Identifier: Apache-2.0
// Operands whose blocks are multiplied by a Hadamard matrix with signs before they are scaled:
// P105 and P106 of docs/spec/precision.md.
#ifndef HALFTONE_PASSES_ROTATION_H
#define HALFTONE_PASSES_ROTATION_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

/// The map that leaves x, of f32, in blocks of 16 as `scaling` has them, times the matrix; a block
/// that ends before its 16th element stays as it is.
MapOp rotated(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
              const encoding::Scaling &scaling);

/// That it is such a map, or a cast beside it: a part of the layer, and no step of the rounding of
/// what it leaves.
void noteRotation(mlir::Operation *op);
bool isRotation(mlir::Operation *op);

/// P106: says on a product of a linear or matmul if it multiplies an operand in rotated blocks by
/// one that is not rotated, or sums over one across its blocks.
mlir::LogicalResult checkRotations(ContractOp contract);

} // namespace halftone::ir

#endif
