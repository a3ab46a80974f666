// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {

LogicalResult GeluOp::verify() { return verifyOneShape(*this); }

SmallVector<Value> GeluOp::lower(OpBuilder &builder) {
  return lowerToMap(*this, builder, [&](Scalars &s, ValueRange elements) -> SmallVector<Value> {
    Value x = elements[0], half = s.mul(s.like(x, 0.5), x), one = s.like(x, 1);
    if (!isByTanh()) // D24
      return {s.mul(half, s.add(one, s.erf(s.mul(x, s.like(x, std::sqrt(0.5))))))};
    Value cube = s.mul(s.mul(x, x), x); // D25
    Value u = s.mul(s.like(x, std::sqrt(2 / M_PI)), s.fma(cube, s.like(x, 0.044715), x));
    return {s.mul(half, s.add(one, s.tanh(u)))};
  });
}

static SmallVector<Value> geluErfGradient(Scalars &s, ValueRange a) { // D43
  Value x = a[0];
  Value f = s.mul(s.like(x, 0.5), s.add(s.like(x, 1), s.erf(s.mul(x, s.like(x, std::sqrt(0.5))))));
  Value p = s.mul(s.exp(s.mul(s.like(x, -0.5), s.mul(x, x))), s.like(x, 1 / std::sqrt(2 * M_PI)));
  return {s.mul(a[1], s.fma(x, p, f))};
}

static SmallVector<Value> geluTanhGradient(Scalars &s, ValueRange a) { // D44
  Value x = a[0], one = s.like(x, 1), half = s.like(x, 0.5), c = s.like(x, std::sqrt(2 / M_PI));
  Value square = s.mul(x, x);
  Value t = s.tanh(s.mul(c, s.fma(s.mul(square, x), s.like(x, 0.044715), x)));
  Value du = s.mul(c, s.fma(s.like(x, 3 * 0.044715), square, one));
  Value outer = s.mul(s.mul(half, x), s.sub(one, s.mul(t, t)));
  return {s.mul(a[1], s.fma(outer, du, s.mul(half, s.add(one, t))))};
}

SmallVector<Value> GeluOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  auto op = makeMap(builder, getLoc(), isByTanh() ? "gelu_tanh_grad" : "gelu_grad",
                    {getX(), resultGradients[0]}, gradientType(getX()),
                    isByTanh() ? geluTanhGradient : geluErfGradient);
  return {op.getOutputs()[0]};
}

} // namespace halftone::ir
