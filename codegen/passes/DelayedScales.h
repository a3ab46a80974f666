// SPDX-License-Identifier: Apache-2.0
// The states behind scales of earlier steps, and what a step does to them (P72, P73 of
// docs/spec/precision.md).
#ifndef HALFTONE_PASSES_DELAYEDSCALES_H
#define HALFTONE_PASSES_DELAYEDSCALES_H

#include "codegen/ir/Dialect.h"

namespace halftone::ir {

/// Replaces the AmaxOps of a training graph. All scales of one encoding lie in a vector [scales],
/// the largest magnitudes of the steps that they follow in a matrix [scales, history], whose
/// columns take turns; of a pass in one vector, each where its producer stores it. Operations are
/// built where `builder` is; `firstMicroBatch` and `microBatches` are the hyperparameters (M4).
void buildDelayedScales(GraphOp graph, mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value firstMicroBatch, mlir::Value microBatches);

} // namespace halftone::ir

#endif
