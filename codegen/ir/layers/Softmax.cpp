// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult SoftmaxOp::verify() {
  if (tensor(getX()).getRank() == 0)
    return emitOpError() << tensor(getX()) << " has no rows";
  return verifyOneShape(*this);
}

namespace {

/// What D103 and D104 have in common.
struct Row {
  Value below, exponential, sum;

  Row(Scalars &s, Value x) {
    below = s.sub(x, s.rowMax(x));
    exponential = s.exp(below);
    sum = s.rowSum(exponential);
  }
  Value share(Scalars &s) const { return s.mul(exponential, s.div(s.like(sum, 1), sum)); }
};

} // namespace

SmallVector<Value> SoftmaxOp::lower(OpBuilder &builder) { // D103
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Row row(s, elements[0]);
    return {isLog() ? s.sub(row.below, s.log(row.sum)) : row.share(s)};
  });
}

SmallVector<Value> SoftmaxOp::buildGradients(OpBuilder &builder,
                                             ValueRange resultGradients) { // D104
  auto op = makeMap(builder, getLoc(), "softmax_grad", {getX(), resultGradients[0]},
                    gradientType(getX()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                      Value p = Row(s, e[0]).share(s), g = e[1];
                      if (isLog())
                        return {s.sub(g, s.mul(p, s.rowSum(g)))};
                      return {s.mul(p, s.sub(g, s.rowSum(s.mul(g, p))))};
                    });
  return {op.getOutputs()[0]};
}

} // namespace halftone::ir
