// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/KernelGroup.h"

using namespace mlir;

namespace halftone::ir {

SmallVector<Attribute> normaliseDomain(TensorType domain) {
  SmallVector<Attribute> dims(domain.getDims());
  if (dims.empty())
    dims.push_back(IntegerAttr::get(IntegerType::get(domain.getContext(), 64), 1));
  return dims;
}

bool hasSameDomain(KernelForm op, const KernelGroup &group) {
  return ArrayRef<Attribute>(normaliseDomain(op.getDomain())) == ArrayRef<Attribute>(group.domain);
}

Accumulation accumulationOf(Operation *op) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
  return precision && isa<ContractOp, ScaledContractOp>(op) ? precision.getAccumulate()
                                                            : Accumulation::F32;
}

/// Whether the user's states take new values in the phase, so that what is computed from them is
/// computed before it.
static bool changesStates(Phase phase) {
  return phase == Phase::Accumulate || phase == Phase::Update;
}

bool readsByGeneralAccess(KernelForm op) {
  auto isGeneral = [](AccessAttr access) { return access.getKind() == AccessKind::General; };
  return llvm::any_of(op.getOperandAccesses(), isGeneral) ||
         llvm::any_of(op->getOperands(), [](Value operand) {
           auto producer = dyn_cast<KernelForm>(operand.getDefiningOp());
           return producer && isInlined(producer) && readsByGeneralAccess(producer);
         });
}

bool isIndex(KernelForm op, unsigned number) {
  return llvm::any_of(op.getOperandAccesses(), [&](AccessAttr access) {
    return llvm::is_contained(access.getIndices(), number);
  });
}

bool isForAnyAccess(Operation *op) {
  auto isInteger = [](Value operand) { return isDelivered(operand); };
  return isExactCast(op) ||
         (isa_and_nonnull<MapOp>(op) && llvm::any_of(op->getOperands(), isInteger));
}

/// Whether it makes zero of zero, which is what accesses give outside of their operand.
static bool keepsZero(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  std::optional<APFloat> offset = cast ? cast.getOffset() : std::nullopt;
  return !offset || offset->isZero();
}

/// In chunks of rows all rows are not counted, so that what is the same for all of them is computed
/// before.
static bool isOutsideOfSection(Operation *op, Operation *user) {
  return user->hasAttr(kSectionAttr) && !op->hasAttr(kSectionAttr) && !isForAnyAccess(op);
}

bool isInlined(Operation *op) {
  if (!isa<KernelForm>(op))
    return false;
  auto isScalar = [](Value v) { return cast<TensorType>(v.getType()).isScalar(); };
  if (!op->hasAttr(kInlineAttr) && !(isa<MapOp>(op) && llvm::all_of(op->getOperands(), isScalar)))
    return false;
  return llvm::all_of(op->getUses(), [op](OpOperand &use) {
    auto user = dyn_cast<KernelForm>(use.getOwner());
    if (user && isOutsideOfSection(op, user))
      return false;
    if (!user || (changesStates(getPhase(user)) && getPhase(op) != getPhase(user)))
      return false;
    if (isIndex(user, use.getOperandNumber()))
      return false;
    AccessKind access = user.getOperandAccesses()[use.getOperandNumber()].getKind();
    if (isForAnyAccess(op))
      return access != AccessKind::Lhs && access != AccessKind::Rhs &&
             (keepsZero(op) || (access != AccessKind::Window && access != AccessKind::General));
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
  if (cast<KernelForm>(result.getOwner()).hasFinish())
    return AccessAttr::get(result.getContext(), AccessKind::Scalar);
  return group.skeleton->getResultAccess(result);
}

/// Whether what is computed again where it is read, as `op` may be, reads elements of the group's
/// values at other places than its own.
static bool readsElsewhere(Operation *op, const KernelGroup &group) {
  if (!isInlined(op))
    return false;
  auto form = cast<KernelForm>(op);
  return llvm::any_of(llvm::enumerate(op->getOperands(), form.getOperandAccesses()), [&](auto use) {
    auto [number, operand, access] = use;
    Operation *producer = getBeforeWidening(operand).getDefiningOp();
    if (!group.contains(producer))
      return readsElsewhere(producer, group);
    return isIndex(form, number) || access.getKind() == AccessKind::General ||
           access.getKind() == AccessKind::Window;
  });
}

bool accessesAgree(KernelForm op, const KernelGroup &group) {
  return llvm::all_of(llvm::enumerate(op->getOperands(), op.getOperandAccesses()), [&](auto use) {
    auto [number, operand, access] = use;
    Value value = getBeforeWidening(operand);
    if (!group.contains(value.getDefiningOp()))
      return !readsElsewhere(value.getDefiningOp(), group);
    return !isIndex(op, number) && !cast<KernelForm>(value.getDefiningOp()).hasFinish() &&
           getResultAccessIn(group, cast<OpResult>(value)).getKind() == access.getKind();
  });
}

} // namespace halftone::ir
