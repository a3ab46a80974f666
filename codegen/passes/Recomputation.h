// SPDX-License-Identifier: Apache-2.0
// The forward pass of a graph as what the backward pass reads of it: what may be computed again,
// what that costs, and what it takes to keep.
#ifndef HALFTONE_PASSES_RECOMPUTATION_H
#define HALFTONE_PASSES_RECOMPUTATION_H

#include "codegen/ir/Dialect.h"
#include "codegen/passes/RecomputationSteps.h"
#include "codegen/plan/AssumedSizes.h"

namespace halftone::ir {

/// Whether `op` is of the forward pass or of its losses; false for null.
bool isForward(mlir::Operation *op);

bool isSource(mlir::Operation *op);

/// The operation under the casts that round its result.
mlir::Operation *rootOf(mlir::Value value);

/// Where the backward pass reads a value. A state that takes it reads it as it was (D7).
llvm::SmallVector<mlir::OpOperand *> backwardUses(mlir::Value value);

/// About how many instructions a scalar operation takes: one, or for a division, a square root or a
/// function of math so many.
int costOf(mlir::Operation &scalar);
inline constexpr int kCostly = 9;

struct ForwardPass {
  SavedGraph saved;
  llvm::DenseMap<mlir::Operation *, int32_t> nodes; ///< by root
  double operations = 0; ///< of a step, forward and backward, that computes no more again
};

/// Of a training graph whose cheap values are chosen already. Operations are scalar ones at the
/// sizes that are assumed: two for each product of a contraction.
ForwardPass readForwardPass(GraphOp graph, const AssumedSizes &sizes);

} // namespace halftone::ir

#endif
