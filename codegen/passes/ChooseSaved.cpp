// SPDX-License-Identifier: Apache-2.0
// What the backward pass keeps from the forward pass, and what it computes again.
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_CHOOSESAVED
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Scalar operations that cost about one instruction; a division, a square root or a function of
/// math counts more.
constexpr int kCheapOperations = 8;

bool isForward(Operation *op) {
  return op && (getPhase(op) == Phase::Forward || getPhase(op) == Phase::Loss);
}

/// Whether computing `op` again costs less than keeping its result: elementwise and of few cheap
/// operations.
bool isCheap(Operation *op) {
  if (isa<ReluOp, AddOp, CastOp>(op))
    return true;
  auto pointwise = dyn_cast<PointwiseOp>(op);
  if (!pointwise || pointwise.getOutputs().size() != 1)
    return false;
  int cost = 0;
  for (Operation &inner : pointwise.getBody().front().without_terminator())
    cost += isa<arith::ConstantOp>(inner) ? 0
            : isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::CmpFOp,
                  arith::SelectOp, arith::MinimumFOp, arith::MaximumFOp, math::FmaOp, math::AbsFOp>(
                  inner)
                ? 1
                : kCheapOperations + 1;
  return cost <= kCheapOperations;
}

/// A backward operation that can take a recomputed value inside its own kernel. A contraction would
/// recompute it for every tile, and what another kernel stores must exist.
bool canRecomputeFor(OpOperand &use) {
  auto form = dyn_cast<KernelForm>(use.getOwner());
  return form && form.getOperandAccesses()[use.getOperandNumber()].getKind() == AccessKind::Full &&
         form.getSkeleton() != Skeleton::Column;
}

/// Kept in any case: a source, or a forward value that some backward operation needs from memory.
bool isKept(Value value) {
  Operation *producer = value.getDefiningOp();
  if (isa<InputOp, ParameterOp, StateOp>(producer))
    return true;
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return !isForward(use.getOwner()) && !canRecomputeFor(use);
  });
}

void recompute(Operation *op) {
  Value value = op->getResult(0);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!isForward(use.getOwner()))
      uses.push_back(&use);
  for (OpOperand *use : uses) {
    OpBuilder builder(use->getOwner());
    Operation *clone = builder.clone(*op);
    setPhase(clone, getPhase(use->getOwner()));
    clone->setAttr(kInlineAttr, builder.getUnitAttr());
    use->set(clone->getResult(0));
  }
}

struct ChooseSavedPass : halftone::ir::impl::ChooseSavedBase<ChooseSavedPass> {
  void runOnOperation() override {
    for (auto graph : getOperation().getOps<GraphOp>())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(graph.getBody().front()))) {
        if (!isForward(&op) || !isCheap(&op) || isa<OutputOp>(op))
          continue;
        bool usedLater = false, recomputable = true;
        for (OpOperand &use : op.getResult(0).getUses())
          if (!isForward(use.getOwner())) {
            usedLater = true;
            recomputable &= canRecomputeFor(use);
          }
        if (usedLater && recomputable && llvm::all_of(op.getOperands(), isKept))
          recompute(&op);
      }
  }
};

} // namespace
} // namespace halftone::ir
