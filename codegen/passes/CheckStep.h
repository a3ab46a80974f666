// SPDX-License-Identifier: Apache-2.0
// U0 to U2: what the end of a step computes once, before anything is updated.
#ifndef HALFTONE_PASSES_CHECKSTEP_H
#define HALFTONE_PASSES_CHECKSTEP_H

#include "codegen/passes/UpdateForms.h"

namespace halftone::ir {

struct CheckedStep {
  mlir::Value finite, coefficient, inverse;
  mlir::Value learningRate;               ///< null without a schedule
  mlir::Value averageShare;               ///< null without averages
  llvm::SmallVector<mlir::Value> carried; ///< the optimizer's, after this step
  mlir::Value clips = {};        ///< a coefficient for every block; null without clips of groups
  mlir::Value microBatches = {}; ///< the hyperparameter
};

/// Builds it, and what is carried to the next step, of all trained parameters' gradients.
CheckedStep checkStep(UpdateForms &of, mlir::Value gradients);

} // namespace halftone::ir

#endif
