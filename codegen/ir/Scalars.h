// SPDX-License-Identifier: Apache-2.0
// Short names for building scalar bodies, so that a formula reads as in docs/spec/description.md.
#ifndef HALFTONE_IR_SCALARS_H
#define HALFTONE_IR_SCALARS_H

#include "codegen/ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::ir {

class Scalars {
public:
  Scalars(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// The results of a block of scalar code, of these arguments.
  llvm::SmallVector<mlir::Value> inlined(mlir::Block &block, mlir::ValueRange arguments);

  /// The f32 x rounded to `to`, in its type (F2).
  mlir::Value truncate(mlir::Value x, const Encoding &to) {
    if (to.saturate)
      x = saturate(x, to.element);
    auto mode = to.rounding == encoding::Rounding::toward_zero
                    ? mlir::arith::RoundingModeAttr::get(builder.getContext(),
                                                         mlir::arith::RoundingMode::toward_zero)
                    : mlir::arith::RoundingModeAttr();
    return mlir::arith::TruncFOp::create(builder, loc, typeOf(builder.getContext(), to.element), x,
                                         mode, mlir::arith::FastMathFlagsAttr());
  }
  /// Likewise of an f32 that goes on as one.
  mlir::Value round(mlir::Value x, const Encoding &to) {
    if (to.element == Element::f32)
      return x;
    return mlir::arith::ExtFOp::create(builder, loc, x.getType(), truncate(x, to));
  }
  /// The element's largest number in place of what is larger, so that rounding cannot leave its
  /// range; a NaN is neither larger nor smaller.
  mlir::Value saturate(mlir::Value x, Element element) {
    double largest = largestOf(element);
    mlir::Value most = like(x, largest), least = like(x, -largest);
    return select(less(x, least), least, select(greater(x, most), most, x));
  }
  /// The bits of an f32, and the f32 of bits.
  mlir::Value bits(mlir::Value real) {
    return mlir::arith::BitcastOp::create(builder, loc, builder.getI32Type(), real);
  }
  mlir::Value real(mlir::Value bits) {
    return mlir::arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
  }
  mlir::Value absolute(mlir::Value a) { return mlir::math::AbsFOp::create(builder, loc, a); }
  mlir::Value constant(mlir::Type type, double value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getFloatAttr(type, rounded(type, value)));
  }
  mlir::Value like(mlir::Value x, double value) { return constant(x.getType(), value); }
  mlir::Value integer(int64_t value, unsigned bits = 32) {
    return mlir::arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b);
  }
  mlir::Value maximum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MaximumFOp::create(builder, loc, a, b);
  }
  mlir::Value minimum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MinimumFOp::create(builder, loc, a, b);
  }
  mlir::Value neg(mlir::Value a) { return mlir::arith::NegFOp::create(builder, loc, a); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(builder, loc, a, b, c);
  }
  mlir::Value sqrt(mlir::Value a) { return mlir::math::SqrtOp::create(builder, loc, a); }
  mlir::Value exp(mlir::Value a) { return mlir::math::ExpOp::create(builder, loc, a); }
  mlir::Value log(mlir::Value a) { return mlir::math::LogOp::create(builder, loc, a); }
  mlir::Value sin(mlir::Value a) { return mlir::math::SinOp::create(builder, loc, a); }
  mlir::Value cos(mlir::Value a) { return mlir::math::CosOp::create(builder, loc, a); }
  mlir::Value pow(mlir::Value a, mlir::Value b) {
    return mlir::math::PowFOp::create(builder, loc, a, b);
  }
  mlir::Value tanh(mlir::Value a) { return mlir::math::TanhOp::create(builder, loc, a); }
  mlir::Value erf(mlir::Value a) { return mlir::math::ErfOp::create(builder, loc, a); }
  mlir::Value sigmoid(mlir::Value a) { return SigmoidOp::create(builder, loc, a.getType(), a); }
  mlir::Value recipe(Function function, mlir::Value a, bool narrow = false) {
    return RecipeOp::create(builder, loc, a.getType(), function, a, narrow);
  }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OLT, a, b);
  }
  mlir::Value greater(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OGT, a, b);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  mlir::Value lessOrEqual(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpFPredicate::OLE, a, b);
  }
  mlir::Value isNan(mlir::Value a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value plus(mlir::Value a, mlir::Value b) { // of integers, as the next two
    return mlir::arith::AddIOp::create(builder, loc, a, b);
  }
  mlir::Value minus(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubIOp::create(builder, loc, a, b);
  }
  mlir::Value times(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulIOp::create(builder, loc, a, b);
  }
  mlir::Value toFloat(mlir::Type type, mlir::Value integer) {
    return mlir::arith::SIToFPOp::create(builder, loc, type, integer);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(builder, loc, a, b);
  }
  mlir::Value either(mlir::Value a, mlir::Value b) {
    return mlir::arith::OrIOp::create(builder, loc, a, b);
  }
  /// Of an integer without a sign, by 0 to 31 bits.
  mlir::Value shiftRight(mlir::Value a, int64_t bits) {
    return mlir::arith::ShRUIOp::create(builder, loc, a, integer(bits));
  }
  mlir::Value shiftLeft(mlir::Value a, int64_t bits) {
    return mlir::arith::ShLIOp::create(builder, loc, a, integer(bits));
  }
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder, loc, c, a, b);
  }
  mlir::Value rowSum(mlir::Value a) { return RowSumOp::create(builder, loc, a.getType(), a); }
  mlir::Value rowMax(mlir::Value a) { return RowMaxOp::create(builder, loc, a.getType(), a); }
  mlir::Value kept(mlir::Value a) { return KeptOp::create(builder, loc, a.getType(), a); }
  /// Of an integer without a sign.
  mlir::Value remainder(mlir::Value a, int64_t b) { return remainder(a, integer(b)); }
  mlir::Value remainder(mlir::Value a, mlir::Value b) {
    return mlir::arith::RemUIOp::create(builder, loc, a, b);
  }
  /// An integer as f32, to the nearest.
  mlir::Value number(mlir::Value a) {
    return mlir::arith::SIToFPOp::create(builder, loc, builder.getF32Type(), a);
  }
  mlir::Value columnIndex() { return ColumnIndexOp::create(builder, loc, builder.getI32Type()); }
  mlir::Value axisIndex(int64_t axis) {
    return AxisIndexOp::create(builder, loc, builder.getI32Type(), axis);
  }
  mlir::Value draw(llvm::StringRef layer, mlir::ValueRange counters) {
    return DrawOp::create(builder, loc, builder.getI32Type(), layer, counters[0], counters[1],
                          counters[2], counters[3]);
  }
  mlir::Value count(mlir::Type type, llvm::ArrayRef<mlir::Attribute> dims) {
    return CountOp::create(builder, loc, type, builder.getArrayAttr(dims));
  }
  /// How long a dimension is, as i32.
  mlir::Value length(mlir::Attribute dim) {
    if (auto extent = mlir::dyn_cast<mlir::IntegerAttr>(dim))
      return integer(extent.getInt());
    return count(builder.getI32Type(), dim);
  }
  /// How many columns a row of `tensor` has, as i32 or as a float.
  mlir::Value columns(mlir::Type type, TensorType tensor) {
    std::optional<int64_t> number = tensor.getColumns();
    if (!number)
      return count(type, tensor.getDims().take_back());
    return type.isInteger(32) ? integer(*number) : constant(type, static_cast<double>(*number));
  }

