// SPDX-License-Identifier: Apache-2.0
// Turns every group of operations (Grouping.cpp) into one kernel.
#include "codegen/ir/Scalars.h"
#include "codegen/passes/Grouping.h"
#include "codegen/passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::ir {
#define GEN_PASS_DEF_FORMKERNELS
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Builds the kernel of one group.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, const KernelGroup &group)
      : builder(builder), group(group), loc(group.ops.front()->getLoc()) {}

  KernelOp build(StringRef name);

private:
  void buildOp(KernelForm op);
  void buildFinish();
  Value getElement(Value value, AccessAttr access);
  void addMatrices();
  void dropUnusedInputs();
  void noteOrigins(KernelOp kernel);
  SmallVector<StringRef> describeFused(SmallVectorImpl<std::string> &storage);

  OpBuilder &builder;
  const KernelGroup &group;
  Location loc;
  Region body, finish;
  Block *block = nullptr;
  llvm::MapVector<std::pair<Value, Attribute>, Value>
      inputs;                            ///< to block arguments, null for Lhs and Rhs
  llvm::DenseMap<Value, Value> elements; ///< results inside the group to scalars
  llvm::DenseMap<std::pair<Value, Attribute>, Value> inlined; ///< likewise what is computed again
  Value accumulator;
  KernelForm finishOp;
  SmallVector<Value> stores, sums;
  SmallVector<Value> storedResults;
  SmallVector<Attribute> storedAccesses;
};

bool isMatrix(AccessAttr access) {
  return access.getKind() == AccessKind::Lhs || access.getKind() == AccessKind::Rhs;
}

/// The scalar that stands for `value` in the body: computed here, computed again here, or loaded.
Value KernelBuilder::getElement(Value value, AccessAttr access) {
  if (isMatrix(access))
    return {};
  if (Value known = elements.lookup(value))
    return known;
  Operation *producer = value.getDefiningOp();
  if (isInlined(producer)) {
    if (Value known = inlined.lookup({value, access}))
      return known;
    auto form = cast<KernelForm>(producer);
    SmallVector<Value> operands;
    for (auto [operand, operandAccess] :
         llvm::zip(producer->getOperands(), form.getOperandAccesses()))
      operands.push_back(getElement(operand, isExactCast(producer) ? access : operandAccess));
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

void KernelBuilder::addMatrices() {
  auto form = cast<KernelForm>(group.ops.front());
  accumulator = block->addArgument(
      cast<TensorType>(group.ops.front()->getResult(0).getType()).getElementType(), loc);
  for (auto [operand, access] : llvm::zip(form->getOperands(), form.getOperandAccesses()))
    if (isMatrix(access))
      inputs[{operand, access}] = Value();
}

void KernelBuilder::buildOp(KernelForm op) {
  SmallVector<Value> results;
  if (group.skeleton == Skeleton::Contraction && isa<ColumnSumOp>(op.getOperation())) {
    results.push_back(LhsSumOp::create(builder, loc, accumulator.getType()));
  } else {
    SmallVector<Value> operands;
    for (auto [operand, access] : llvm::zip(op->getOperands(), op.getOperandAccesses()))
      operands.push_back(getElement(operand, access));
    results = op.buildBody(builder, operands, accumulator);
  }
  if (op.hasFinish()) {
    finishOp = op;
    sums = results;
    return;
  }
  for (auto [result, scalar] : llvm::zip(op->getResults(), results)) {
    elements[result] = scalar;
    if (isReadOutside(result, group)) {
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

void eraseDeadCode(Block &code) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(code)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// What no code of the kernel reads is no operand of it: some gradients are the same whatever their
/// operation was given. Forward and losses keep the inputs of the model, which callers have to
/// give.
void KernelBuilder::dropUnusedInputs() {
  eraseDeadCode(*block);
  if (finishOp)
    eraseDeadCode(finish.front());
  bool keepsInputs = group.phase == Phase::Forward || group.phase == Phase::Loss;
  unsigned scalar = sums.size(); ///< of the finish's arguments, the next Scalar's
  inputs.remove_if([&](const auto &entry) {
    auto argument = cast_or_null<BlockArgument>(entry.second);
    if (!argument) // a matrix
      return false;
    auto access = cast<AccessAttr>(entry.first.second);
    bool inFinish = finishOp && access.getKind() == AccessKind::Scalar;
    bool isRead = !argument.use_empty() ||
                  (inFinish && !finish.front().getArgument(scalar).use_empty()) ||
                  (keepsInputs && isa<InputOp>(entry.first.first.getDefiningOp()));
    if (!isRead) {
      block->eraseArgument(argument.getArgNumber());
      if (inFinish)
        finish.front().eraseArgument(scalar);
    }
    scalar += inFinish && isRead;
    return !isRead;
  });
}

SmallVector<StringRef> KernelBuilder::describeFused(SmallVectorImpl<std::string> &storage) {
  for (Operation *op : group.ops) {
    auto pointwise = dyn_cast<PointwiseOp>(op);
    std::string what =
        pointwise ? pointwise.getFunction().str() : op->getName().stripDialect().str();
    storage.push_back(getLayer(op).empty() ? what : (getLayer(op) + ":" + what).str());
  }
  return SmallVector<StringRef>(storage.begin(), storage.end());
}

/// P21, of a contraction as rules resolved it.
Accumulation accumulationOf(Operation *op) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
  return precision && isa<LinearOp, ContractOp>(op) ? precision.getAccumulate() : Accumulation::F32;
}

/// Which values the kernel stores, which casts it performs, and of a single operation whose it is:
/// for the manifest.
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
  if (group.ops.size() > 1)
    return;
  for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr), StringRef(kGradientOfAttr),
                         StringRef(kPrecisionAttr)})
    if (Attribute attribute = group.ops.front()->getAttr(name))
      kernel->setAttr(name, attribute);
}

