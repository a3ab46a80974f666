// SPDX-License-Identifier: Apache-2.0
// The reductions of a body over its row, in stages where one needs results of another, and how a
// Body of CUDA says them: for every skeleton whose bodies have some.
#ifndef HALFTONE_SKELETONS_ROWREDUCTIONS_H
#define HALFTONE_SKELETONS_ROWREDUCTIONS_H

#include <functional>

#include "codegen/skeletons/Skeleton.h"

namespace halftone::ir {
class BodyPrinter;
} // namespace halftone::ir

namespace halftone::skeletons {

/// A body's reductions by stage: those of one need results of earlier stages alone.
using Stages = llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>;

bool isReduction(mlir::Operation *op);
Stages findStages(mlir::Block &block);

/// How many values that are the same in a whole row a Body without reductions keeps.
int64_t countRowValues(KernelOp kernel);

/// Names what is reduced as elements of `reduced`, and returns what prints stages, terms and row
/// values behind compute. `form.before` are parameters of the terms, too.
std::function<mlir::LogicalResult(ir::BodyPrinter &)> addReductions(ir::BodyForm &form,
                                                                    KernelOp kernel);
/// Likewise of a body without reductions: the row values alone.
std::function<mlir::LogicalResult(ir::BodyPrinter &)> addRowValues(ir::BodyForm &form,
                                                                   KernelOp kernel);

} // namespace halftone::skeletons

#endif
