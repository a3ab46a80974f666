// SPDX-License-Identifier: Apache-2.0
// Which operations become one kernel: those that mean the same element, in the same phase; the
// gradient of a loss over rows joins its loss.
#include "codegen/passes/Grouping.h"

#include "codegen/ir/Accesses.h"
#include "codegen/passes/GatheredMatrices.h"
#include "codegen/skeletons/Skeletons.h"
#include "halftone/manifest/phases.hpp"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace halftone::ir {

namespace {

static_assert(getMaxEnumValForPhase() + 1 == manifest::kPhases, "Attrs.td lists the same phases");

/// About what a function of math becomes (docs/spec/math.md).
constexpr int kScalarsOfFunction = 32;

/// How many scalar operations an operation adds to the body of its kernel.
int countScalars(KernelForm op) {
  Block body;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&body);
  auto argument = [&](Type type) {
    return body.addArgument(cast<TensorType>(type).getElementType(), op->getLoc());
  };
  SmallVector<Value> elements;
  for (auto [operand, access] : llvm::zip(op->getOperands(), op.getOperandAccesses()))
    elements.push_back(isMatrix(access.getKind()) ? Value() : argument(operand.getType()));
  op.buildBody(builder, elements, argument(op->getResult(0).getType()));
  int count = 0;
  for (Operation &scalar : body)
    count += isa<math::MathDialect>(scalar.getDialect()) || isa<SigmoidOp, RecipeOp, DrawOp>(scalar)
                 ? kScalarsOfFunction
                 : 1;
  return count;
}

/// Whether it is computed from states alone, as a predictor's batch norm computes its factors. In
/// front of all else it is in no way of what reads it and a product.
bool readsStatesAlone(KernelForm op) {
  return isa<MapOp>(op.getOperation()) && op.getSkeleton() == Skeleton::Pointwise &&
         getPhase(op) == Phase::Forward && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return isa_and_nonnull<StateOp>(operand.getDefiningOp());
         });
}

/// Whether it would move heads that an attention's kernel reads where they lie.
bool isReadInPlace(Operation *op) {
  return op && op->hasAttr(kInPlaceAttr) && !op->hasAttr(kJoinedAttr);
}

class Grouper {
public:
  explicit Grouper(bool fuse) : fuse(fuse) {}

  std::vector<KernelGroup> run(GraphOp graph) {
    for (bool early : {true, false})
      for (Operation &op : graph.getBody().front())
        if (isa<KernelForm>(op) && !isInlined(&op) && !isGathered(&op) && !isReadInPlace(&op) &&
            readsStatesAlone(cast<KernelForm>(&op)) == early)
          place(cast<KernelForm>(&op));
    std::vector<KernelGroup> byPhase;
    for (const manifest::PhaseForm &form : manifest::kPhaseForms)
      llvm::copy_if(groups, std::back_inserter(byPhase), [&](const KernelGroup &group) {
        return group.phase == static_cast<Phase>(form.phase);
      });
    gatherSections(byPhase);
    return byPhase;
  }

private:
  static constexpr int kSource = -1;

  /// Sections lie in one piece each, behind what they do not depend on and before what reads them.
  void gatherSections(std::vector<KernelGroup> &inOrder) {
    llvm::SmallSetVector<Attribute, 2> sections;
    for (const KernelGroup &group : inOrder)
      if (group.getSection())
        sections.insert(group.getSection());
    auto isOfLoss = [](const KernelGroup &group) { return group.phase == Phase::Loss; };
    auto first = llvm::find_if(inOrder, isOfLoss),
         last = std::find_if_not(first, inOrder.end(), isOfLoss);
    llvm::SmallDenseSet<Operation *> late; // operations of sections, and those that need them
    std::vector<std::vector<KernelGroup>> byRank(sections.size() + 2);
    for (const KernelGroup &group : llvm::make_range(first, last)) {
      const auto *section = llvm::find(sections, group.getSection());
      bool isLate = llvm::any_of(group.ops, [&](Operation *op) { return readsAny(op, late); });
      size_t rank = section != sections.end() ? 1 + (section - sections.begin())
                    : isLate                  ? 1 + sections.size()
                                              : 0;
      if (rank > 0)
        late.insert_range(group.ops);
      byRank[rank].push_back(group);
    }
    for (std::vector<KernelGroup> &groupsOfRank : byRank)
      first = llvm::copy(groupsOfRank, first);
  }