KernelOp KernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder outer(builder);
  block = builder.createBlock(&body);
  if (group.skeleton == Skeleton::Contraction)
    addMatrices();
  for (Operation *op : group.ops)
    buildOp(cast<KernelForm>(op));
  KernelYieldOp::create(builder, loc, stores, sums);
  buildFinish();
  dropUnusedInputs();

  SmallVector<Value> operands;
  SmallVector<Attribute> accesses;
  for (auto &entry : inputs) {
    operands.push_back(entry.first.first);
    accesses.push_back(entry.first.second);
  }
  SmallVector<Type> finished =
      finishOp ? SmallVector<Type>(finishOp->getResultTypes()) : SmallVector<Type>();
  SmallVector<Type> stored =
      llvm::map_to_vector(storedResults, [](Value v) { return v.getType(); });
  SmallVector<std::string> storage;
  auto linear = dyn_cast<LinearOp>(group.ops.front());
  auto contract = dyn_cast<ContractOp>(group.ops.front());
  SmallVector<Attribute> reduction;
  if (linear)
    reduction.push_back(cast<TensorType>(linear.getX().getType()).getDims().back());
  if (contract) {
    auto lhs = cast<TensorType>(contract.getLhs().getType());
    llvm::append_range(reduction,
                       contract.getTransposeLhs() ? lhs.getRowDims() : lhs.getDims().take_back());
    if (reduction.empty()) // a single row
      reduction.push_back(outer.getI64IntegerAttr(1));
  }
  auto kernel = KernelOp::create(
      outer, loc, stored, finished, outer.getStringAttr(name),
      SkeletonAttr::get(outer.getContext(), group.skeleton), outer.getArrayAttr(group.domain),
      outer.getArrayAttr(reduction), operands, outer.getArrayAttr(accesses),
      outer.getArrayAttr(storedAccesses), UnitAttr::get(outer.getContext()),
      UnitAttr::get(outer.getContext()), outer.getStrArrayAttr(describeFused(storage)),
      DenseI64ArrayAttr(), DenseI64ArrayAttr(), ArrayAttr(),
      AccumulationAttr::get(outer.getContext(), accumulationOf(group.ops.front())));
  kernel.setTransposeLhs(contract && contract.getTransposeLhs());
  kernel.setTransposeRhs(linear || (contract && contract.getTransposeRhs()));
  kernel.getBody().takeBody(body);
  kernel.getFinish().takeBody(finish);
  setPhase(kernel, group.phase);
  noteOrigins(kernel);
  for (auto [before, after] : llvm::zip(storedResults, kernel.getStored()))
    before.replaceAllUsesWith(after);
  if (finishOp)
    for (auto [before, after] : llvm::zip(finishOp->getResults(), kernel.getFinished()))
      before.replaceAllUsesWith(after);
  return kernel;
}

//===--- The graph ---===//

class KernelFormer {
public:
  KernelFormer(GraphOp graph, llvm::StringSet<> &names, bool fuse)
      : graph(graph), block(graph.getBody().front()), builder(graph.getContext()), names(names),
        fuse(fuse) {}

