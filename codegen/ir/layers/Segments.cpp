// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Segments.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult verifySegments(Operation *op, Value numbers, TensorType times, TensorType segments) {
  if (!codeTypeOf(numbers).isInteger(32) || tensor(numbers).getDims() != times.getRowDims())
    return op->emitOpError() << "segment " << tensor(numbers)
                             << " does not have one i32 for every time of " << times;
  ArrayRef<Attribute> ofTimes = times.getDims(), ofSegments = segments.getDims();
  if (ofTimes.size() < 2 || ofSegments.size() != ofTimes.size() ||
      ofSegments.drop_back(2) != ofTimes.drop_back(2) || ofSegments.back() != ofTimes.back() ||
      !getStaticProduct(ofSegments.take_back(2)))
    return op->emitOpError() << segments << " does not have segments and columns, in a number, for "
                             << "the times of " << times;
  return success();
}

Value readSegments(OpBuilder &builder, Location loc, StringRef label, Value values, Value numbers,
                   TensorType times) {
  MLIRContext *context = builder.getContext();
  unsigned axes = times.getRank();
  AffineMap map = AffineMap::getMultiDimIdentityMap(axes, context);
  SmallVector<AffineExpr> at(map.getResults());
  at[axes - 2] = getAffineSymbolExpr(0, context);
  map = AffineMap::get(axes, 1, at, context);
  auto row = AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map), {}, {1});
  Space space{times,
              {row, AccessAttr::get(context, AccessKind::Row)},
              accesses(context, {AccessKind::Full})};
  return makeMap(builder, loc, label, space, {values, numbers}, times,
                 [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; })
      .getOutputs()[0];
}

} // namespace halftone::ir
