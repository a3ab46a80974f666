// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult ContractOp::verify() {
  auto matrix = [](TensorType type, bool transpose) {
    ArrayRef<Attribute> dims = type.getDims(), rows = type.getRowDims(), columns = dims.take_back();
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(tensor(getLhs()), getTransposeLhs());
  auto [k2, n] = matrix(tensor(getRhs()), getTransposeRhs());
  if (k != k2)
    return emitOpError() << "sums over " << formatDims(k) << " of lhs but " << formatDims(k2)
                         << " of rhs";
  if (getType().getRowDims() != m || getType().getDims().take_back() != n)
    return emitOpError() << "result " << getType() << " is not " << formatDims(m) << " by "
                         << formatDims(n);
  return success();
}

Skeleton ContractOp::getSkeleton() { return Skeleton::Contraction; }

TensorType ContractOp::getDomain() { return getType(); }

SmallVector<AccessAttr> ContractOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs});
}

SmallVector<AccessAttr> ContractOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Full});
}

SmallVector<Value> ContractOp::buildBody(OpBuilder &, ValueRange, Value accumulator) {
  return {accumulator};
} // D40

} // namespace halftone::ir
