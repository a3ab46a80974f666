// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Places.h"

#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

AccessAttr readShared(TensorType domain, TensorType shared) {
  MLIRContext *context = domain.getContext();
  SmallVector<AffineExpr> at;
  for (unsigned axis = 0; axis + 1 < shared.getRank(); ++axis)
    at.push_back(getAffineDimExpr(axis, context));
  at.push_back(getAffineDimExpr(domain.getRank() - 1, context));
  return readAt(at, domain, shared);
}

AccessAttr readBehind(TensorType domain, TensorType behind) {
  SmallVector<AffineExpr> axes = axesOf(domain);
  return readAt(ArrayRef(axes).take_back(behind.getRank()), domain, behind);
}

Value sumPlaces(OpBuilder &builder, Location loc, StringRef label, ArrayRef<AccessAttr> reads,
                ValueRange inputs, TensorType shared, ScalarCode each) {
  return makeReduce(builder, loc, label, reads, inputs, shared, each).getOutputs()[0];
}

} // namespace halftone::ir