  /// Whether `op` needs one of `others`, be it through what has no kernel of its own.
  bool readsAny(Operation *op, const llvm::SmallDenseSet<Operation *> &others) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return others.contains(producer) ||
             (!placed.contains(producer) && readsAny(producer, others));
    });
  }

  /// The latest group that `value` needs; what is inlined needs what its operands need.
  int groupOf(Value value) {
    Operation *producer = value.getDefiningOp();
    if (auto it = placed.find(producer); it != placed.end())
      return it->second;
    int latest = kSource;
    if (isInlined(producer) || isGathered(producer) || isReadInPlace(producer) ||
        isa<OutputGradientOp, FlattenOp, ViewOp>(producer))
      for (Value operand : producer->getOperands())
        latest = std::max(latest, groupOf(operand));
    return latest;
  }

  /// What JoinProducts marked alike is one kernel, and nothing else is in it.
  bool joinsMarked(KernelForm op) {
    Attribute joined = op->getAttr(kJoinedAttr);
    if (!joined)
      return false;
    auto found = llvm::find_if(groups, [&](const KernelGroup &group) {
      return group.ops.front()->getAttr(kJoinedAttr) == joined;
    });
    if (found == groups.end()) {
      groups.push_back({{},
                        getPhase(op),
                        &skeletons::find(op->getAttrOfType<SkeletonAttr>(kJoinedByAttr).getValue()),
                        normaliseDomain(op.getDomain())});
      found = std::prev(groups.end());
    }
    add(op, static_cast<int>(found - groups.begin()));
    return true;
  }

  void place(KernelForm op) {
    if (joinsMarked(op))
      return;
    int earliest = kSource;
    for (Value operand : op->getOperands())
      earliest = std::max(earliest, groupOf(operand));
    for (int i = std::max(earliest, 0), end = static_cast<int>(groups.size()); i < end; ++i)
      if (groups[i].getSection() == op->getAttr(kSectionAttr) &&
          (fuse || isOfOneLayer(op, groups[i])) && hasRoom(op, groups[i]) &&
          canRead(op, groups[i]) && !readsView(op, groups[i]) && !readsFinish(op, groups[i]) &&
          (i == earliest ? joinsProducer(op, groups[i]) : joinsSibling(op, groups[i])))
        return add(op, i);
    groups.push_back({{}, getPhase(op), &skeletons::of(op), normaliseDomain(op.getDomain())});
    add(op, static_cast<int>(groups.size()) - 1);
  }

  /// Whether `op` reads what the group computes as a view, or as an output's gradient, to which
  /// callers may add: either is there only after its kernel.
  static bool readsView(Operation *op, const KernelGroup &group) {
    return llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *producer = v.getDefiningOp();
      if (isa<OutputGradientOp>(producer))
        return group.contains(producer->getOperand(0).getDefiningOp());
      return isView(producer) ? group.contains(getViewed(v).getDefiningOp())
                              : isInlined(producer) && readsView(producer, group);
    });
  }

  /// Whether `op` reads what a finish of the group computes, as the sum of all rows' weights, which
  /// is there only after its kernel.
  static bool readsFinish(Operation *op, const KernelGroup &group) {
    return llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *producer = v.getDefiningOp();
      return group.contains(producer) ? cast<KernelForm>(producer).hasFinish()
                                      : isInlined(producer) && readsFinish(producer, group);
    });
  }

  /// Whether the group computes what stays inside of the layer that `op` is a part of.
  static bool isOfOneLayer(KernelForm op, const KernelGroup &group) {
    return llvm::any_of(op->getOperands(), [&](Value v) {
      Operation *producer = v.getDefiningOp();
      return producer->hasAttr(kInternalAttr) && group.contains(producer);
    });
  }

  /// A group that holds a body's worth of scalar operations takes no further one; but a cast stays
  /// with what it rounds, so that the wider value is not stored, and a maximum where it was found
  /// to belong.
  static bool hasRoom(KernelForm op, const KernelGroup &group) {
    return isa<CastOp>(op.getOperation()) || op->hasAttr(kMaximumAttr) ||
           group.scalars < group.skeleton->traits().mostScalars;
  }

  /// The skeleton of the group's kernel once `op` has joined.
  static const skeletons::Skeleton &skeletonWith(KernelForm op, const KernelGroup &group) {
    return group.skeleton->traits().elementwise ? skeletons::of(op) : *group.skeleton;
  }

  /// Whether the group's kernel can read as both it and `op` do.
  static bool canRead(KernelForm op, const KernelGroup &group) {
    const skeletons::Skeleton &with = skeletonWith(op, group);
    bool opDoes = readsByGeneralAccess(op);
    if (with.traits().readsAgain)
      return !opDoes && (group.skeleton == &with || !group.readsByGeneralAccess);
    return with.traits().readsByAnyMap || (!group.readsByGeneralAccess && !opDoes);
  }

  /// Whether `op` can run where the group does: in its own phase; or, if a gradient of the losses
  /// joined that of a loss, with it. The phase `loss` is over before `loss_backward` begins.
  bool runsWith(KernelForm op, const KernelGroup &group) {
    if (getPhase(op) == group.phase)
      return true;
    if (getPhase(op) != Phase::LossBackward || group.phase != Phase::Loss)
      return false;
    auto isLater = [&](Value v) {
      int index = groupOf(v);
      return index != kSource && groups[index].phase == Phase::LossBackward;
    };
    if (llvm::any_of(op->getOperands(), isLater))
      return false;
    return isGradientOf(op, group) || llvm::any_of(op->getOperands(), [&](Value v) {
             Operation *producer = getBeforeWidening(v).getDefiningOp();
             return group.contains(producer) && getPhase(producer) == Phase::LossBackward;
           });
  }

  /// A loss over rows and its gradient read a row in the same passes, and whoever asks for a loss
  /// in a step wants its gradient next. For forward() alone it is work for nothing.
  static bool isGradientOf(KernelForm op, const KernelGroup &group) {
    bool isOfGradient = getPhase(op) == Phase::LossBackward || op->hasAttr(kSectionAttr);
    return op.getSkeleton() == Skeleton::Row && isOfGradient && !getLayer(op).empty() &&
           llvm::any_of(group.ops, [&](Operation *member) {
             auto loss = cast<KernelForm>(member);
             return loss.getSkeleton() == Skeleton::Row && getPhase(loss) == Phase::Loss &&
                    getLayer(loss) == getLayer(op) && loss.getDomain().hasSameDims(op.getDomain());
           });
  }

  void add(KernelForm op, int index) {
    KernelGroup &group = groups[index];
    group.skeleton = &skeletonWith(op, group);
    group.readsByGeneralAccess |= readsByGeneralAccess(op);
    group.ops.push_back(op);
    group.scalars += countScalars(op);
    group.hasFinish |= op.hasFinish();
    placed[op] = index;
  }

  bool joinsProducer(KernelForm op, const KernelGroup &group) {
    return runsWith(op, group) && skeletons::of(op).joinsProducer(op, group);
  }

  /// The gradient of a cross-entropy rides on its loss.
  bool joinsSibling(KernelForm op, const KernelGroup &group) {
    if (isGradientOf(op, group))
      return runsWith(op, group) && accessesAgree(op, group);
    return getPhase(op) == group.phase && skeletons::of(op).joinsSibling(op, group);
  }

  bool fuse;
  std::vector<KernelGroup> groups;
  llvm::DenseMap<Operation *, int> placed;
};

} // namespace

std::vector<KernelGroup> groupOperations(GraphOp graph, bool fuse) {
  return Grouper(fuse).run(graph);
}

} // namespace halftone::ir
