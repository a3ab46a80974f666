// SPDX-License-Identifier: Apache-2.0
// Branch-free integer code for scalars and vectors alike; f16 by F16C where the variant has it.
#include "codegen/emit/cpu/Casts.h"

using namespace mlir;

namespace halftone::cpu {

using arith::CmpIPredicate;
using arith::RoundingMode;

namespace {

// Codes of f32 values.
constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7f800000, kNan = 0x7fffffff;
constexpr uint32_t kHalf = 0x3f000000;
// f16 has 13 mantissa bits less than f32, and its exponents are 112 less.
constexpr uint32_t kF16Rebias = 112u << 23, kF16LeastNormal = 0x38800000; // 2^-14
// Codes of f16 values, magnitudes of bf16 alike for NaN.
constexpr uint32_t kF16Infinity = 0x7c00, kF16Largest = 0x7bff, kF16Least = 0x0400;
constexpr uint32_t kShortSign = 0x8000, kShortNan = 0x7fff;

/// Arithmetic on values of one shape, a scalar or a vector.
class Lanes {
public:
  Lanes(Code &code, Type like) : code(code), shape(dyn_cast<VectorType>(like)) {}

  Value constant(unsigned bits, uint64_t number) {
    return splat(code.builder.getIntegerAttr(code.builder.getIntegerType(bits), number));
  }
  Value word(uint32_t number) { return constant(32, number); }
  Value real(float number) { return splat(code.builder.getF32FloatAttr(number)); }

  Value bits(Value real) { return cast<arith::BitcastOp>(real, code.builder.getI32Type()); }
  Value real(Value bits) { return cast<arith::BitcastOp>(bits, code.f32()); }
  Value word(Value code16) { return cast<arith::ExtUIOp>(code16, code.builder.getI32Type()); }
  Value code16(Value word) { return cast<arith::TruncIOp>(word, code.builder.getI16Type()); }
  /// Numbers, not codes: toward zero, and exact below 2^24.
  Value integer(Value real) { return cast<arith::FPToSIOp>(real, code.builder.getI32Type()); }
  Value number(Value integer) { return cast<arith::SIToFPOp>(integer, code.f32()); }
  template <class Op> Value cast(Value value, Type element) {
    return Op::create(code.builder, code.loc, typed(element), value);
  }

