// SPDX-License-Identifier: Apache-2.0
// Plans within a memory budget (P67): as few steps of ChooseSaved as the budget needs, by what
// arenas really take.
#ifndef HALFTONE_EMIT_MEMORYBUDGET_H
#define HALFTONE_EMIT_MEMORYBUDGET_H

#include "codegen/emit/ManifestBuilder.h"
#include "codegen/passes/Passes.h"

namespace halftone::ir {

using PlannedModule = mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>;

/// The module that `plan` makes of so many steps (PipelineOptions::steps): the first whose training
/// program keeps its activations, at the sizes that are assumed of symbols, within what the rules
/// say for what it is `resolved` for; -1 steps where they say nothing. Notes on the module, as
/// decisions, what was chosen. Diagnoses a budget that no number of steps meets, with the smallest
/// that can be.
PlannedModule planWithinBudget(const description::Description &description,
                               const ResolvedFor &resolved, const AssumedSizes &assumed,
                               mlir::MLIRContext *context,
                               llvm::function_ref<PlannedModule(int64_t steps)> plan);

} // namespace halftone::ir

#endif
