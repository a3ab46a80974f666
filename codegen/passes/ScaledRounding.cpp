// SPDX-License-Identifier: Apache-2.0
// Scales are found by maps over rows, elements scaled and rounded by maps and a cast: no skeleton
// knows of them.
#include "codegen/passes/ScaledRounding.h"

#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineExpr.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {
namespace {

using encoding::ElementTraits, encoding::Scaling;

constexpr const ElementTraits &kSingle = encoding::traits(Element::f32);
/// On maps of a scaled rounding: what each leaves.
constexpr StringLiteral kPartAttr = "halftone.scaled";
constexpr StringLiteral kScales = "scales", kScale = "scale", kUnscale = "unscale";
constexpr int64_t kWithoutSign = 0x7fffffff;
constexpr int64_t kLeastExponent = 17; ///< as f32 has it, of a scale: P51

/// Scales and what elements are multiplied by, one of each for every group of x.
struct Scales {
  Value scale, inverse;
};

class ScaledRounding {
public:
  ScaledRounding(OpBuilder &builder, Location loc, Value x, const Encoding &to, StringRef point)
      : builder(builder), loc(loc), x(x), type(gradientType(x)), to(to), point(point),
        largest(APFloat::getLargest(
                    cast<FloatType>(typeOf(builder.getContext(), to.element)).getFloatSemantics())
                    .convertToDouble()) {}

  SmallVector<Operation *> build() {
    Scales scales = isByBlocks() ? findOfBlocks() : findOfTensor();
    Value scaled = multiply(kScale, widened(), scales.inverse, isBelow8Bits());
    Encoding element(isBelow8Bits() ? Element::f8e4m3 : to.element, to.rounding);
    element.saturate = true;
    Value codes = made(CastOp::create(builder, loc, scaled, element, point));
    Value numbers = multiply(kUnscale, widened(codes), scales.scale);
    made(CastOp::create(builder, loc, numbers, encoding::element_of_numbers(to)));
    return operations;
  }

private:
  bool isByBlocks() const { return to.scaling.kind == Scaling::Kind::block && !type.isScalar(); }

  /// Such elements are held as f8e4m3, which has all of their numbers.
  bool isBelow8Bits() const { return encoding::traits(to.element).bits < 8; }

  /// x rounded to an element that has no type of its own in scalar code: to the nearest multiple of
  /// its last place, by a sum whose last place that is.
  Value roundBelow8Bits(Scalars &s, Value x) {
    const ElementTraits &element = encoding::traits(to.element);
    Value limited = s.saturate(x, to.element);
    Value bits = s.bits(limited);
    Value field = s.both(s.shiftRight(bits, kSingle.mantissa_bits),
                         s.integer((1 << kSingle.exponent_bits) - 1));
    Value least = s.integer(kSingle.bias + encoding::least_normal(element));
    Value isNormal = s.compare(arith::CmpIPredicate::ugt, field, least);
    Value place = s.plus(s.select(isNormal, field, least),
                         s.integer(kSingle.mantissa_bits - element.mantissa_bits));
    int64_t half = int64_t(1) << (kSingle.mantissa_bits - 1);
    Value large = s.real(s.either(s.shiftLeft(place, kSingle.mantissa_bits), s.integer(half)));
    Value magnitude = s.absolute(limited);
    Value rounded = s.bits(s.sub(s.add(magnitude, large), large));
    return s.real(s.either(rounded, s.both(bits, s.integer(~kWithoutSign))));
  }

  Operation *add(Operation *op) {
    operations.push_back(op);
    if (auto map = dyn_cast<MapOp>(op))
      op->setAttr(kPartAttr, map.getLabelAttr());
    return op;
  }
  Value made(Operation *op) { return add(op)->getResult(0); }

  /// As f32, inside of its reader.
  Value widened(Value value) {
    if (tensor(value).getElementType().isF32())
      return value;
    Operation *wide = add(CastOp::create(builder, loc, value, Encoding(Element::f32)));
    wide->setAttr(kInlineAttr, builder.getUnitAttr());
    return wide->getResult(0);
  }
  Value widened() { return widened(x); }

  /// The row's largest magnitude as E of its group.
  Value exponentOf(Scalars &s, Value maximum) {
    Value t = s.mul(maximum, s.like(maximum, 1 / largest));
    Value bits = s.bits(t);
    Value field = s.shiftRight(bits, kSingle.mantissa_bits);
    Value mantissa = s.both(bits, s.integer((int64_t(1) << kSingle.mantissa_bits) - 1));
    Value isPower = s.compare(arith::CmpIPredicate::eq, mantissa, s.integer(0));
    Value above = s.select(isPower, field, s.plus(field, s.integer(1)));
    Value least = s.integer(kLeastExponent);
    Value most = s.integer((1 << kSingle.exponent_bits) - 1 - std::ilogb(largest)); // m of P51
    auto isLess = [&](Value a, Value b) { return s.compare(arith::CmpIPredicate::ult, a, b); };
    return s.select(isLess(above, least), least, s.select(isLess(most, above), most, above));
  }

