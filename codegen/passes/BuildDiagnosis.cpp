// SPDX-License-Identifier: Apache-2.0
// A copy of the training graph, forward to backward, for the search of the first value that is not
// finite.
#include "codegen/passes/Metrics.h"
#include "codegen/passes/Passes.h"
#include "halftone/manifest/phases.hpp"

namespace halftone::ir {
#define GEN_PASS_DEF_BUILDDIAGNOSIS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

bool isReplayed(Operation *op) {
  return manifest::form_of(static_cast<manifest::Phase>(getPhase(op))).in_diagnosis;
}

/// And what is read by it alone.
void eraseWithSources(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> sources;
  for (Value operand : op->getOperands())
    sources.insert(operand.getDefiningOp());
  op->erase();
  for (Operation *source : sources)
    if (isa<Layer, KernelForm, InputOp>(source) && source->use_empty())
      eraseWithSources(source);
}

struct BuildDiagnosisPass : halftone::ir::impl::BuildDiagnosisBase<BuildDiagnosisPass> {
  void runOnOperation() override {
    SmallVector<GraphOp> graphs(getOperation().getOps<GraphOp>());
    for (GraphOp graph : graphs) {
      if (!graph.isTraining())
        continue;
      OpBuilder builder(&getContext());
      builder.setInsertionPointToEnd(getOperation().getBody());
      auto copy = cast<GraphOp>(builder.clone(*graph.getOperation()));
      copy.setName(kDiagnosis);
      // A metric spoils no step, be it infinite or NaN.
      for (LossOp loss : llvm::to_vector(copy.getBody().front().getOps<LossOp>()))
        if (isMetric(loss))
          eraseWithSources(loss);
      // Nor does the gradient of an input.
      for (auto gradient : llvm::to_vector(copy.getBody().front().getOps<InputGradientOp>()))
        eraseWithSources(gradient);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(copy.getBody().front())))
        if (!isReplayed(&op))
          op.erase();
    }
  }
};

} // namespace
} // namespace halftone::ir
