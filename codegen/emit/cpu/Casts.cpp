// SPDX-License-Identifier: Apache-2.0
// Branch-free integer code for scalars and vectors alike; f16 by instructions where the variant has
// them.
#include "codegen/emit/cpu/Casts.h"

using namespace mlir;

namespace halftone::cpu {

using arith::CmpIPredicate;
using arith::RoundingMode;
using encoding::Element, encoding::ElementTraits;

namespace {

constexpr const ElementTraits &kF32 = encoding::traits(Element::f32);
// Codes of f32 values.
constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7f800000;

/// The f32 code of 2^exponent.
constexpr uint32_t powerOfTwo(int exponent) {
  return static_cast<uint32_t>(kF32.bias + exponent) << kF32.mantissa_bits;
}

/// Mantissa bits that f32 has and the element has not.
constexpr uint32_t dropped(const ElementTraits &element) {
  return static_cast<uint32_t>(kF32.mantissa_bits - element.mantissa_bits);
}

/// Codes of a float with fewer exponents than f32, and what takes f32's to them. Behind the largest
/// number lies the code of infinity, or of the only NaN.
struct Rebased {
  explicit constexpr Rebased(Element element)
      : traits(encoding::traits(element)),
        rebias(static_cast<uint32_t>(kF32.bias - traits.bias) << kF32.mantissa_bits),
        leastNormal(powerOfTwo(encoding::least_normal(traits))),
        unit(encoding::least_subnormal(traits)), sign(1u << (traits.bits - 1)),
        beyond(encoding::code_beyond(traits)), largest(encoding::code_of_largest(traits)),
        least(1u << traits.mantissa_bits) {
    assert(traits.computed && largest + 1 == beyond && "what overflows has a code");
  }