  template <class Op> Value apply(Value a, Value b) {
    return Op::create(code.builder, code.loc, a, b);
  }
  Value add(Value a, Value b) { return apply<arith::AddIOp>(a, b); }
  Value subtract(Value a, Value b) { return apply<arith::SubIOp>(a, b); }
  Value both(Value a, Value b) { return apply<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return apply<arith::OrIOp>(a, b); }
  Value left(Value a, uint32_t count) { return apply<arith::ShLIOp>(a, word(count)); }
  Value right(Value a, uint32_t count) { return apply<arith::ShRUIOp>(a, word(count)); }
  /// Of signed numbers.
  Value minimum(Value a, Value b) { return apply<arith::MinSIOp>(a, b); }
  Value less(Value a, Value b) {
    return arith::CmpIOp::create(code.builder, code.loc, CmpIPredicate::slt, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(code.builder, code.loc, condition, a, b);
  }

private:
  Type typed(Type element) { return shape ? Type(shape.clone(element)) : element; }
  Value splat(TypedAttr number) {
    if (shape)
      number = DenseElementsAttr::get(shape.clone(number.getType()), Attribute(number));
    return arith::ConstantOp::create(code.builder, code.loc, number);
  }

  Code &code;
  VectorType shape; // null for scalars
};

/// The code `bits` with its low `count` bits rounded off: zero, and a carry above them.
Value roundOff(Lanes &lanes, Value bits, uint32_t count, RoundingMode rounding) {
  if (rounding == RoundingMode::to_nearest_even) {
    Value odd = lanes.both(lanes.right(bits, count), lanes.word(1));
    bits = lanes.add(bits, lanes.add(odd, lanes.word((1u << (count - 1)) - 1)));
  }
  return lanes.both(bits, lanes.word(~((1u << count) - 1)));
}

/// `otherwise` unless the f32 of `bits` is a NaN.
Value unlessNan(Lanes &lanes, Value bits, uint32_t nan, Value otherwise) {
  Value magnitude = lanes.both(bits, lanes.word(~kSign));
  return lanes.select(lanes.less(lanes.word(kInfinity), magnitude), lanes.word(nan), otherwise);
}

Value toTf32(Lanes &lanes, Value value, RoundingMode rounding) {
  Value bits = lanes.bits(value);
  return lanes.real(unlessNan(lanes, bits, kNan, roundOff(lanes, bits, 13, rounding)));
}

Value toBf16(Lanes &lanes, Value value, RoundingMode rounding) {
  Value bits = lanes.bits(value);
  Value upper = lanes.right(roundOff(lanes, bits, 16, rounding), 16);
  return lanes.code16(unlessNan(lanes, bits, kShortNan, upper));
}

Value fromBf16(Lanes &lanes, Value stored) {
  return lanes.real(lanes.left(lanes.word(stored), 16));
}

Value toF16(Lanes &lanes, Value value, RoundingMode rounding) {
  bool nearest = rounding == RoundingMode::to_nearest_even;
  Value bits = lanes.bits(value);
  Value magnitude = lanes.both(bits, lanes.word(~kSign));
  Value normal = lanes.right(
      lanes.subtract(roundOff(lanes, magnitude, 13, rounding), lanes.word(kF16Rebias)), 13);
  // Below the least normal value codes count units of 2^-24: the sum with 1/2 rounds to them, the
  // conversion of the product cuts them off.
  Value small = lanes.real(lanes.minimum(magnitude, lanes.word(kF16LeastNormal)));
  Value subnormal =
      nearest ? lanes.subtract(lanes.bits(lanes.apply<arith::AddFOp>(small, lanes.real(0.5f))),
                               lanes.word(kHalf))
              : lanes.integer(lanes.apply<arith::MulFOp>(small, lanes.real(0x1p24f)));
  Value unlimited =
      lanes.select(lanes.less(magnitude, lanes.word(kF16LeastNormal)), subnormal, normal);
  Value infinite = lanes.word(kF16Infinity);
  Value limit = nearest ? infinite
                        : lanes.select(lanes.less(magnitude, lanes.word(kInfinity)),
                                       lanes.word(kF16Largest), infinite);
  Value sign = lanes.both(lanes.right(bits, 16), lanes.word(kShortSign));
  Value rounded = lanes.either(lanes.minimum(unlimited, limit), sign);
  return lanes.code16(unlessNan(lanes, bits, kShortNan, rounded));
}

Value fromF16(Lanes &lanes, Value stored) {
  Value wide = lanes.word(stored);
  Value magnitude = lanes.both(wide, lanes.word(kShortNan));
  Value rebased = lanes.add(lanes.left(magnitude, 13), lanes.word(kF16Rebias));
  Value beyond = lanes.add(rebased, lanes.word(kF16Rebias));
  Value units = lanes.number(magnitude);
  Value subnormal = lanes.bits(lanes.apply<arith::MulFOp>(units, lanes.real(0x1p-24f)));
  Value finite = lanes.select(lanes.less(magnitude, lanes.word(kF16Infinity)), rebased, beyond);
  Value unsignedBits =
      lanes.select(lanes.less(magnitude, lanes.word(kF16Least)), subnormal, finite);
  Value sign = lanes.left(lanes.both(wide, lanes.word(kShortSign)), 16);
  return lanes.real(lanes.either(unsignedBits, sign));
}

//===--- F16C ---===//

constexpr int64_t kF16cLanes = 8;

/// Eight f32 to codes. The instruction heeds neither flush-to-zero nor MXCSR's rounding, but keeps
/// the payload of a NaN.
Value toF16Hardware(Code &code, Value eight, RoundingMode rounding) {
  int immediate = rounding == RoundingMode::to_nearest_even ? 0 : 3;
  Value mode = arith::ConstantIntOp::create(code.builder, code.loc, immediate, 32);
  Type codes = code.vector(code.builder.getI16Type(), kF16cLanes);
  Value rounded = code.callIntrinsic("llvm.x86.vcvtps2ph.256", codes, {eight, mode});
  Lanes lanes(code, codes);
  Value nan = lanes.constant(16, kShortNan);
  Value isNan = lanes.less(lanes.constant(16, kF16Infinity), lanes.both(rounded, nan));
  return lanes.select(isNan, nan, rounded);
}

Value toF16ByF16c(Code &code, Value value, RoundingMode rounding) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return code.firstLane(toF16Hardware(code, code.splat(value, kF16cLanes), rounding));
  assert(type.getNumElements() % kF16cLanes == 0);
  auto codes = type.clone(code.builder.getI16Type());
  Value result = arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(codes));
  for (int64_t from = 0; from < type.getNumElements(); from += kF16cLanes) {
    Value eight = code.slice(value, from, kF16cLanes);
    result = code.insert(toF16Hardware(code, eight, rounding), result, from);
  }
  return result;
}

/// With F16C, LLVM widens half by the instruction; it has no other name for it.
Value fromF16ByF16c(Code &code, Value stored) {
  Lanes lanes(code, stored.getType());
  Value half = lanes.cast<arith::BitcastOp>(stored, code.builder.getF16Type());
  return lanes.cast<arith::ExtFOp>(half, code.f32());
}

} // namespace

