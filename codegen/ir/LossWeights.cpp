// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"

using namespace mlir;

namespace halftone::ir {

Value makeDivisor(OpBuilder &builder, Location loc, ValueRange inputs, ScalarCode weightOf,
                  TensorType rows) { // D71
  auto finish = [&](Scalars &s, ValueRange sums) -> SmallVector<Value> {
    Value sum = sums[0];
    Value count = rows ? s.mul(sum, s.columns(sum.getType(), rows)) : sum;
    return {s.select(s.equal(sum, s.like(sum, 0)), s.like(sum, 1), count)};
  };
  auto scalar = TensorType::get(builder.getContext(), {}, builder.getF32Type());
  auto sum = makeReduce(builder, loc, "divisor", {}, inputs, scalar, weightOf, finish);
  return sum.getOutputs()[0];
}

static Value isZero(Scalars &s, Value weight) { return s.equal(weight, s.like(weight, 0)); }

Value weigh(Scalars &s, Value weight, Value summand) {
  return passOver(s, weight, s.mul(weight, summand));
}

Value passOver(Scalars &s, Value weight, Value gradient) {
  return s.select(isZero(s, weight), s.like(gradient, 0), gradient);
}

//===--- Losses of single elements ---===//

bool weighsRows(ValueRange operands) {
  return tensor(operands.back()).getRank() < tensor(operands.front()).getRank();
}

TensorType getSummands(ValueRange operands) {
  TensorType x = gradientType(operands.front());
  return weighsRows(operands) ? x.withDims(x.getRowDims()) : x;
}

SmallVector<AccessAttr> getLossAccesses(Operation *op) {
  if (!weighsRows(op->getOperands()))
    return inferOperandAccesses(op);
  SmallVector<AccessKind> kinds(op->getNumOperands(), AccessKind::Full);
  kinds.back() = AccessKind::Row;
  return accesses(op->getContext(), kinds);
}

LogicalResult verifySummands(Operation *op) {
  TensorType x = tensor(op->getOperand(0)), result = tensor(op->getResult(0));
  TensorType last = tensor(op->getOperands().back());
  bool byRow = weighsRows(op->getOperands());
  for (Value operand : op->getOperands().drop_back(byRow ? 1 : 0))
    if (!tensor(operand).hasSameDims(x))
      return op->emitOpError() << "operand " << tensor(operand) << " does not have the shape of "
                               << x;
  if (byRow && last.getDims() != x.getRowDims())
    return op->emitOpError() << "weight " << last << " does not have one value per row of " << x;
  if (!result.hasSameDims(getSummands(op->getOperands())))
    return op->emitOpError() << "result " << result << " does not have one value per "
                             << (byRow ? "row" : "element") << " of " << x;
  return success();
}

SmallVector<Value> lowerLoss(Operation *op, OpBuilder &builder, StringRef label, Value weight,
                             ScalarCode code) {
  Space space;
  bool byRow = weight && weighsRows(op->getOperands());
  if (byRow)
    space = {tensor(op->getOperand(0)), getLossAccesses(op),
             accesses(builder.getContext(), {AccessKind::Row})};
  auto weighed = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value summand = code(s, e.drop_back())[0];
    return {weigh(s, e.back(), byRow ? s.rowSum(summand) : summand)};
  };
  auto map = makeMap(builder, op->getLoc(), label, space, op->getOperands(), op->getResultTypes(),
                     weight ? ScalarCode(weighed) : code);
  return SmallVector<Value>(map.getOutputs());
}

Value makeElementDivisor(OpBuilder &builder, Operation *op, Value weight) {
  if (!weight)
    return {};
  TensorType rows = weighsRows(op->getOperands()) ? tensor(op->getOperand(0)) : TensorType();
  return makeDivisor(builder, op->getLoc(), weight, nullptr, rows);
}

Space getGradientSpace(Operation *op, unsigned gradients) {
  if (!weighsRows(op->getOperands()))
    return {};
  SmallVector<AccessAttr> reads = getLossAccesses(op);
  reads.push_back(AccessAttr::get(op->getContext(), AccessKind::Row)); // what arrives
  SmallVector<AccessKind> writes(gradients, AccessKind::Full);
  return {tensor(op->getOperand(0)), reads, accesses(op->getContext(), writes)};
}

//===--- Losses of rows ---===//

TensorType getRowSummands(ValueRange operands) {
  TensorType x = gradientType(operands.front());
  return x.withDims(x.getRowDims());
}

SmallVector<AccessAttr> getRowLossAccesses(Operation *op, unsigned full) {
  SmallVector<AccessKind> kinds(op->getNumOperands(), AccessKind::Row);
  std::fill_n(kinds.begin(), full, AccessKind::Full);
  return accesses(op->getContext(), kinds);
}

LogicalResult verifyRowSummands(Operation *op, unsigned full) {
  TensorType x = tensor(op->getOperand(0));
  SmallVector<Value> ofRows(op->getOperands().drop_front(full));
  llvm::append_range(ofRows, op->getResults());
  for (Value value : ofRows)
    if (tensor(value).getDims() != x.getRowDims())
      return op->emitOpError() << tensor(value) << " does not have one value per row of " << x;
  return success();
}

Space getRowGradientSpace(Operation *op, unsigned full) {
  SmallVector<AccessAttr> reads = getRowLossAccesses(op, full);
  reads.push_back(AccessAttr::get(op->getContext(), AccessKind::Row)); // what arrives
  SmallVector<AccessKind> writes(full, AccessKind::Full);
  return {tensor(op->getOperand(0)), reads, accesses(op->getContext(), writes)};
}

} // namespace halftone::ir