  const ElementTraits &traits;
  uint32_t rebias, leastNormal; ///< f32 codes
  int unit;                     ///< the exponent of the least subnormal number
  uint32_t sign, beyond, largest, least;
};

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
  Value word(Value code) { return cast<arith::ExtUIOp>(code, this->code.builder.getI32Type()); }
  Value codeOf(Value word, const ElementTraits &element) {
    return cast<arith::TruncIOp>(word, code.builder.getIntegerType(element.bits));
  }
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

/// To an element with f32's exponents: the upper bits of its code, in an f32 or by themselves.
Value toUpperBits(Lanes &lanes, Value value, const ElementTraits &to, RoundingMode rounding) {
  Value bits = lanes.bits(value);
  Value rounded = roundOff(lanes, bits, dropped(to), rounding);
  if (to.bits == kF32.bits)
    return lanes.real(unlessNan(lanes, bits, to.nan, rounded));
  Value upper = lanes.right(rounded, kF32.bits - to.bits);
  return lanes.codeOf(unlessNan(lanes, bits, to.nan, upper), to);
}

Value fromUpperBits(Lanes &lanes, Value stored, const ElementTraits &from) {
  return lanes.real(lanes.left(lanes.word(stored), kF32.bits - from.bits));
}

Value toRebased(Lanes &lanes, Value value, const Rebased &to, RoundingMode rounding) {
  bool nearest = rounding == RoundingMode::to_nearest_even;
  Value bits = lanes.bits(value);
  Value magnitude = lanes.both(bits, lanes.word(~kSign));
  uint32_t shift = dropped(to.traits);
  Value normal = lanes.right(
      lanes.subtract(roundOff(lanes, magnitude, shift, rounding), lanes.word(to.rebias)), shift);
  // Below the least normal value codes count units: the sum with a power of two whose last place is
  // a unit rounds to them, the conversion of the product cuts them off.
  int power = to.unit + kF32.mantissa_bits;
  Value small = lanes.real(lanes.minimum(magnitude, lanes.word(to.leastNormal)));
  Value subnormal = nearest ? lanes.subtract(lanes.bits(lanes.apply<arith::AddFOp>(
                                                 small, lanes.real(std::ldexp(1.0f, power)))),
                                             lanes.word(powerOfTwo(power)))
                            : lanes.integer(lanes.apply<arith::MulFOp>(
                                  small, lanes.real(std::ldexp(1.0f, -to.unit))));
  Value unlimited =
      lanes.select(lanes.less(magnitude, lanes.word(to.leastNormal)), subnormal, normal);
  Value beyond = lanes.word(to.beyond);
  Value limit = nearest ? beyond
                        : lanes.select(lanes.less(magnitude, lanes.word(kInfinity)),
                                       lanes.word(to.largest), beyond);
  Value limited = lanes.minimum(unlimited, limit);
  Value sign = lanes.both(lanes.right(bits, kF32.bits - to.traits.bits), lanes.word(to.sign));
  Value rounded = lanes.either(limited, sign);
  if (!to.traits.has_infinity)
    rounded = lanes.select(lanes.less(limited, beyond), rounded, beyond);
  return lanes.codeOf(unlessNan(lanes, bits, to.traits.nan, rounded), to.traits);
}

Value fromRebased(Lanes &lanes, Value stored, const Rebased &from) {
  Value wide = lanes.word(stored);
  Value magnitude = lanes.both(wide, lanes.word(from.sign - 1));
  Value rebased = lanes.add(lanes.left(magnitude, dropped(from.traits)), lanes.word(from.rebias));
  Value beyond = lanes.add(rebased, lanes.word(from.rebias));
  Value units = lanes.number(magnitude);
  Value subnormal =
      lanes.bits(lanes.apply<arith::MulFOp>(units, lanes.real(std::ldexp(1.0f, from.unit))));
  Value finite = lanes.select(lanes.less(magnitude, lanes.word(from.beyond)), rebased, beyond);
  Value unsignedBits =
      lanes.select(lanes.less(magnitude, lanes.word(from.least)), subnormal, finite);
  Value sign = lanes.left(lanes.both(wide, lanes.word(from.sign)), kF32.bits - from.traits.bits);
  return lanes.real(lanes.either(unsignedBits, sign));
}

//===--- Instructions for f16 ---===//

constexpr int64_t kF16cLanes = 8;
constexpr Rebased kF16(Element::f16);

/// Codes with the one NaN of f16, of those with any.
Value withOneNan(Code &code, Value codes) {
  Lanes lanes(code, codes.getType());
  Value nan = lanes.constant(16, kF16.traits.nan);
  Value isNan = lanes.less(lanes.constant(16, kF16.beyond), lanes.both(codes, nan));
  return lanes.select(isNan, nan, codes);
}

/// Eight f32 to codes. The instruction heeds neither flush-to-zero nor MXCSR's rounding, but keeps
/// the payload of a NaN.
Value toF16Hardware(Code &code, Value eight, RoundingMode rounding) {
  int immediate = rounding == RoundingMode::to_nearest_even ? 0 : 3;
  Value mode = arith::ConstantIntOp::create(code.builder, code.loc, immediate, 32);
  Type codes = code.vector(code.builder.getI16Type(), kF16cLanes);
  return withOneNan(code, code.callIntrinsic("llvm.x86.vcvtps2ph.256", codes, {eight, mode}));
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

/// To nearest even, as FPCR says: NEON's instruction for vectors has no rounding of its own.
Value toF16ByNeon(Code &code, Value value) {
  Lanes lanes(code, value.getType());
  Value half = lanes.cast<arith::TruncFOp>(value, code.builder.getF16Type());
  return withOneNan(code, lanes.cast<arith::BitcastOp>(half, code.builder.getI16Type()));
}

/// LLVM has no other name for the instruction.
Value fromF16ByInstruction(Code &code, Value stored) {
  Lanes lanes(code, stored.getType());
  Value half = lanes.cast<arith::BitcastOp>(stored, code.builder.getF16Type());
  return lanes.cast<arith::ExtFOp>(half, code.f32());
}

} // namespace

Type storageOf(Type element) {
  if (ir::isDelivered(element))
    return IntegerType::get(element.getContext(), ir::bitsOf(element));
  if (ir::isShort(element))
    return IntegerType::get(element.getContext(), ir::bitsOf(element));
  return ir::isNarrow(element) ? Float32Type::get(element.getContext()) : element;
}

static bool hasExponentsOfF32(Element element) {
  return encoding::traits(element).exponent_bits == kF32.exponent_bits;
}

static bool isByF16c(const CpuVariant &variant, Element element) {
  return element == Element::f16 && variant.f16c;
}

static bool isByNeon(const CpuVariant &variant, Element element) {
  return element == Element::f16 && variant.architecture == "aarch64";
}

static Value wordOf(Lanes &lanes, Code &code, const ElementTraits &from, Value stored) {
  Type i32 = code.builder.getI32Type();
  if (from.bits < static_cast<int>(i32.getIntOrFloatBitWidth()))
    return from.has_sign ? lanes.cast<arith::ExtSIOp>(stored, i32)
                         : lanes.cast<arith::ExtUIOp>(stored, i32);
  Value low = lanes.cast<arith::TruncIOp>(stored, i32);
  Value again = lanes.cast<arith::ExtSIOp>(low, code.builder.getIntegerType(from.bits));
  Value isHeld = arith::CmpIOp::create(code.builder, code.loc, CmpIPredicate::eq, again, stored);
  return lanes.select(isHeld, low, lanes.word(~0u));
}

Value integerOf(Code &code, Type format, Value stored, Type to) {
  Lanes lanes(code, stored.getType());
  Value word = wordOf(lanes, code, encoding::traits(ir::elementOf(format)), stored);
  return to.isF32() ? lanes.number(word) : word;
}

Value low16(Code &code, Value word) {
  return Lanes(code, word.getType()).cast<arith::TruncIOp>(word, code.builder.getI16Type());
}

Value widen(Code &code, const CpuVariant &variant, Type format, Value stored) {
  if (!ir::isShort(format))
    return stored;
  Lanes lanes(code, stored.getType());
  Element from = ir::elementOf(format);
  if (hasExponentsOfF32(from))
    return fromUpperBits(lanes, stored, encoding::traits(from));
  return isByF16c(variant, from) || isByNeon(variant, from)
             ? fromF16ByInstruction(code, stored)
             : fromRebased(lanes, stored, Rebased(from));
}

Value narrow(Code &code, const CpuVariant &variant, Type format, RoundingMode rounding,
             Value value) {
  Lanes lanes(code, value.getType());
  Element to = ir::elementOf(format);
  if (hasExponentsOfF32(to))
    return toUpperBits(lanes, value, encoding::traits(to), rounding);
  if (isByNeon(variant, to) && rounding == RoundingMode::to_nearest_even)
    return toF16ByNeon(code, value);
  return isByF16c(variant, to) ? toF16ByF16c(code, value, rounding)
                               : toRebased(lanes, value, Rebased(to), rounding);
}

Value narrowConstant(Code &code, const APFloat &constant, Type format) {
  if (!ir::isShort(format)) {
    APFloat wide = constant;
    bool exact = false;
    wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
    return code.real(wide.convertToFloat());
  }
  const ElementTraits &traits = encoding::traits(ir::elementOf(format));
  uint64_t bits = constant.isNaN() ? traits.nan : constant.bitcastToAPInt().getZExtValue();
  return arith::ConstantIntOp::create(code.builder, code.loc, static_cast<int64_t>(bits),
                                      traits.bits);
}

LogicalResult verifyCasts(ir::KernelOp kernel) {
  auto check = [&](Operation *op, Type wide, Type narrow) -> LogicalResult {
    if (wide.isF32() && ir::isNarrow(narrow) && encoding::traits(ir::elementOf(narrow)).computed)
      return success();
    return op->emitOpError() << "converts between " << wide << " and " << narrow
                             << "; only f32 converts, to and from f16, bf16, tf32, f8e4m3 and "
                                "f8e5m2";
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
