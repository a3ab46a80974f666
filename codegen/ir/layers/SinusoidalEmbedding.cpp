// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Angles.h"
#include "codegen/ir/Continuation.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SinusoidalEmbeddingOp::verify() {
  TensorType x = tensor(getX());
  if (x.getRank() < 2 || !getType().hasSameDims(x))
    return emitOpError() << "x " << x << " must have times before its columns, and result "
                         << getType() << " its shape";
  if (x.getColumns().value_or(1) % 2 != 0)
    return emitOpError() << x << " does not have an even number of columns";
  return verifyPosition(*this, getPosition(), x);
}

SmallVector<AccessAttr> SinusoidalEmbeddingOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Full, AccessKind::Row});
  list.resize(getNumOperands());
  return list;
}

SmallVector<Value> SinusoidalEmbeddingOp::lower(OpBuilder &builder) { // D66
  TensorType x = tensor(getX());
  int64_t width = *x.getColumns();
  TensorType type = typeOfTurns(x, getPosition(), width / 2);
  Frequencies of{width, getBase().convertToDouble(), 1, {}};
  SmallVector<Value> turns = makeTurns(*this, builder, of, getPosition(), type);
  AccessAttr turn = readOfTurns(x, type, [](AffineExpr column) { return column.floorDiv(2); });
  AccessAttr full = AccessAttr::get(getContext(), AccessKind::Full);
  auto code = [](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value isEven =
        s.compare(arith::CmpIPredicate::eq, s.remainder(s.columnIndex(), 2), s.integer(0));
    return {s.add(e[0], s.select(isEven, e[2], e[1]))};
  };
  auto map = makeMap(builder, getLoc(), "sinusoidal_embedding", {x, {full, turn, turn}, {full}},
                     {getX(), turns[0], turns[1]}, getType(), code);
  return {map.getOutputs()[0]};
}

SmallVector<Value> SinusoidalEmbeddingOp::buildGradients(OpBuilder &,
                                                         ValueRange resultGradients) { // D69
  SmallVector<Value> gradients(getNumOperands());
  gradients[0] = resultGradients[0];
  return gradients;
}

LogicalResult SinusoidalEmbeddingOp::continueFrom(const Continuation &before) {
  if (failed(countsTimes(*this, getX(), getPosition(), before)))
    return failure();
  getPositionMutable().assign(before.positions);
  return success();
}

SmallVector<Value> SinusoidalEmbeddingOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
