// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

static LogicalResult verifyBatch(ContractOp op) {
  size_t axes = op.getBatchAxes();
  if (axes == 0)
    return success();
  TensorType lhs = tensor(op.getLhs()), rhs = tensor(op.getRhs()), result = op.getType();
  for (TensorType type : {lhs, rhs, result})
    if (type.getRank() < axes + 2)
      return op.emitOpError() << type << " has no matrix behind a batch of " << axes
                              << (axes == 1 ? " axis" : " axes");
  for (TensorType type : {rhs, result})
    if (type.getDims().take_front(axes) != lhs.getDims().take_front(axes))
      return op.emitOpError() << "has a batch of " << formatDims(lhs.getDims().take_front(axes))
                              << " in lhs but " << formatDims(type.getDims().take_front(axes))
                              << (type == rhs ? " in rhs" : " in its result");
  return success();
}

LogicalResult ContractOp::verify() {
  if (failed(verifyBatch(*this)))
    return failure();
  auto matrix = [&](TensorType type, bool transpose) {
    ArrayRef<Attribute> dims = type.getDims().drop_front(getBatchAxes());
    ArrayRef<Attribute> rows = dims.drop_back(), columns = dims.take_back();
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(tensor(getLhs()), getTransposeLhs());
  auto [k2, n] = matrix(tensor(getRhs()), getTransposeRhs());
  if (k != k2)
    return emitOpError() << "sums over " << formatDims(k) << " of lhs but " << formatDims(k2)
                         << " of rhs";
  auto [rows, columns] = matrix(getType(), false);
  if (rows != m || columns != n)
    return emitOpError() << "result " << getType() << " is not " << formatDims(m) << " by "
                         << formatDims(n);
  if (getStart() && tensor(getStart()) != getType())
    return emitOpError() << "starts from " << tensor(getStart()) << ", which is no " << getType();
  return success();
}

SmallVector<Attribute> ContractOp::getReduction() {
  ArrayRef<Attribute> dims = tensor(getLhs()).getDims().drop_front(getBatchAxes());
  ArrayRef<Attribute> reduced = getTransposeLhs() ? dims.drop_back() : dims.take_back();
  if (reduced.empty()) // a single row
    return {IntegerAttr::get(IntegerType::get(getContext(), 64), 1)};
  return SmallVector<Attribute>(reduced);
}

Skeleton ContractOp::getSkeleton() { return Skeleton::Contraction; }

TensorType ContractOp::getDomain() { return getType(); }

SmallVector<AccessAttr> ContractOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Start});
  list.resize(getNumOperands());
  return list;
}

SmallVector<AccessAttr> ContractOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> ContractOp::buildBody(OpBuilder &, ValueRange, Value accumulator) {
  return {accumulator};
} // D40

} // namespace halftone::ir
