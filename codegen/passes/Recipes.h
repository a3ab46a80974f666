// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/spec/math.md as arith operations: one line there is one line in Recipes.cpp.
#ifndef HALFTONE_PASSES_RECIPES_H
#define HALFTONE_PASSES_RECIPES_H

#include "codegen/ir/Scalars.h"

namespace halftone::ir {

/// Builds a recipe on f32 values at the builder's insertion point.
class Recipe : private Scalars {
public:
  Recipe(mlir::OpBuilder &builder, mlir::Location loc)
      : Scalars(builder, loc), builder(builder), loc(loc) {}

  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  /// R1's bits in fewer operations, for an argument that is not above zero.
  mlir::Value expOfNonpositive(mlir::Value x);
  mlir::Value geluErf(mlir::Value x);
  mlir::Value geluErfDerivative(mlir::Value x);
  mlir::Value geluTanh(mlir::Value x);
  mlir::Value geluTanhDerivative(mlir::Value x);
  mlir::Value silu(mlir::Value x);
  mlir::Value siluDerivative(mlir::Value x);
  mlir::Value narrowExp(mlir::Value x);
  mlir::Value narrowTanh(mlir::Value x);
  mlir::Value narrowSigmoid(mlir::Value x);
  mlir::Value narrowGeluErf(mlir::Value x);
  mlir::Value narrowGeluErfDerivative(mlir::Value x);
  mlir::Value narrowGeluTanh(mlir::Value x);
  mlir::Value narrowGeluTanhDerivative(mlir::Value x);
  mlir::Value narrowSilu(mlir::Value x);
  mlir::Value narrowSiluDerivative(mlir::Value x);
  /// N5
  mlir::Value minimum(mlir::Value a, mlir::Value b) { return takeFirst(less(a, b), a, b); }
  mlir::Value maximum(mlir::Value a, mlir::Value b) { return takeFirst(greater(a, b), a, b); }

private:
  mlir::Value takeFirst(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return select(mlir::arith::OrIOp::create(builder, loc, condition, isNan(a)), a, b);
  }
  mlir::Value lit(float constant) {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(constant));
  }
  mlir::Value word(uint32_t constant) { return integer(static_cast<int32_t>(constant)); }
  mlir::Value bits(mlir::Value a) {
    return mlir::arith::BitcastOp::create(builder, loc, builder.getI32Type(), a);
  }
  mlir::Value value(mlir::Value a) {
    return mlir::arith::BitcastOp::create(builder, loc, builder.getF32Type(), a);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  mlir::Value abs(mlir::Value a) { return mlir::math::AbsFOp::create(builder, loc, a); }
  mlir::Value addInt(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(builder, loc, a, b);
  }
  mlir::Value subInt(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubIOp::create(builder, loc, a, b);
  }
  mlir::Value bitAnd(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(builder, loc, a, b);
  }
  mlir::Value shiftLeft(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShLIOp::create(builder, loc, a, b);
  }
  mlir::Value shiftRight(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShRSIOp::create(builder, loc, a, b);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace halftone::ir

#endif
