// SPDX-License-Identifier: Apache-2.0
// Turns every group of operations (Grouping.h) into one kernel (KernelBuilder.h), named and in
// order.
#include "codegen/ir/Scalars.h"
#include "codegen/passes/GatheredMatrices.h"
#include "codegen/passes/KernelBuilder.h"
#include "codegen/passes/Passes.h"
#include "codegen/skeletons/Skeletons.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::ir {
#define GEN_PASS_DEF_FORMKERNELS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

class KernelFormer {
public:
  KernelFormer(GraphOp graph, llvm::StringSet<> &names, bool fuse)
      : graph(graph), block(graph.getBody().front()), builder(graph.getContext()), names(names),
        fuse(fuse) {}

  LogicalResult run() {
    computeEveryElement();
    giveEverySinkAValueOfItsOwn();
    std::vector<KernelGroup> groups = groupOperations(graph, fuse);
    for (const KernelGroup &group : groups)
      if (group.ops.front()->hasAttr(kMaximumAttr))
        return group.ops.front()->emitOpError(
            "finds a maximum and is in no product's kernel: let maps over rows find it");
    SmallVector<Operation *> old, sinks, through;
    for (Operation &op : block) {
      if (isa<KernelForm>(op) || isGathered(&op))
        old.push_back(&op);
      else if (isa<OutputGradientOp, FlattenOp, ViewOp>(op))
        through.push_back(&op);
      else if (op.getNumResults() == 0)
        sinks.push_back(&op);
    }
    moveWhatIsReady(through); // views of sources
    builder.setInsertionPointToEnd(&block);
    for (const KernelGroup &group : groups) {
      KernelBuilder(builder, group).build(nameOf(group));
      moveWhatIsReady(through);
      builder.setInsertionPointToEnd(&block);
    }
    for (Operation *sink : sinks)
      sink->moveBefore(&block, block.end());
    for (Operation *op : llvm::reverse(old)) {
      op->dropAllUses();
      op->erase();
    }
    return success();
  }

private:
  /// Kernels other than attention's leave out no element, kept or not.
  void computeEveryElement() {
    for (auto map : block.getOps<MapOp>())
      for (auto kept : llvm::make_early_inc_range(map.getBody().front().getOps<KeptOp>()))
        if (!map->hasAttr(kJoinedAttr)) {
          kept.replaceAllUsesWith(kept.getKeeps());
          kept.erase();
        }
  }

  /// A sink's value is stored where the sink says, so it must come from a kernel and belong to that
  /// sink alone.
  void giveEverySinkAValueOfItsOwn() {
    llvm::SmallDenseSet<Value> claimed;
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (!isa<OutputOp, LossOp, StatisticOp, OutputGradientOp, InputGradientOp, FlattenOp,
               AssignOp>(op))
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        auto assign = dyn_cast<AssignOp>(op);
        if (assign && operand.get() == assign.getDestination() && operand.getOperandNumber() == 0)
          continue;
        if (isa<KernelForm>(operand.get().getDefiningOp()) && claimed.insert(operand.get()).second)
          continue;
        copyFor(operand, getPhase(op));
      }
    }
  }

  void copyFor(OpOperand &operand, Phase phase) {
    Operation *sink = operand.getOwner();
    builder.setInsertionPoint(sink);
    auto copy = makeMap(builder, sink->getLoc(), "copy", operand.get(), operand.get().getType(),
                        [](Scalars &, ValueRange a) { return SmallVector<Value>{a[0]}; });
    setPhase(copy, phase);
    operand.set(copy.getOutputs()[0]);
  }

  static void moveWhatIsReady(SmallVectorImpl<Operation *> &through) {
    llvm::SmallDenseSet<Operation *> waiting(through.begin(), through.end());
    llvm::erase_if(through, [&](Operation *op) {
      auto isReady = [&](Value v) {
        return !isa<KernelForm>(v.getDefiningOp()) && !waiting.contains(v.getDefiningOp());
      };
      if (!llvm::all_of(op->getOperands(), isReady))
        return false;
      waiting.erase(op);
      op->moveBefore(op->getBlock(), op->getBlock()->end());
      return true;
    });
  }

  std::string nameOf(const KernelGroup &group) {
    Operation *first = group.ops.front();
    std::string name = graph.isTraining() ? "" : (graph.getName() + "_").str();
    auto map = dyn_cast<MapOp>(first);
    if (group.phase == Phase::Check)
      name += "check";
    else if (group.phase == Phase::Refresh)
      name += "refresh";
    else if (map && getLayer(first).empty())
      name += map.getLabel();
    else if (getLayer(first).empty())
      name += stringifyPhase(group.phase);
    else
      name += getLayer(first);
    auto sum = dyn_cast<ReduceOp>(first);
    bool isNamed = map || (sum && sum.hasFinish());
    if (isNamed && first->hasAttr(kInternalAttr))
      name += ("_" + cast<KernelForm>(first).getNameInKernel()).str();
    std::optional<ContractionPass> pass;
    if (auto contract = dyn_cast<ContractOp>(first))
      pass = contract.getPass();
    else if (auto scaled = dyn_cast<ScaledContractOp>(first))
      pass = scaled.getPass();
    if (pass && *pass != ContractionPass::Forward)
      name += *pass == ContractionPass::InputGradient ? "_input_gradient" : "_weight_gradient";
    else if (auto reduce = dyn_cast<ReduceOp>(first); reduce && reduce.getPass())
      name += "_weight_gradient";
    else if (group.phase == Phase::LossBackward || group.phase == Phase::Backward)
      name += "_gradient";
    for (char &c : name)
      if (!llvm::isAlnum(c))
        c = '_';
    if (llvm::isDigit(name.front()))
      name.insert(name.begin(), 'k');
    std::string unique = name;
    for (int i = 2; !names.insert(unique).second; ++i)
      unique = name + "_" + std::to_string(i);
    return unique;
  }

  GraphOp graph;
  Block &block;
  OpBuilder builder;
  llvm::StringSet<> &names;
  bool fuse;
};

/// A kernel may write over what it reads element by element, and nothing else.
LogicalResult writesNothingThatItGathers(GraphOp graph) {
  for (auto assign : graph.getBody().front().getOps<AssignOp>())
    if (auto kernel = assign.getX().getDefiningOp<KernelOp>())
      for (auto [input, access] : llvm::zip(kernel.getInputs(), kernel.getInputAccesses()))
        if (getViewed(input) == getViewed(assign.getDestination()) &&
            cast<AccessAttr>(access).getKind() == AccessKind::General)
          return kernel.emitOpError("assigns to what it reads by a general access");
  return success();
}

struct FormKernelsPass : halftone::ir::impl::FormKernelsBase<FormKernelsPass> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    llvm::StringSet<> names;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      if (failed(KernelFormer(graph, names, fuse && graph.getName() != kDiagnosis).run()) ||
          failed(writesNothingThatItGathers(graph)))
        return signalPassFailure();
      for (Operation &op : graph.getBody().front())
        if (isa<KernelForm>(op)) {
          op.emitError("is left over: no kernel holds it");
          return signalPassFailure();
        }
    }
  }
};

} // namespace
} // namespace halftone::ir