private:
  /// Rounds once, from double to the format, so that a FloatAttr of that format can hold it.
  static llvm::APFloat rounded(mlir::Type type, double value) {
    llvm::APFloat result(value);
    bool loses;
    result.convert(mlir::cast<mlir::FloatType>(type).getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &loses);
    return result;
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Builds scalar code from the scalars that a region receives; returns what it yields.
using ScalarCode = llvm::function_ref<llvm::SmallVector<mlir::Value>(Scalars &, mlir::ValueRange)>;

/// A domain and how its elements address operands and results; without one, that of the results,
/// whose operands have their shape or are one value a column or for all.
struct Space {
  TensorType domain;
  llvm::SmallVector<AccessAttr> reads, writes;
};

MapOp makeMap(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
              mlir::ValueRange inputs, mlir::TypeRange results, ScalarCode code);
MapOp makeMap(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
              const Space &space, mlir::ValueRange inputs, mlir::TypeRange results,
              ScalarCode code);

/// The sum of two tensors, element by element.
MapOp makeSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// The gradient of a function of x alone: what arrives times the derivative at x.
mlir::Value makeDerivative(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                           Function derivative, mlir::Value x, mlir::Value gradient);

/// Sums over the shape of the first input; without `each` of what the inputs hold, with a `finish`
/// over everything. Without `reads`, inputs other than the first are addressed as makeMap does.
ReduceOp makeReduce(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef label,
                    llvm::ArrayRef<AccessAttr> reads, mlir::ValueRange inputs,
                    mlir::TypeRange results, ScalarCode each = nullptr,
                    ScalarCode finish = nullptr);

/// How an element of `domain` addresses an operand of type `operand`; null when the shapes
/// do not fit.
AccessAttr inferAccess(TensorType domain, TensorType operand);

/// Clones the operations of `block` but its terminator, with its arguments replaced; returns the
/// terminator's operands.
llvm::SmallVector<mlir::Value> inlineBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                           mlir::ValueRange arguments);
inline llvm::SmallVector<mlir::Value> Scalars::inlined(mlir::Block &block,
                                                       mlir::ValueRange arguments) {
  return inlineBlock(builder, block, arguments);
}

/// Adjoints of a scalar region's arguments (D47), given those of what it yields; null where none
/// arrives. `arguments` are the values that stand for the region's arguments. Fails with a
/// diagnostic on an operation that has no derivative.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> buildScalarAdjoints(mlir::OpBuilder &builder,
                                                                    mlir::Block &block,
                                                                    mlir::ValueRange arguments,
                                                                    mlir::ValueRange yieldAdjoints);

} // namespace halftone::ir

#endif