  void run() {
    giveEverySinkAValueOfItsOwn();
    std::vector<KernelGroup> groups = groupOperations(graph, fuse);
    SmallVector<Operation *> old, sinks, through;
    for (Operation &op : block) {
      if (isa<KernelForm>(op))
        old.push_back(&op);
      else if (isa<OutputGradientOp, FlattenOp>(op))
        through.push_back(&op);
      else if (op.getNumResults() == 0)
        sinks.push_back(&op);
    }
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
  }

private:
  /// A sink's value is stored where the sink says, so it must come from a kernel and belong to that
  /// sink alone. The user's states are read until the backward pass is over: they take their new
  /// values from a copy at the end, and from another state by way of a copy made before any state
  /// changes.
  void giveEverySinkAValueOfItsOwn() {
    llvm::SmallDenseSet<Value> claimed;
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (!isa<OutputOp, LossOp, StatisticOp, OutputGradientOp, FlattenOp, AssignOp>(op))
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        auto assign = dyn_cast<AssignOp>(op);
        if (assign && operand.get() == assign.getDestination() && operand.getOperandNumber() == 0)
          continue;
        auto state = assign ? assign.getDestination().getDefiningOp<StateOp>() : StateOp();
        bool later = state && !state.getOptimizer();
        if (!later && isa<KernelForm>(operand.get().getDefiningOp()) &&
            claimed.insert(operand.get()).second)
          continue;
        if (later && operand.get() != assign.getDestination() &&
            isa<StateOp>(operand.get().getDefiningOp()))
          copyFor(operand, Phase::Forward);
        copyFor(operand, getPhase(op));
      }
    }
  }

  void copyFor(OpOperand &operand, Phase phase) {
    Operation *sink = operand.getOwner();
    builder.setInsertionPoint(sink);
    auto copy =
        makePointwise(builder, sink->getLoc(), "copy", operand.get(), operand.get().getType(),
                      [](Scalars &, ValueRange a) { return SmallVector<Value>{a[0]}; });
    setPhase(copy, phase);
    operand.set(copy.getOutputs()[0]);
  }

  static void moveWhatIsReady(SmallVectorImpl<Operation *> &through) {
    llvm::erase_if(through, [](Operation *op) {
      auto ready = [](Value v) { return isa<KernelOp>(v.getDefiningOp()); };
      if (!llvm::all_of(op->getOperands(), ready))
        return false;
      op->moveBefore(op->getBlock(), op->getBlock()->end());
      return true;
    });
  }

  std::string nameOf(const KernelGroup &group) {
    Operation *first = group.ops.front();
    std::string name = graph.isTraining() ? "" : (graph.getName() + "_").str();
    auto pointwise = dyn_cast<PointwiseOp>(first);
    if (group.phase == Phase::Check)
      name += "check";
    else if (group.phase == Phase::Refresh)
      name += "refresh";
    else if (pointwise && getLayer(first).empty())
      name += pointwise.getFunction();
    else if (getLayer(first).empty())
      name += stringifyPhase(group.phase);
    else
      name += getLayer(first);
    if (auto contract = dyn_cast<ContractOp>(first))
      name += contract.getPass() == ContractionPass::InputGradient ? "_input_gradient"
                                                                   : "_weight_gradient";
    else if (isa<LayerNormWeightGradOp>(first))
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

/// Kernels with rows and columns are made for a number of columns that is known; elementwise ones
/// take any shape.
LogicalResult columnsAreKnown(GraphOp graph) {
  for (auto op : graph.getBody().front().getOps<KernelForm>()) {
    bool elementwise =
        op.getSkeleton() == Skeleton::Pointwise || op.getSkeleton() == Skeleton::Flat;
    ArrayRef<Attribute> dims = op.getDomain().getDims();
    auto symbol = dims.empty() ? StringAttr() : dyn_cast<StringAttr>(dims.back());
    if (symbol && !elementwise)
      return op->emitError() << op->getName() << " of layer '" << getLayer(op) << "' has '"
                             << symbol.getValue()
                             << "' columns: give that dimension a fixed extent";
  }
  return success();
}

struct FormKernelsPass : halftone::ir::impl::FormKernelsBase<FormKernelsPass> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    llvm::StringSet<> names;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      if (failed(columnsAreKnown(graph)))
        return signalPassFailure();
      KernelFormer(graph, names, fuse && graph.getName() != kDiagnosis).run();
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
