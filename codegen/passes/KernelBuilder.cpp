// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/KernelBuilder.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Scalars.h"
#include "codegen/passes/GatheredMatrices.h"
#include "codegen/passes/Rotation.h"
#include "codegen/skeletons/Skeletons.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace halftone::ir {

/// The dimensions that the group's products are summed over, if it begins with some.
SmallVector<Attribute> KernelBuilder::getReduction() {
  Operation *first = group.ops.front();
  if (auto contract = dyn_cast<ContractOp>(first))
    return contract.getReduction();
  auto scaled = dyn_cast<ScaledContractOp>(first);
  return scaled ? scaled.getReduction() : SmallVector<Attribute>();
}

/// The map over the kernel's axes, and index operands by their numbers among its inputs.
AccessAttr KernelBuilder::inKernel(KernelForm op, AccessAttr access) {
  if (access.getKind() != AccessKind::General)
    return access;
  // One more than the operation's where that is a scalar.
  unsigned axes = group.domain.size() + getReduction().size();
  AffineMap map = access.getMap().getValue();
  map = AffineMap::get(axes, map.getNumSymbols(), map.getResults(), map.getContext());
  if (IntegerSet where = access.getWhere() ? access.getWhere().getValue() : IntegerSet())
    access = AccessAttr::get(
        access.getContext(), AccessKind::General, 0, access.getMap(),
        IntegerSetAttr::get(IntegerSet::get(axes, 0, where.getConstraints(), where.getEqFlags())),
        access.getIndices(), access.getLengths());
  SmallVector<int64_t> indices;
  for (int64_t index : access.getIndices()) {
    std::pair<Value, Attribute> key{op->getOperand(index), op.getOperandAccesses()[index]};
    getElement(key.first, cast<AccessAttr>(key.second));
    indices.push_back(inputs.find(key) - inputs.begin());
  }
  return AccessAttr::get(access.getContext(), AccessKind::General, 0, AffineMapAttr::get(map),
                         access.getWhere(), indices, access.getLengths());
}

SmallVector<AccessAttr> KernelBuilder::getAccesses(KernelForm op) {
  return llvm::map_to_vector(op.getOperandAccesses(),
                             [&](AccessAttr access) { return inKernel(op, access); });
}

/// The scalar that stands for `value` in the body: computed here, computed again here, or loaded.
Value KernelBuilder::getElement(Value value, AccessAttr access) {
  if (access.getKind() == AccessKind::Turns || access.getKind() == AccessKind::Factor ||
      access.getKind() == AccessKind::Start)
    return inputs[{value, access}] = Value();
  if (isMatrix(access.getKind()))
    return {};
  if (Value known = elements.lookup(value))
    return known;
  Operation *producer = value.getDefiningOp();
  if (isInlined(producer)) {
    if (Value known = inlined.lookup({value, access}))
      return known;
    auto form = cast<KernelForm>(producer);
    SmallVector<Value> operands;
    for (auto [operand, operandAccess] : llvm::zip(producer->getOperands(), getAccesses(form)))
      operands.push_back(getElement(operand, isForAnyAccess(producer) ? access : operandAccess));
    for (auto [result, scalar] :
         llvm::zip(producer->getResults(), form.buildBody(builder, operands, {})))
      inlined[{result, access}] = scalar;
    return inlined.lookup({value, access});
  }
  Value &argument = inputs[{value, access}];
  if (!argument)
    argument = block->addArgument(cast<TensorType>(value.getType()).getElementType(), loc);
  return argument;
}

/// The group's second product of operands from outside; null where it has one alone.
ContractOp KernelBuilder::findSecond() {
  for (Operation *op : group.ops)
    if (auto contract = dyn_cast<ContractOp>(op);
        contract && op != group.ops.front() && !group.contains(contract.getLhs().getDefiningOp()))
      return contract;
  return {};
}

static bool isInPlace(Operation *op) { return op && op->hasAttr(kInPlaceAttr); }

/// An operand of a product, and its access: heads that a map would move are read in place.
std::pair<Value, Attribute> KernelBuilder::whereItLies(Value operand, AccessKind kind) {
  MLIRContext *context = operand.getContext();
  auto move = dyn_cast<MapOp>(operand.getDefiningOp());
  if (!isInPlace(move))
    return {operand, AccessAttr::get(context, kind)};
  AffineMapAttr map = move.getOperandAccesses()[0].getMap();
  return {move.getInputs()[0], AccessAttr::get(context, kind, 0, map, {}, {})};
}

