// SPDX-License-Identifier: Apache-2.0
// What the backward pass keeps from the forward pass, and what it computes again.
#include "codegen/passes/Passes.h"
#include "codegen/passes/Recomputation.h"
#include "codegen/passes/ScaledRounding.h"
#include "mlir/IR/IRMapping.h"

namespace halftone::ir {
#define GEN_PASS_DEF_CHOOSESAVED
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// What a cheap operation costs at most.
constexpr int kCheapOperations = kCostly - 1;

/// The map that `op` is, if it is one alone; what is built to find out is put into `scratch`.
MapOp findMap(Operation *op, Block &scratch) {
  auto layer = dyn_cast<Layer>(op);
  if (!layer)
    return dyn_cast<MapOp>(op);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  layer.lower(builder);
  return llvm::hasSingleElement(scratch) ? dyn_cast<MapOp>(scratch.front()) : MapOp();
}

/// Whether computing `op` again costs less than keeping its result: elementwise and of few cheap
/// operations.
bool isCheap(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return !cast.getStochastic();
  Block scratch;
  MapOp map = findMap(op, scratch);
  if (!map || map.getSkeleton() != Skeleton::Pointwise || map.getNumResults() != 1)
    return false;
  int cost = 0;
  for (Operation &scalar : map.getBody().front().without_terminator())
    cost += costOf(scalar);
  return cost <= kCheapOperations;
}

/// What an inlined cast is read by, through it.
template <typename Fn> bool allReaders(Value value, Fn fits) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    return isExactCast(use.getOwner()) && use.getOwner()->hasAttr(kInlineAttr)
               ? allReaders(use.getOwner()->getResult(0), fits)
               : fits(use);
  });
}

/// A backward operation that can take a recomputed value inside its own kernel. A contraction would
/// recompute it for every tile, and what another kernel stores or a view shows must exist.
bool canRecomputeFor(OpOperand &use) {
  Operation *user = use.getOwner();
  auto reduce = dyn_cast<ReduceOp>(user);
  return isa<Layer, KernelForm>(user) && !isView(user) && !user->hasAttr(kCastAttr) &&
         getOperandAccesses(user)[use.getOperandNumber()].getKind() == AccessKind::Full &&
         !(reduce && reduce.getSkeleton() == Skeleton::Column);
}

/// Whether the backward pass needs nothing in memory for this reader.
bool canDoWithout(OpOperand &use) { return isForward(use.getOwner()) || canRecomputeFor(use); }

/// Kept in any case: a source, or a forward value that some backward operation needs from memory.
/// What is a cast or a view of a kept value is as good as kept.
bool isKept(Value value) {
  Operation *producer = value.getDefiningOp();
  if (isSource(producer))
    return true;
  if (!allReaders(value, canDoWithout))
    return true;
  return (isa<CastOp>(producer) || isView(producer)) && isKept(producer->getOperand(0));
}

/// Whether a kernel that holds `root` can round this operand anew as it reads it: not where it
/// reads others of its elements than those that it computes.
bool roundsAsItReads(Operation *root, unsigned operand) {
  AccessKind kind = getOperandAccesses(root)[operand].getKind();
  return kind == AccessKind::Full || kind == AccessKind::Column || kind == AccessKind::Row ||
         kind == AccessKind::Scalar;
}

/// Whether a kernel that holds `root` finds its operands in memory.
bool findsOperands(Operation *root) {
  return llvm::all_of(root->getOpOperands(), [&](OpOperand &operand) {
    Value value = operand.get();
    if (!roundsAsItReads(root, operand.getOperandNumber())) {
      while (isExactCast(value.getDefiningOp()) && value.getDefiningOp()->hasAttr(kInlineAttr))
        value = value.getDefiningOp()->getOperand(0);
      if (isa<CastOp>(value.getDefiningOp()))
        return !allReaders(value, canDoWithout);
    }
    return isKept(value);
  });
}

bool isStochastic(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && cast.getStochastic();
}

