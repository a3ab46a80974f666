// SPDX-License-Identifier: Apache-2.0
// Which operations become one kernel: those that mean the same element, in the same phase; the
// gradient of a cross-entropy joins its loss.
#include "codegen/passes/Grouping.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace halftone::ir {

SmallVector<Attribute> normaliseDomain(TensorType domain) {
  SmallVector<Attribute> dims(domain.getDims());
  if (dims.empty() || isa<StringAttr>(dims.back()))
    dims.push_back(IntegerAttr::get(IntegerType::get(domain.getContext(), 64), 1));
  return dims;
}

/// Whether the user's states take new values in the phase, so that what is computed from them is
/// computed before it.
static bool changesStates(Phase phase) {
  return phase == Phase::Accumulate || phase == Phase::Update;
}

bool isInlined(Operation *op) {
  if (!isa<KernelForm>(op))
    return false;
  auto isScalar = [](Value v) { return cast<TensorType>(v.getType()).isScalar(); };
  if (!op->hasAttr(kInlineAttr) &&
      !(isa<PointwiseOp>(op) && llvm::all_of(op->getOperands(), isScalar)))
    return false;
  return llvm::all_of(op->getUses(), [op](OpOperand &use) {
    auto user = dyn_cast<KernelForm>(use.getOwner());
    if (!user || (changesStates(getPhase(user)) && getPhase(op) != getPhase(user)))
      return false;
    AccessKind access = user.getOperandAccesses()[use.getOperandNumber()].getKind();
    if (isExactCast(op)) // is computed for whatever element the user reads
      return access != AccessKind::Lhs && access != AccessKind::Rhs;
    return access == AccessKind::Full || access == AccessKind::Row ||
           (access == AccessKind::Scalar && !user.hasFinish());
  });
}

Value getBeforeWidening(Value value) {
  while (isExactCast(value.getDefiningOp()) && isInlined(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool isReadOutside(Value value, const KernelGroup &group) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (group.contains(user))
      return false;
    return !isInlined(user) || llvm::any_of(user->getResults(), [&](Value result) {
      return isReadOutside(result, group);
    });
  });
}

AccessAttr getResultAccessIn(const KernelGroup &group, OpResult result) {
  auto form = cast<KernelForm>(result.getOwner());
  if (form.hasFinish())
    return AccessAttr::get(result.getContext(), AccessKind::Scalar);
  // A bias gradient beside its weight gradient: one value per row of the weight.
  if (group.skeleton == Skeleton::Contraction && isa<ColumnSumOp>(result.getOwner()))
    return AccessAttr::get(result.getContext(), AccessKind::Row);
  return form.getResultAccesses()[result.getResultNumber()];
}

namespace {

/// Compilers take time with the square of a body, and registers run out long before: a group that
/// holds so many scalar operations takes no further operation.
constexpr int kMostScalars = 512;

/// In a contraction, whose threads unroll the body over the elements of their tiles.
constexpr int kMostScalarsOfContraction = 96;

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
  for (auto [operand, access] : llvm::zip(op->getOperands(), op.getOperandAccesses())) {
    bool isMatrix = access.getKind() == AccessKind::Lhs || access.getKind() == AccessKind::Rhs;
    elements.push_back(isMatrix ? Value() : argument(operand.getType()));
  }
  op.buildBody(builder, elements, argument(op->getResult(0).getType()));
  int count = 0;
  for (Operation &scalar : body)
    count += isa<math::MathDialect>(scalar.getDialect()) || isa<SigmoidOp>(scalar)
                 ? kScalarsOfFunction
                 : 1;
  return count;
}

class Grouper {
public:
  explicit Grouper(bool fuse) : fuse(fuse) {}

  std::vector<KernelGroup> run(GraphOp graph) {
    for (Operation &op : graph.getBody().front())
      if (isa<KernelForm>(op) && !isInlined(&op))
        place(cast<KernelForm>(&op));
    std::vector<KernelGroup> byPhase;
    for (Phase phase :
         {Phase::Refresh, Phase::Forward, Phase::Loss, Phase::LossBackward, Phase::External,
          Phase::Backward, Phase::Accumulate, Phase::Check, Phase::Update})
      llvm::copy_if(groups, std::back_inserter(byPhase),
                    [&](const KernelGroup &group) { return group.phase == phase; });
    return byPhase;
  }

private:
  static constexpr int kSource = -1;

  /// The latest group that `value` needs; what is inlined needs what its operands need.
  int groupOf(Value value) {
    Operation *producer = value.getDefiningOp();
    if (auto it = placed.find(producer); it != placed.end())
      return it->second;
    int latest = kSource;
    if (isInlined(producer) || isa<OutputGradientOp, FlattenOp>(producer))
      for (Value operand : producer->getOperands())
        latest = std::max(latest, groupOf(operand));
    return latest;
  }

  void place(KernelForm op) {
    int earliest = kSource;
    for (Value operand : op->getOperands())
      earliest = std::max(earliest, groupOf(operand));
    for (int i = std::max(earliest, 0), end = static_cast<int>(groups.size()); fuse && i < end; ++i)
      if (hasRoom(op, groups[i]) &&
          (i == earliest ? joinsProducer(op, groups[i]) : joinsSibling(op, groups[i])))
        return add(op, i);
    groups.push_back({{}, getPhase(op), op.getSkeleton(), normaliseDomain(op.getDomain())});
    add(op, static_cast<int>(groups.size()) - 1);
  }

