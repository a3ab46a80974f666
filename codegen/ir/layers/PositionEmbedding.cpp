// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Angles.h"
#include "codegen/ir/Continuation.h"
#include "mlir/IR/AffineMap.h"

#include <limits>

using namespace mlir;

namespace halftone::ir {

LogicalResult PositionEmbeddingOp::verify() {
  TensorType x = tensor(getX()), weight = tensor(getWeight());
  if (x.getRank() < 2 || !getType().hasSameDims(x))
    return emitOpError() << "x " << x << " must have times before its columns, and result "
                         << getType() << " its shape";
  if (weight.getRank() != 2 || !weight.getStaticElements() ||
      weight.getDims().back() != x.getDims().back())
    return emitOpError() << "weight " << weight << " is not rows, in a number, as long as those of "
                         << x;
  return verifyPosition(*this, getPosition(), x);
}

/// Of weight the row of the element's time, or that which its position names.
SmallVector<AccessAttr> PositionEmbeddingOp::getOperandAccesses() {
  unsigned axes = getType().getRank();
  bool named = getPosition() != nullptr;
  AffineExpr time =
      named ? getAffineSymbolExpr(0, getContext()) : getAffineDimExpr(axes - 2, getContext());
  auto row =
      AffineMap::get(axes, named, {time, getAffineDimExpr(axes - 1, getContext())}, getContext());
  SmallVector<int64_t> index(named, 2);
  SmallVector<AccessAttr> list{
      AccessAttr::get(getContext(), AccessKind::Full),
      AccessAttr::get(getContext(), AccessKind::General, 0, AffineMapAttr::get(row), {}, index)};
  if (named)
    list.push_back(AccessAttr::get(getContext(), AccessKind::Row));
  return list;
}

static int64_t countRows(Value weight) { return *getStaticProduct(tensor(weight).getRowDims()); }

SmallVector<Value> PositionEmbeddingOp::lower(OpBuilder &builder) { // D65
  int64_t time = getType().getRank() - 2;
  return lowerToMap(*this, builder,
                    [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                      Value at = getPosition() ? e[2] : s.axisIndex(time);
                      Value isRow = s.compare(arith::CmpIPredicate::ult, at,
                                              s.integer(countRows(getWeight())));
                      Value none = s.like(e[1], std::numeric_limits<double>::quiet_NaN());
                      return {s.add(e[0], s.select(isRow, e[1], none))};
                    },
                    getType(), {AccessKind::Full});
}

SmallVector<Value> PositionEmbeddingOp::buildGradients(OpBuilder &builder,
                                                       ValueRange resultGradients) { // D68
  TensorType x = tensor(getX());
  auto type = TensorType::get(getContext(), x.getRowDims(), builder.getI32Type());
  auto times = makeMap(builder, getLoc(), "times", {}, type, [&](Scalars &s, ValueRange) {
    return SmallVector<Value>{s.axisIndex(x.getRank() - 2)};
  });
  auto ofWeight = SegmentSumOp::create(builder, getLoc(), gradientType(getWeight()),
                                       times.getOutputs()[0], resultGradients[0], IntegerAttr());
  return {resultGradients[0], ofWeight};
}

LogicalResult PositionEmbeddingOp::continueFrom(const Continuation &before) {
  if (failed(countsTimes(*this, getX(), getPosition(), before)))
    return failure();
  getPositionMutable().assign(before.positions);
  return success();
}

SmallVector<Value> PositionEmbeddingOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