/// Whether a cast between `root` and `value` draws, which costs more than to keep what it leaves.
bool isDrawn(Value value, Operation *root) {
  for (Operation *op = value.getDefiningOp(); op != root; op = op->getOperand(0).getDefiningOp())
    if (isStochastic(op))
      return true;
  return false;
}

/// Computes values again next to a reader.
class Recomputation {
public:
  /// `root` is what is computed again; casts under its operands are too.
  Recomputation(Operation *reader, Operation *root, bool inlined)
      : reader(reader), root(root), inlined(inlined), builder(reader) {}

  Value again(Value value) {
    Operation *op = value.getDefiningOp();
    if (op != root && !(isa<CastOp>(op) && belongsToRoot(op)))
      return value;
    if (Value known = clones.lookup(value))
      return known;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, op == root ? underRoot(operand) : again(operand));
    return make(op, mapping, value);
  }

private:
  /// A cast between the root and what is asked for.
  bool belongsToRoot(Operation *cast) {
    Value x = cast->getOperand(0);
    return x.getDefiningOp() == root ||
           (isa<CastOp>(x.getDefiningOp()) && belongsToRoot(x.getDefiningOp()));
  }

  /// An operand of the root: casts that nobody keeps are made again from what is kept.
  Value underRoot(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isa<CastOp>(op) || isStochastic(op) ||
        isa<ParameterOp>(op->getOperand(0).getDefiningOp()) ||
        isOfScaledRounding(op->getOperand(0).getDefiningOp())) // what it makes is codes or numbers
      return value;
    IRMapping mapping;
    mapping.map(op->getOperand(0), underRoot(op->getOperand(0)));
    bool widening = isExactCast(op) && op->hasAttr(kInlineAttr);
    bool kept = !widening && !allReaders(value, canDoWithout);
    return kept ? value : make(op, mapping, value);
  }

  Value make(Operation *op, IRMapping &mapping, Value value) {
    Operation *clone = builder.clone(*op, mapping);
    setPhase(clone, getPhase(reader));
    clone->removeAttr(kCastAttr);
    clone->removeAttr(kValuesAttr);
    if (inlined || isExactCast(op))
      clone->setAttr(kInlineAttr, builder.getUnitAttr());
    for (auto [before, after] : llvm::zip(op->getResults(), clone->getResults()))
      clones[before] = after;
    return clones.lookup(value);
  }

  Operation *reader, *root;
  bool inlined;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> clones;
};

class Chooser {
public:
  explicit Chooser(GraphOp graph) : graph(graph) {}

  void run() {
    forEachSaved([&](Value value, Operation *root) {
      auto decreed = root->getAttrOfType<BoolAttr>(kRecomputeAttr); // P16
      if (decreed && !decreed.getValue() && !isa<CastOp>(root))
        return;
      if (!recomputeInline(value, root) && decreed && decreed.getValue())
        recomputeInKernels(value, root);
    });
  }

  /// P67: what more is computed again, so that less is kept. Once all cheap values are.
  DictionaryAttr takeSteps(int64_t steps, const AssumedSizes &sizes) {
    ForwardPass forward = readForwardPass(graph, sizes);
    std::vector<Choice> all = stepsOf(forward.saved);
    const Choice &choice = all[std::min<size_t>(steps, all.size() - 1)];
    Remade remade;
    if (steps > 0)
      forEachSaved([&](Value value, Operation *root) {
        auto node = forward.nodes.find(root);
        if (node == forward.nodes.end() ||
            !isAgain(forward.saved.nodes[node->second].fate, choice[node->second]))
          return;
        remade.insert(root);
        if (!recomputeInline(value, root))
          recomputeInKernels(value, root);
      });
    return describe(forward, remade, all.size() - 1);
  }

private:
  using Remade = llvm::SetVector<Operation *>;

  static bool isAgain(SavedGraph::Fate fate, bool isChosen) {
    return fate == SavedGraph::Fate::again || (fate == SavedGraph::Fate::candidate && isChosen);
  }