void KernelBuilder::addMatrices() {
  auto addSum = [&](Operation *op) {
    return block->addArgument(cast<TensorType>(op->getResult(0).getType()).getElementType(), loc);
  };
  auto form = cast<KernelForm>(group.ops.front());
  accumulator = addSum(form);
  for (auto [operand, access] : llvm::zip(form->getOperands(), form.getOperandAccesses())) {
    if (!isMatrix(access.getKind()))
      continue;
    if (isScales(access.getKind())) {
      inputs[{operand, access}] = Value();
      continue;
    }
    auto key = whereItLies(operand, access.getKind());
    if (isGathered(operand.getDefiningOp())) {
      auto matrix =
          findGathered(cast<ContractOp>(form.getOperation()), access.getKind() == AccessKind::Lhs);
      key = {matrix->source, matrix->access};
    }
    inputs[key] = Value();
  }
  second = findSecond();
  if (!second)
    return;
  elements[second.getResult()] = addSum(second);
  inputs[whereItLies(second.getLhs(), AccessKind::Lhs2)] = Value();
  inputs[whereItLies(second.getRhs(), AccessKind::Rhs2)] = Value();
}

/// What `op` multiplies by what the kernel makes of elements: values, or an operand of a product.
AccessKind KernelBuilder::getSummedAccess(ContractOp op) {
  if (!second)
    return AccessKind::Values;
  if (!op.getTransposeLhs())
    return AccessKind::Rhs;
  auto first = cast<ContractOp>(group.ops.front());
  return op.getRhs() == first.getLhs() ? AccessKind::Lhs : AccessKind::Lhs2;
}

/// The product of what the rows before it weigh with values, which the skeleton sums.
void KernelBuilder::buildMixed(ContractOp op) {
  AccessKind kind = getSummedAccess(op);
  inputs[whereItLies(op.getRhs(), kind)] = Value();
  stores.push_back(elements.lookup(op.getLhs()));
  auto access = AccessAttr::get(op.getContext(), kind);
  Value result = op.getResult();
  while (result.hasOneUse() && isInPlace(*result.user_begin())) { // heads moved back, then rounded
    Operation *next = *result.user_begin();
    if (auto move = dyn_cast<MapOp>(next)) {
      AffineMap back = move.getOperandAccesses()[0].getMap().getValue();
      access = AccessAttr::get(op.getContext(), kind, 0,
                               AffineMapAttr::get(inversePermutation(back)), {}, {});
    }
    result = next->getResult(0);
  }
  storedResults.push_back(result);
  storedAccesses.push_back(access);
}

/// Memory that the kernel of a transform works in: a result that nothing reads.
static bool isWorkedIn(Value result) {
  auto inverse = result.getDefiningOp<InverseTransformOp>();
  return inverse && result == inverse.getWork();
}

void KernelBuilder::buildOp(KernelForm op) {
  if (op == second.getOperation() || isInPlace(op))
    return; // an argument of the body, or where a sum goes
  if (auto contract = dyn_cast<ContractOp>(op.getOperation()); contract && op != group.ops.front())
    return buildMixed(contract);
  SmallVector<Value> results;
  if (Value carried = group.skeleton->buildCarried(builder, op, accumulator)) {
    results.push_back(carried);
  } else {
    SmallVector<Value> operands;
    for (auto [operand, access] : llvm::zip(op->getOperands(), getAccesses(op)))
      operands.push_back(getElement(operand, access));
    results = op.buildBody(builder, operands, accumulator);
  }
  if (op.hasFinish()) {
    finishOp = op;
    sums = results;
    return;
  }
  if (results.size() > op->getNumResults())
    into = results.pop_back_val();
  for (auto [result, scalar] : llvm::zip(op->getResults(), results)) {
    elements[result] = scalar;
    if (isReadOutside(result, group) || isWorkedIn(result)) {
      stores.push_back(scalar);
      storedResults.push_back(result);
      storedAccesses.push_back(getResultAccessIn(group, cast<OpResult>(result)));
    }
  }
}

void KernelBuilder::buildFinish() {
  if (!finishOp)
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block *last = builder.createBlock(&finish);
  SmallVector<Value> sumArguments, scalars;
  for (Value sum : sums)
    sumArguments.push_back(last->addArgument(sum.getType(), loc));
  llvm::DenseMap<Value, Value> scalarArguments;
  for (auto &[key, argument] : inputs)
    if (cast<AccessAttr>(key.second).getKind() == AccessKind::Scalar)
      scalarArguments[key.first] = last->addArgument(argument.getType(), loc);
  for (auto [operand, access] : llvm::zip(finishOp->getOperands(), finishOp.getOperandAccesses()))
    if (access.getKind() == AccessKind::Scalar)
      scalars.push_back(scalarArguments.lookup(operand));
  YieldOp::create(builder, loc, finishOp.buildFinish(builder, sumArguments, scalars));
}

