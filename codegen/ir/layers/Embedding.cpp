// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineMap.h"

#include <limits>

using namespace mlir;

namespace halftone::ir {

LogicalResult EmbeddingOp::verify() {
  TensorType token = tensor(getToken()), weight = tensor(getWeight());
  if (!codeTypeOf(getToken()).isInteger(32))
    return emitOpError() << "token " << token << " is not of integers";
  if (weight.getRank() != 2 || !weight.getStaticElements())
    return emitOpError() << "weight " << weight << " is not a number of rows and columns";
  if (*getStaticProduct(weight.getRowDims()) > std::numeric_limits<int32_t>::max())
    return emitOpError() << "weight " << weight << " has more rows than an i32 can name";
  if (getType().getRowDims() != token.getDims() || getType().getColumns() != weight.getColumns())
    return emitOpError() << "result " << getType() << " does not have a row of " << weight
                         << " for every one of " << token;
  return success();
}

/// The token, once a row; of weight the row that it names: (i, j)[token] -> (token, j).
SmallVector<AccessAttr> EmbeddingOp::getOperandAccesses() {
  unsigned axes = getType().getRank();
  auto gather = AffineMap::get(
      axes, 1, {getAffineSymbolExpr(0, getContext()), getAffineDimExpr(axes - 1, getContext())},
      getContext());
  return {
      AccessAttr::get(getContext(), AccessKind::Row),
      AccessAttr::get(getContext(), AccessKind::General, 0, AffineMapAttr::get(gather), {}, {0})};
}

SmallVector<Value> EmbeddingOp::lower(OpBuilder &builder) { // D34
  int64_t rows = *getStaticProduct(tensor(getWeight()).getRowDims());
  return lowerToMap(
      *this, builder,
      [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
        Value isRow = s.compare(arith::CmpIPredicate::ult, e[0], s.integer(rows));
        return {s.select(isRow, e[1], s.like(e[1], std::numeric_limits<double>::quiet_NaN()))};
      },
      getType(), {AccessKind::Full});
}

SmallVector<Value> EmbeddingOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D53
  auto ofWeight = SegmentSumOp::create(builder, getLoc(), gradientType(getWeight()), getToken(),
                                       resultGradients[0], getPaddingIndexAttr());
  return {Value(), ofWeight};
}

SmallVector<Value> EmbeddingOp::readForGradient(unsigned) { return {}; }

} // namespace halftone::ir