  /// What the backward pass reads of the forward pass, last values first: what is computed again
  /// for it reads others.
  template <typename Fn> void forEachSaved(Fn decide) {
    SmallVector<Operation *> ops;
    for (Operation &op : graph.getBody().front())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      for (Value value : op->getResults()) {
        if (!isForward(op) || !isa<Layer, KernelForm>(op) || backwardUses(value).empty())
          continue;
        Operation *root = rootOf(value);
        if (isView(op))
          viewAgain(value);
        else if (leavesNumbers(root))
          keepCodes(value, root);
        else if (!isa<CastOp>(root) || !isa<ParameterOp>(root->getOperand(0).getDefiningOp()))
          decide(value, root);
      }
  }

  /// In the kernels of its readers, where it is cheap and they can; says whether.
  static bool recomputeInline(Value value, Operation *root) {
    if (!isCheap(root) || isDrawn(value, root) || !allReaders(value, canDoWithout) ||
        !findsOperands(root))
      return false;
    for (OpOperand *use : backwardUses(value))
      use->set(Recomputation(use->getOwner(), root, true).again(value));
    return true;
  }

  /// A view costs nothing: every reader in the backward pass has its own, and what is under it is
  /// chosen next.
  static void viewAgain(Value value) {
    for (OpOperand *use : backwardUses(value)) {
      Operation *clone = OpBuilder(use->getOwner()).clone(*value.getDefiningOp());
      setPhase(clone, getPhase(use->getOwner()));
      clone->removeAttr(kValuesAttr);
      use->set(clone->getResult(0));
    }
  }

  /// A kernel of its own in every phase that reads the value.
  static void recomputeInKernels(Value value, Operation *root) {
    llvm::DenseMap<int, Value> again; // by phase
    SmallVector<OpOperand *> uses = backwardUses(value);
    llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
      return a->getOwner()->isBeforeInBlock(b->getOwner());
    });
    for (OpOperand *use : uses) {
      Value &known = again[static_cast<int>(getPhase(use->getOwner()))];
      if (!known)
        known = Recomputation(use->getOwner(), root, false).again(value);
      use->set(known);
    }
  }

  /// Codes, which are shorter than their numbers. Of what the backward pass alone reads forward
  /// leaves no numbers, and codes say what rules decided.
  static void keepCodes(Value numbers, Operation *root) {
    recomputeInKernels(numbers, root);
    CastOp rounding = roundingOf(root);
    if (rounding && numbers.use_empty())
      moveNotes(numbers.getDefiningOp(), rounding);
  }

  DictionaryAttr describe(const ForwardPass &forward, const Remade &remade, size_t steps) {
    Builder builder(graph.getContext());
    double operations = 0;
    llvm::SetVector<Attribute> layers;
    for (Operation *root : remade) {
      operations += forward.saved.nodes[forward.nodes.lookup(root)].operations;
      if (!getLayer(root).empty())
        layers.insert(builder.getStringAttr(getLayer(root)));
    }
    SmallVector<Attribute> inOrder = layers.takeVector();
    std::reverse(inOrder.begin(), inOrder.end());
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("steps", builder.getI64IntegerAttr(static_cast<int64_t>(steps))),
         builder.getNamedAttr("layers", builder.getArrayAttr(inOrder)),
         builder.getNamedAttr("operations", builder.getF64FloatAttr(operations)),
         builder.getNamedAttr("of_step", builder.getF64FloatAttr(forward.operations))});
  }

  GraphOp graph;
};

struct ChooseSavedPass : halftone::ir::impl::ChooseSavedBase<ChooseSavedPass> {
  using ChooseSavedBase::ChooseSavedBase;

  void runOnOperation() override {
    AssumedSizes sizes;
    if (failed(readAssumedSizes(getOperation(), assume, sizes)))
      return signalPassFailure();
    for (auto graph : getOperation().getOps<GraphOp>()) {
      Chooser chooser(graph);
      chooser.run();
      if (steps >= 0 && graph.isTraining())
        getOperation()->setAttr(kRecomputationAttr, chooser.takeSteps(steps, sizes));
    }
  }
};

} // namespace
} // namespace halftone::ir