static void eraseDeadCode(Block &code) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(code)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// What no code of the kernel reads is no operand of it: some gradients are the same whatever their
/// operation was given. Forward and losses keep the inputs of the model, which callers have to
/// give.
/// Returns the number of every former input among those that stay.
SmallVector<int64_t> KernelBuilder::dropUnusedInputs() {
  eraseDeadCode(*block);
  if (finishOp)
    eraseDeadCode(finish.front());
  bool keepsInputs = group.phase == Phase::Forward || group.phase == Phase::Loss;
  llvm::SmallDenseSet<int64_t> indices;
  for (auto &[key, argument] : inputs)
    if (argument && !argument.use_empty())
      indices.insert_range(cast<AccessAttr>(key.second).getIndices());
  SmallVector<int64_t> numbers; ///< of what stays, by the numbers before
  int64_t kept = 0;
  unsigned scalar = sums.size(); ///< of the finish's arguments, the next Scalar's
  inputs.remove_if([&](const auto &entry) {
    auto argument = cast_or_null<BlockArgument>(entry.second);
    int64_t number = numbers.size();
    numbers.push_back(kept);
    if (!argument) { // a matrix
      ++kept;
      return false;
    }
    auto access = cast<AccessAttr>(entry.first.second);
    bool inFinish = finishOp && access.getKind() == AccessKind::Scalar;
    bool isRead = !argument.use_empty() || indices.contains(number) ||
                  (inFinish && !finish.front().getArgument(scalar).use_empty()) ||
                  (keepsInputs && isa<InputOp>(getViewed(entry.first.first).getDefiningOp()));
    kept += isRead;
    if (!isRead) {
      block->eraseArgument(argument.getArgNumber());
      if (inFinish)
        finish.front().eraseArgument(scalar);
    }
    scalar += inFinish && isRead;
    return !isRead;
  });
  return numbers;
}

/// The accesses of all inputs, which count indices by the numbers that `dropUnusedInputs` gives.
SmallVector<Attribute> KernelBuilder::getInputAccesses(ArrayRef<int64_t> numbers) {
  SmallVector<Attribute> reduction = getReduction();
  Axes axes{group.domain, reduction};
  return llvm::map_to_vector(inputs, [&](const auto &entry) -> Attribute {
    auto access = cast<AccessAttr>(entry.first.second);
    if (access.getKind() != AccessKind::General)
      return access;
    if (!access.getWhere() && access.isOfAxes())
      return recogniseAccess(access.getMap().getValue(), axes,
                             cast<TensorType>(entry.first.first.getType()));
    auto indices =
        llvm::map_to_vector(access.getIndices(), [&](int64_t index) { return numbers[index]; });
    return AccessAttr::get(access.getContext(), AccessKind::General, 0, access.getMap(),
                           access.getWhere(), indices, access.getLengths());
  });
}

/// Whether what `op` is a part of follows in its kernel.
static bool isPart(Operation *op, const KernelGroup &group) {
  return op->hasAttr(kInternalAttr) && llvm::any_of(op->getUsers(), [&](Operation *user) {
           return group.contains(user) && !isInPlace(user);
         });
}

SmallVector<StringRef> KernelBuilder::describeFused(SmallVectorImpl<std::string> &storage) {
  for (Operation *op : group.ops) {
    if ((isPart(op, group) && !isRotation(op)) || (isInPlace(op) && isa<MapOp>(op)))
      continue;
    StringRef what = cast<KernelForm>(op).getNameInKernel();
    storage.push_back(getLayer(op).empty() ? what.str() : (getLayer(op) + ":" + what).str());
  }
  return SmallVector<StringRef>(storage.begin(), storage.end());
}