Type storageOf(Type element) {
  if (element.isF16() || element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element.isTF32() ? Float32Type::get(element.getContext()) : element;
}

Value widen(Code &code, const CpuVariant &variant, Type format, Value stored) {
  Lanes lanes(code, stored.getType());
  if (format.isBF16())
    return fromBf16(lanes, stored);
  if (format.isF16())
    return variant.f16c ? fromF16ByF16c(code, stored) : fromF16(lanes, stored);
  return stored;
}

Value narrow(Code &code, const CpuVariant &variant, Type format, RoundingMode rounding,
             Value value) {
  Lanes lanes(code, value.getType());
  if (format.isTF32())
    return toTf32(lanes, value, rounding);
  if (format.isBF16())
    return toBf16(lanes, value, rounding);
  return variant.f16c ? toF16ByF16c(code, value, rounding) : toF16(lanes, value, rounding);
}

Value narrowConstant(Code &code, const APFloat &constant, Type format) {
  if (format.isTF32()) {
    APFloat wide = constant;
    bool exact = false;
    wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
    return code.real(wide.convertToFloat());
  }
  uint64_t bits = constant.isNaN() ? kShortNan : constant.bitcastToAPInt().getZExtValue();
  return arith::ConstantIntOp::create(code.builder, code.loc, static_cast<int64_t>(bits), 16);
}

LogicalResult verifyCasts(ir::KernelOp kernel) {
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16() || type.isTF32(); };
  auto check = [&](Operation *op, Type wide, Type narrow) -> LogicalResult {
    if (wide.isF32() && isNarrow(narrow))
      return success();
    return op->emitOpError() << "converts between " << wide << " and " << narrow
                             << "; only f32 converts, to and from f16, bf16 and tf32";
  };
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto widening = dyn_cast<arith::ExtFOp>(op))
      return check(op, widening.getType(), widening.getIn().getType());
    auto rounding = dyn_cast<arith::TruncFOp>(op);
    if (!rounding)
      return success();
    auto mode = rounding.getRoundingmode().value_or(RoundingMode::to_nearest_even);
    if (mode != RoundingMode::to_nearest_even && mode != RoundingMode::toward_zero)
      return op->emitOpError() << "rounds " << arith::stringifyRoundingMode(mode)
                               << "; only to_nearest_even and toward_zero have code";
    return check(op, rounding.getIn().getType(), rounding.getType());
  });
  return failure(result.wasInterrupted());
}

} // namespace halftone::cpu
