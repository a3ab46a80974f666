// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/spec/math.md as arith operations, one for each line there and in its order.
// Runs of lines that recipes share are functions, named by what they compute; polynomials are lists
// of coefficients.
#ifndef HALFTONE_PASSES_RECIPES_H
#define HALFTONE_PASSES_RECIPES_H

#include <array>

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
  mlir::Value log1p(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value sin(mlir::Value x);
  mlir::Value cos(mlir::Value x);
  mlir::Value pow(mlir::Value x, mlir::Value y);
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
  mlir::Value bitOr(mlir::Value a, mlir::Value b) {
    return mlir::arith::OrIOp::create(builder, loc, a, b);
  }
  mlir::Value bitXor(mlir::Value a, mlir::Value b) {
    return mlir::arith::XOrIOp::create(builder, loc, a, b);
  }
  mlir::Value shiftRightUnsigned(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShRUIOp::create(builder, loc, a, b);
  }
  mlir::Value floor(mlir::Value a) { return mlir::math::FloorOp::create(builder, loc, a); }
  /// Whether a & mask has a bit.
  mlir::Value hasBits(mlir::Value a, uint32_t mask) {
    return compare(mlir::arith::CmpIPredicate::ne, bitAnd(a, word(mask)), word(0));
  }
  mlir::Value shiftLeft(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShLIOp::create(builder, loc, a, b);
  }
  mlir::Value shiftRight(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShRSIOp::create(builder, loc, a, b);
  }

  mlir::Value atMost(mlir::Value a, float bound) {
    return select(greater(a, lit(bound)), lit(bound), a);
  }
  mlir::Value atLeast(mlir::Value a, float bound) {
    return select(less(a, lit(bound)), lit(bound), a);
  }
  /// A polynomial, the highest coefficient first: an fma for each of the others.
  mlir::Value horner(mlir::Value x, llvm::ArrayRef<float> coefficients);
  /// The power of two whose biased exponent stands in the low bits of t.
  mlir::Value powerOfTwo(mlir::Value t);

  /// What is left of an exponent: exp of the argument is that of r times the power of two in t.
  struct Split {
    mlir::Value t, r;
  };
  struct SignAndMagnitude {
    mlir::Value sb, a;
  };

  // R1 to R5, R13 and R14
  mlir::Value expOfRest(mlir::Value n, mlir::Value b);
  mlir::Value scaleByHalves(mlir::Value p, mlir::Value t);
  SignAndMagnitude splitSign(mlir::Value x);
  mlir::Value addSign(mlir::Value y, mlir::Value sb);

  // R7 to R12
  mlir::Value reluMinus(mlir::Value x, mlir::Value ax, mlir::Value y);
  mlir::Value reflect(mlir::Value x, mlir::Value y);
  Split splitNegated(mlir::Value v);
  mlir::Value expOfNegated(mlir::Value t, mlir::Value r);
  mlir::Value gaussian(mlir::Value a);
  mlir::Value millsNumerator(mlir::Value a);
  mlir::Value millsDenominator(mlir::Value a);
  mlir::Value geluTanhExp(mlir::Value a, mlir::Value s);
  mlir::Value siluExp(mlir::Value a);
  mlir::Value gate(mlir::Value x, mlir::Value ax, mlir::Value a, mlir::Value e);
  mlir::Value gateDerivative(mlir::Value x, mlir::Value e, mlir::Value d, mlir::Value f);

  // R13 to R21
  Split splitProduct(mlir::Value a, mlir::Value k, float offset);
  mlir::Value exp2OfDegree4(mlir::Value r);
  mlir::Value exp2OfDegree5(mlir::Value r);
  mlir::Value addExponent(mlir::Value p, mlir::Value t);
  mlir::Value refineReciprocal(mlir::Value d, mlir::Value i1);
  mlir::Value reciprocal(mlir::Value e, mlir::Value d);
  mlir::Value power16(mlir::Value w);
  Split splitGeluTanh(mlir::Value a, mlir::Value s);
  Split splitSilu(mlir::Value a);
  mlir::Value narrowReluMinus(mlir::Value x, mlir::Value g, mlir::Value v);
  mlir::Value narrowReflect(mlir::Value x, mlir::Value g, mlir::Value v);
  mlir::Value narrowGate(mlir::Value x, mlir::Value a, mlir::Value e);
  mlir::Value narrowGateDerivative(mlir::Value x, mlir::Value e, mlir::Value i, mlir::Value f);

  // R24 and R25
  struct Reduced {
    mlir::Value r, t, m, k;
  };
  std::array<mlir::Value, 3> bitsOfTwoOverPi(mlir::Value s);
  mlir::Value wideProduct(mlir::Value a, mlir::Value b);
  Reduced reduce(mlir::Value x);
  mlir::Value sine(mlir::Value r, mlir::Value t);
  mlir::Value cosine(mlir::Value r, mlir::Value t);
  mlir::Value quadrant(mlir::Value x, const Reduced &of, mlir::Value k, mlir::Value sign);

  // R2, R22 and R26
  struct Mantissa {
    mlir::Value n, f;
  };
  struct Pair {
    mlir::Value h, l;
  };
  Mantissa mantissa(mlir::Value x);
  mlir::Value logOf(mlir::Value n, mlir::Value f);
  Pair log2(mlir::Value a);
  mlir::Value exp2(mlir::Value h, mlir::Value l);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace halftone::ir

#endif