/// Which values the kernel stores, which casts it performs, and of a single layer or operation
/// whose it is: for the manifest.
void KernelBuilder::noteOrigins(KernelOp kernel) {
  SmallVector<int64_t> values;
  for (Value result : storedResults) {
    auto known = result.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
    values.push_back(known ? known[cast<OpResult>(result).getResultNumber()] : -1);
  }
  SmallVector<Attribute> casts;
  for (Operation *op : group.ops)
    if (Attribute cast = op->getAttr(kCastAttr))
      casts.push_back(cast);
  kernel->setAttr(kValuesAttr, builder.getDenseI64ArrayAttr(values));
  kernel->setAttr(kCastAttr, builder.getArrayAttr(casts));
  kernel->setAttr(kOnlyCastsAttr, builder.getBoolAttr(casts.size() == group.ops.size()));
  for (StringRef name : {StringRef(kInternalAttr), StringRef(kRoundingAttr)})
    if (llvm::all_of(group.ops, [&](Operation *op) { return op->hasAttr(name); }))
      kernel->setAttr(name, builder.getUnitAttr());
  if (llvm::count_if(group.ops, [&](Operation *op) { return !isPart(op, group); }) > 1)
    return;
  for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr), StringRef(kGradientOfAttr),
                         StringRef(kPrecisionAttr)})
    if (Attribute attribute = group.ops.back()->getAttr(name))
      kernel->setAttr(name, attribute);
}

/// Rows whose length is a symbol cost divisions; where nobody asks for them they are single
/// elements.
static void addColumn(KernelOp kernel) {
  if (kernel.getColumns() || !skeletons::of(kernel).isOneRow(kernel))
    return;
  SmallVector<Attribute> domain(kernel.getDomain().getValue());
  domain.push_back(IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), 1));
  kernel.setDomainAttr(ArrayAttr::get(kernel.getContext(), domain));
}

KernelOp KernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder outer(builder);
  block = builder.createBlock(&body);
  if (group.skeleton->traits().sumsProducts)
    addMatrices();
  for (Operation *op : group.ops)
    buildOp(cast<KernelForm>(op));
  KernelYieldOp::create(builder, loc, stores, sums, into);
  buildFinish();
  SmallVector<Attribute> accesses = getInputAccesses(dropUnusedInputs());
  auto operands = llvm::map_to_vector(inputs, [](auto &entry) { return entry.first.first; });
  SmallVector<Type> finished =
      finishOp ? SmallVector<Type>(finishOp->getResultTypes()) : SmallVector<Type>();
  SmallVector<Type> stored =
      llvm::map_to_vector(storedResults, [](Value v) { return v.getType(); });
  SmallVector<std::string> storage;
  auto isTransposed = [&](StringRef name) {
    Operation *first = group.ops.front();
    return isa<ContractOp, ScaledContractOp>(first) && first->hasAttr(name);
  };
  auto kernel = KernelOp::create(
      outer, loc, stored, finished, outer.getStringAttr(name),
      SkeletonAttr::get(outer.getContext(), group.skeleton->traits().word),
      outer.getArrayAttr(group.domain), outer.getArrayAttr(getReduction()), operands,
      outer.getArrayAttr(accesses), outer.getArrayAttr(storedAccesses),
      UnitAttr::get(outer.getContext()), UnitAttr::get(outer.getContext()),
      outer.getStrArrayAttr(describeFused(storage)), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      ArrayAttr(), AccumulationAttr::get(outer.getContext(), accumulationOf(group.ops.front())));
  kernel.setTransposeLhs(isTransposed("transpose_lhs"));
  kernel.setTransposeRhs(isTransposed("transpose_rhs"));
  kernel.getBody().takeBody(body);
  kernel.getFinish().takeBody(finish);
  addColumn(kernel);
  setPhase(kernel, group.phase);
  for (StringRef name : {StringRef(kSectionAttr), StringRef(kChunkRowsAttr), StringRef(kPartsAttr)})
    if (Attribute attribute = group.ops.front()->getAttr(name); attribute && group.getSection())
      kernel->setAttr(name, attribute);
  for (Operation *op : group.ops)
    for (StringRef name : {StringRef(kNotJoinedAttr), StringRef(kNoEightBitsAttr)})
      if (Attribute reason = op->getAttr(name))
        kernel->setAttr(name, reason);
  auto scaled = dyn_cast<ScaledContractOp>(group.ops.front());
  if (scaled && scaled.isPacked())
    kernel->setAttr(kScalePlacesAttr, outer.getI64IntegerAttr(scaled.getLhsBlock()[1]));
  if (scaled && scaled.getByFactors())
    kernel->setAttr(kByFactorsAttr, outer.getUnitAttr());
  noteOrigins(kernel);
  for (auto [before, after] : llvm::zip(storedResults, kernel.getStored()))
    before.replaceAllUsesWith(after);
  if (finishOp)
    for (auto [before, after] : llvm::zip(finishOp->getResults(), kernel.getFinished()))
      before.replaceAllUsesWith(after);
  return kernel;
}

} // namespace halftone::ir