  /// A cast stays with what it rounds, so that the wider value is not stored.
  static bool hasRoom(KernelForm op, const KernelGroup &group) {
    int most = group.skeleton == Skeleton::Contraction ? kMostScalarsOfContraction : kMostScalars;
    return isa<CastOp>(op.getOperation()) || group.scalars < most;
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

  /// A cross-entropy and its gradient read the logits in the same passes over a row, and whoever
  /// asks for a loss in a step wants its gradient next. For forward() alone it is work for nothing.
  static bool isGradientOf(KernelForm op, const KernelGroup &group) {
    auto gradient = dyn_cast<CrossEntropyGradOp>(op.getOperation());
    return gradient && llvm::any_of(group.ops, [&](Operation *member) {
             auto loss = dyn_cast<CrossEntropyOp>(member);
             return loss && getLayer(loss) == getLayer(gradient) &&
                    loss.getLabel() == gradient.getLabel() &&
                    loss.getLogits().getType().getDims() ==
                        gradient.getLogits().getType().getDims();
           });
  }

  void add(KernelForm op, int index) {
    KernelGroup &group = groups[index];
    Skeleton skeleton = op.getSkeleton();
    if (group.skeleton ==
        Skeleton::Pointwise) // rows and sums contain elementwise code, not the other way round
      group.skeleton = skeleton;
    group.ops.push_back(op);
    group.scalars += countScalars(op);
    group.hasFinish |= op.hasFinish();
    placed[op] = index;
  }

  /// Values that pass from one operation to another inside a kernel stay in registers: both must
  /// mean the same element. What a finish computes is there only after the kernel.
  static bool accessesAgree(KernelForm op, const KernelGroup &group) {
    return llvm::all_of(llvm::zip(op->getOperands(), op.getOperandAccesses()), [&](auto pair) {
      auto [operand, access] = pair;
      Value value = getBeforeWidening(operand);
      return !group.contains(value.getDefiningOp()) ||
             (!cast<KernelForm>(value.getDefiningOp()).hasFinish() &&
              getResultAccessIn(group, cast<OpResult>(value)).getKind() == access.getKind());
    });
  }

  bool joinsProducer(KernelForm op, const KernelGroup &group) {
    if (!runsWith(op, group))
      return false;
    bool sameDomain =
        ArrayRef<Attribute>(normaliseDomain(op.getDomain())) == ArrayRef<Attribute>(group.domain);
    switch (op.getSkeleton()) {
    case Skeleton::Pointwise:
      return sameDomain && accessesAgree(op, group) &&
             (group.skeleton == Skeleton::Pointwise || group.skeleton == Skeleton::Row ||
              group.skeleton == Skeleton::Contraction);
    case Skeleton::Row:
      return sameDomain && accessesAgree(op, group) &&
             (group.skeleton == Skeleton::Pointwise || group.skeleton == Skeleton::Row);
    case Skeleton::Flat:
      return sumsElements(op, group, sameDomain) || sumsRows(op, group);
    case Skeleton::Column:
      return joinsSibling(op, group);
    case Skeleton::Contraction:
      return false;
    }
    return false;
  }

  /// The sum of what a pointwise kernel computes, if nobody else wants that and nothing depends on
  /// where rows begin.
  bool sumsElements(KernelForm op, const KernelGroup &group, bool sameDomain) {
    auto usedHereOnly = [&](Operation *member) {
      auto accesses = cast<KernelForm>(member).getOperandAccesses();
      KernelGroup both = group;
      both.ops.push_back(op);
      return llvm::none_of(member->getResults(),
                           [&](Value result) { return isReadOutside(result, both); }) &&
             llvm::all_of(accesses, [](AccessAttr access) {
               return access.getKind() == AccessKind::Full ||
                      access.getKind() == AccessKind::Scalar;
             });
    };
    return sameDomain && group.skeleton == Skeleton::Pointwise && accessesAgree(op, group) &&
           llvm::all_of(group.ops, usedHereOnly);
  }

  /// The sum of what a row kernel computes per row.
  bool sumsRows(KernelForm op, const KernelGroup &group) {
    if (group.skeleton != Skeleton::Row || group.hasFinish)
      return false;
    auto x = cast<OpResult>(getBeforeWidening(op->getOperand(0)));
    return group.contains(x.getOwner()) && getResultAccessIn(group, x).getKind() == AccessKind::Row;
  }

  /// Sums over rows of one matrix share a pass over it; a bias gradient rides on its weight
  /// gradient, that of a cross-entropy on its loss.
  bool joinsSibling(KernelForm op, const KernelGroup &group) {
    if (isGradientOf(op, group))
      return runsWith(op, group) && accessesAgree(op, group);
    if (op.getSkeleton() != Skeleton::Column || getPhase(op) != group.phase)
      return false;
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return group.contains(getBeforeWidening(v).getDefiningOp()); }))
      return false;
    if (group.skeleton == Skeleton::Column)
      return ArrayRef<Attribute>(normaliseDomain(op.getDomain())) ==
             ArrayRef<Attribute>(group.domain);
    auto contract = dyn_cast<ContractOp>(group.ops.front());
    auto sum = dyn_cast<ColumnSumOp>(op.getOperation());
    return contract && sum && contract.getTransposeLhs() &&
           contract.getLhs() == getBeforeWidening(sum.getX());
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