  Value powerOf(Scalars &s, Value field) {
    return s.real(s.shiftLeft(field, kSingle.mantissa_bits));
  }

  /// What `code` makes of the maximum over each row of `magnitudes`, which are x's or maxima of
  /// them.
  template <typename Code>
  ValueRange overRows(Value magnitudes, TensorType domain, AccessAttr read, unsigned results,
                      Code code) {
    TensorType rows = type.withDims(domain.getRowDims());
    bool isScalar = domain.isScalar();
    AccessKind write = isScalar ? AccessKind::Full : AccessKind::Row;
    Space space{
        domain, {read}, accesses(builder.getContext(), SmallVector<AccessKind>(results, write))};
    auto map = makeMap(builder, loc, kScales, space, magnitudes, SmallVector<Type>(results, rows),
                       [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                         Value magnitude = s.absolute(e[0]);
                         return code(s, isScalar ? magnitude : s.rowMax(magnitude));
                       });
    add(map);
    return map.getOutputs();
  }

  Scales scalesOf(Value magnitudes, TensorType domain, AccessAttr read) {
    ValueRange found =
        overRows(magnitudes, domain, read, 2, [&](Scalars &s, Value maximum) -> SmallVector<Value> {
          Value field = exponentOf(s, maximum);
          Value inverse = s.minus(s.integer(2 * kSingle.bias), field);
          return {powerOf(s, field), powerOf(s, inverse)};
        });
    return {found[0], found[1]};
  }

  AccessAttr full() { return AccessAttr::get(builder.getContext(), AccessKind::Full); }

  /// Row by row, and of what is left row by row again.
  Scales findOfTensor() {
    Value left = widened();
    while (tensor(left).getRank() > 1)
      left = overRows(left, tensor(left), full(), 1,
                      [](Scalars &, Value maximum) -> SmallVector<Value> { return {maximum}; })[0];
    return scalesOf(left, tensor(left), full());
  }

  /// Blocks are rows of a domain of their own; where the last one is short it reads zeros.
  Scales findOfBlocks() {
    int64_t size = to.scaling.size;
    int64_t columns = *type.getColumns();
    SmallVector<Attribute> dims(type.getRowDims());
    dims.push_back(builder.getI64IntegerAttr(llvm::divideCeil(columns, size)));
    dims.push_back(builder.getI64IntegerAttr(size));
    TensorType domain = type.withDims(dims);
    SmallVector<AffineExpr> axes = axesOf(domain);
    AffineExpr column = axes[axes.size() - 2] * size + axes.back();
    SmallVector<AffineExpr> at(axes.begin(), axes.end() - 2);
    at.push_back(column);
    return scalesOf(widened(), domain, readAt(at, domain, type));
  }

  /// Each element of `value` by what its group has of `factors`, and rounded where the element has
  /// fewer than 8 bits.
  Value multiply(StringRef label, Value value, Value factors, bool rounds = false) {
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value product = s.mul(e[0], e[1]);
      return {rounds ? roundBelow8Bits(s, product) : product};
    };
    if (!isByBlocks())
      return made(makeMap(builder, loc, label, {value, factors}, type, code));
    SmallVector<AffineExpr> at = axesOf(type);
    at.back() = at.back().floorDiv(to.scaling.size);
    Space space{type, {full(), readAt(at, type, tensor(factors))}, {full()}};
    return made(makeMap(builder, loc, label, space, {value, factors}, type, code));
  }

  OpBuilder &builder;
  Location loc;
  Value x;
  TensorType type; ///< of x as f32
  Encoding to;
  StringRef point;
  double largest; ///< number of the element
  SmallVector<Operation *> operations;
};

} // namespace

SmallVector<Operation *> buildScaledRounding(OpBuilder &builder, Location loc, Value x,
                                             const Encoding &to, StringRef point) {
  return ScaledRounding(builder, loc, x, to, point).build();
}

bool leavesNumbers(Operation *op) {
  auto part = op->getAttrOfType<StringAttr>(kPartAttr);
  return part && part.getValue() == kUnscale;
}

bool isOfScaledRounding(Operation *op) { return op->hasAttr(kPartAttr); }

} // namespace halftone::ir
