// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

ReduceOp makeReduce(OpBuilder &builder, Location loc, StringRef label, ArrayRef<AccessAttr> reads,
                    ValueRange inputs, TypeRange results, ScalarCode each, ScalarCode finish) {
  ArrayAttr listed = reads.empty()
                         ? ArrayAttr()
                         : builder.getArrayAttr(SmallVector<Attribute>(reads.begin(), reads.end()));
  auto op = ReduceOp::create(builder, loc, results, builder.getStringAttr(label), inputs, listed,
                             ContractionPassAttr());
  OpBuilder::InsertionGuard guard(builder);
  Scalars scalars(builder, loc);
  auto fill = [&](Region &region, ScalarCode code, auto addArgumentsTo) {
    if (!code)
      return;
    Block *block = builder.createBlock(&region);
    addArgumentsTo(block);
    YieldOp::create(builder, loc, code(scalars, block->getArguments()));
  };
  fill(op.getEach(), each, [&](Block *block) { addArguments(block, inputs, loc); });
  fill(op.getFinish(), finish, [&](Block *block) {
    for (unsigned i = 0, end = op.countSums(); i < end; ++i)
      block->addArgument(builder.getF32Type(), loc);
    addArguments(block, op.getScalars(), loc);
  });
  return op;
}

bool isColumnSum(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.isColumnSum() && tensor(reduce.getOutputs()[0]).getRank() <= 1;
}

SmallVector<AccessAttr> ReduceOp::getOperandAccesses() {
  if (getReads())
    return listed(*getReads());
  SmallVector<AccessAttr> list = inferAccesses(getDomain(), getInputs());
  list.front() = AccessAttr::get(getContext(), AccessKind::Full);
  return list;
}

SmallVector<Value> ReduceOp::getScalars() {
  SmallVector<Value> scalars;
  for (auto [input, access] : llvm::zip(getInputs(), getOperandAccesses()))
    if (access.getKind() == AccessKind::Scalar)
      scalars.push_back(input);
  return scalars;
}

/// What the result holds already, where the sum goes on from that: the last operand, or null.
static Value getStart(ReduceOp op) {
  AccessAttr last = op.getOperandAccesses().back();
  return last && last.getKind() == AccessKind::Start ? op.getInputs().back() : Value();
}

unsigned ReduceOp::countSums() {
  unsigned starts = getStart(*this) ? 1 : 0;
  return getEach().empty() ? getInputs().size() - getScalars().size() - starts
                           : getEach().front().getTerminator()->getNumOperands();
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getOutputs().empty())
    return emitOpError("wants an operand to sum and a result");
  Axes axes{getDomain().getDims(), {}};
  for (auto [operand, access] : llvm::zip(getInputs(), getOperandAccesses()))
    if (!access || failed(verifyAccess(*this, axes, access, tensor(operand))))
      return access ? failure()
                    : emitOpError()
                          << tensor(operand) << " does not fit domain " << formatDims(axes.domain);
  if (!getEach().empty() && !fitCode(getEach().front().getArgumentTypes(), getInputs()))
    return emitOpError("wants one argument per operand, of its element type, in 'each'");
  if (getFinish().empty()) {
    for (auto [result, access] : llvm::zip(getOutputs(), getResultAccesses()))
      if (!holdsColumnSums(axes.domain, tensor(result)) &&
          failed(verifyAccess(*this, axes, access, tensor(result))))
        return failure();
    if (!llvm::all_equal(getResultTypes()))
      return emitOpError("wants results of one shape");
    if (Value start = getStart(*this); start && (!getEach().empty() || getNumResults() != 1 ||
                                                 start.getType() != getResultTypes().front()))
      return emitOpError("goes on from what its result holds, so that it has one result, of that "
                         "type, and no 'each'");
    return countSums() == getNumResults() ? success()
                                          : emitOpError("wants as many sums as results");
  }
  Block &finish = getFinish().front();
  if (finish.getNumArguments() != countSums() + getScalars().size())
    return emitOpError("wants the sums and one argument per scalar in 'finish'");
  if (finish.getTerminator()->getNumOperands() != getNumResults())
    return emitOpError("wants 'finish' to yield one value per result");
  return success();
}

Skeleton ReduceOp::getSkeleton() { return hasFinish() ? Skeleton::Flat : Skeleton::Column; }

TensorType ReduceOp::getDomain() { return tensor(getInputs().front()); }

SmallVector<AccessAttr> ReduceOp::getResultAccesses() {
  return hasFinish() ? SmallVector<AccessAttr>()
                     : SmallVector<AccessAttr>(getNumResults(),
                                               AccessAttr::get(getContext(), AccessKind::Column));
}

SmallVector<Value> ReduceOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  if (!getEach().empty())
    return inlineBlock(builder, getEach().front(), elements);
  SmallVector<Value> summands;
  for (auto [element, access] : llvm::zip(elements, getOperandAccesses()))
    if (access.getKind() != AccessKind::Scalar && access.getKind() != AccessKind::Start)
      summands.push_back(element);
  return summands;
}

bool ReduceOp::hasFinish() { return !getFinish().empty(); }

SmallVector<Value> ReduceOp::buildFinish(OpBuilder &builder, ValueRange sums, ValueRange scalars) {
  SmallVector<Value> arguments(sums);
  llvm::append_range(arguments, scalars);
  return inlineBlock(builder, getFinish().front(), arguments);
}

} // namespace halftone::ir
