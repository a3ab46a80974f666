// SPDX-License-Identifier: Apache-2.0
// Scales are found by maps over rows, elements scaled and rounded by maps and a cast: no skeleton
// knows of them.
#include "codegen/passes/ScaledRounding.h"

#include "codegen/ir/Accesses.h"
#include "codegen/passes/Rotation.h"
#include "codegen/passes/ScaleFormulas.h"
#include "mlir/IR/AffineExpr.h"

#include <cmath>

using namespace mlir;

namespace halftone::ir {
namespace {

using encoding::Scaling;

constexpr const encoding::ElementTraits &kSingle = encoding::traits(Element::f32);
/// On maps of a scaled rounding: what each leaves.
constexpr StringLiteral kPartAttr = "halftone.scaled";
/// On the map that leaves numbers: its scales are powers of two, one for each block.
constexpr StringLiteral kPowersAttr = "halftone.powers_of_blocks";
/// Likewise that they are of f32, one for each block (P101).
constexpr StringLiteral kBlocksOfF32Attr = "halftone.f32_of_blocks";
/// Likewise that codes are of f4e2m1, and on the map that joins two levels of scales.
constexpr StringLiteral k4BitsAttr = "halftone.of_4_bits", kLevelsAttr = "halftone.joins_levels";
/// On a map of magnitudes' maxima.
constexpr StringLiteral kMaximaAttr = "halftone.maxima_of_groups";
constexpr StringLiteral kScales = "scales", kScale = "scale", kFit = "fit", kUnscale = "unscale";

/// What codes are multiplied by, and what elements are before they are rounded, one of each for
/// every group of x.
struct Scales {
  Value scale, inverse;
  Value ofAll = {}; ///< what codes times scales are multiplied by, behind sums of them (P97)
};

class ScaledRounding {
public:
  ScaledRounding(OpBuilder &builder, Location loc, Value x, const Encoding &to, StringRef point,
                 StateOp delayed)
      : builder(builder), loc(loc), x(x), type(gradientType(x)), to(to), point(point),
        delayed(delayed), largest(largestOf(to.element)) {}

  SmallVector<Operation *> build() {
    if (to.scaling.rotated)
      rotate();
    Scales scales = delayed ? Scales{delayed, {}} : findScales();
    Value scaled = delayed ? divideAndTrack() : multiply(kScale, widened(), scales.inverse);
    if (isBelow8Bits())
      scaled = fitted(scaled);
    Encoding element =
        isBelow8Bits() ? Encoding(Element::f8e4m3) : Encoding(to.element, to.rounding);
    if (isDrawn())
      element.rounding = to.rounding;
    element.saturate = true;
    auto cast = CastOp::create(builder, loc, scaled, element, point);
    if (isBelow8Bits() && isDrawn())
      cast->setAttr(kDrawnAsAttr, TypeAttr::get(typeOf(builder.getContext(), to.element)));
    Value codes = made(cast);
    Value numbers = multiply(kUnscale, widened(codes), scales.scale);
    if (to.element == Element::f4e2m1)
      numbers.getDefiningOp()->setAttr(k4BitsAttr, builder.getUnitAttr());
    if (scales.ofAll)
      numbers = multiply(kUnscale, numbers, scales.ofAll);
    if (isByBlocks() && !encoding::has_two_levels(to.scaling))
      numbers.getDefiningOp()->setAttr(isOfF32() ? kBlocksOfF32Attr : kPowersAttr,
                                       builder.getUnitAttr());
    if (!isOfF32())
      made(CastOp::create(builder, loc, numbers, encoding::element_of_numbers(to)));
    return operations;
  }

private:
  /// P105. What follows rounds what this leaves, which is no value of its own.
  void rotate() {
    x = made(rotated(builder, loc, widened(), to.scaling));
    x = made(CastOp::create(builder, loc, x, Encoding(Element::bf16)));
    for (Operation *op : operations)
      noteRotation(op);
  }

  /// Whose maxima are wanted: rows of a domain, or what each of its elements reads in several
  /// places.
  struct Groups {
    Value magnitudes;
    TensorType domain;
    SmallVector<AccessAttr> reads;

    bool areRows() const { return reads.size() == 1 && !domain.isScalar(); }
  };

  bool isByBlocks() const { return to.scaling.kind == Scaling::Kind::block; }
  /// P87, P101: whether scales are no powers of two.
  bool isOfF32() const { return encoding::has_f32_scales(to); }
  bool isDrawn() const { return to.rounding == encoding::Rounding::stochastic; }

  /// Such elements are held as f8e4m3, which has all of their numbers.
  bool isBelow8Bits() const { return encoding::traits(to.element).bits < 8; }

  /// Before the cast, of an element of fewer than 8 bits: rounded, or limited to what that has
  /// where it is drawn. A map of its own, since what is rounded to codes is shown beside them
  /// (P95).
  Value fitted(Value scaled) {
    auto map = makeMap(
        builder, loc, kFit, {scaled}, type, [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
          return {isDrawn() ? s.saturate(e[0], to.element) : roundedShort(s, e[0], to)};
        });
    map->setAttr(kInternalAttr, builder.getUnitAttr());
    return made(map);
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

  /// As integers, in whose order a NaN is above all numbers.
  static Value maximumOf(Scalars &s, ValueRange reads) {
    Value maximum = s.bits(s.absolute(reads.front()));
    for (Value read : reads.drop_front()) {
      Value bits = s.bits(s.absolute(read));
      maximum = s.select(s.compare(arith::CmpIPredicate::ugt, bits, maximum), bits, maximum);
    }
    return s.real(maximum);
  }

  /// What `code` makes of the maximum of each group.
  template <typename Code> ValueRange overGroups(const Groups &of, unsigned results, Code code) {
    bool areRows = of.areRows();
    TensorType groups = type.withDims(areRows ? of.domain.getRowDims() : of.domain.getDims());
    AccessKind write = areRows ? AccessKind::Row : AccessKind::Full;
    Space space{of.domain, of.reads,
                accesses(builder.getContext(), SmallVector<AccessKind>(results, write))};
    SmallVector<Value> operands(of.reads.size(), of.magnitudes);
    auto map = makeMap(builder, loc, kScales, space, operands, SmallVector<Type>(results, groups),
                       [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                         if (e.size() > 1)
                           return code(s, maximumOf(s, e));
                         Value magnitude = s.absolute(e[0]);
                         return code(s, areRows ? s.rowMax(magnitude) : magnitude);
                       });
    add(map);
    return map.getOutputs();
  }

  Value maximaOf(const Groups &groups) {
    Value maxima = overGroups(
        groups, 1, [](Scalars &, Value maximum) -> SmallVector<Value> { return {maximum}; })[0];
    maxima.getDefiningOp()->setAttr(kMaximaAttr, builder.getUnitAttr());
    return maxima;
  }

  /// Powers of two, or f32, by which the maxima of groups become `largest` or less.
  Scales scalesOf(const Groups &groups, double largest) {
    ValueRange found = overGroups(groups, 2, [&](Scalars &s, Value maximum) -> SmallVector<Value> {
      if (isOfF32()) {
        Value multiplier = multiplierOrOne(s, maximum, largest);
        return {s.div(s.like(maximum, 1), multiplier), multiplier};
      }
      Value field = exponentOf(s, maximum, largest);
      Value inverse = s.minus(s.integer(2 * kSingle.bias), field);
      return {powerOf(s, field), powerOf(s, inverse)};
    });
    return {found[0], found[1]};
  }

  AccessAttr full() { return AccessAttr::get(builder.getContext(), AccessKind::Full); }

  /// Row by row, and of what is left row by row again.
  Groups joined(Value left) {
    while (tensor(left).getRank() > 1)
      left = maximaOf({left, tensor(left), {full()}});
    return {left, tensor(left), {full()}};
  }

  /// P72: x by the scale of earlier steps, and in the same pass over x what later ones are scaled
  /// by.
  Value divideAndTrack() {
    TensorType rows = type.withDims(type.getRowDims());
    Space space{type, accesses(builder.getContext(), {AccessKind::Full, AccessKind::Scalar}),
                accesses(builder.getContext(), {AccessKind::Full, AccessKind::Row})};
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value magnitude = s.absolute(e[0]);
      Value inverse =
          isOfF32() ? e[1]
                    : s.real(s.minus(s.integer(int64_t(2 * kSingle.bias) << kSingle.mantissa_bits),
                                     s.bits(e[1])));
      return {onlyFinite(s, magnitude, s.mul(e[0], inverse)), s.rowMax(magnitude)};
    };
    auto map = makeMap(builder, loc, kScale, space, {widened(), Value(delayed)},
                       SmallVector<Type>{type, rows}, code);
    add(map);
    Groups left = joined(map.getOutputs()[1]);
    Value amax = left.domain.isScalar() ? left.magnitudes : maximaOf(left);
    add(AmaxOp::create(builder, loc, delayed.getName(), amax));
    return map.getOutputs()[0];
  }

  /// NaN in the place of what is made of an infinite number (P72).
  static Value onlyFinite(Scalars &s, Value magnitude, Value made) {
    Value isFinite = s.less(magnitude, s.like(magnitude, INFINITY));
    return s.select(isFinite, made, s.like(magnitude, NAN));
  }

  Scales findScales() {
    if (isByBlocks())
      return findOfBlocks();
    return scalesOf(to.scaling.kind == Scaling::Kind::row      ? Groups{widened(), type, {full()}}
                    : to.scaling.kind == Scaling::Kind::column ? columns()
                                                               : joined(widened()),
                    largest);
  }

  /// P89: all of one index along the last dimension, which a few rows at a time are left of, then
  /// as rows of a domain of their own.
  Groups columns() {
    constexpr int64_t kRows = 32;
    Value left = maximaOf(readsOf(widened(), type.getRank() - 2, kRows));
    TensorType from = tensor(left);
    SmallVector<Attribute> dims(from.getDims());
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
    TensorType turned = from.withDims(dims);
    SmallVector<AffineExpr> at = axesOf(turned);
    std::rotate(at.begin(), at.begin() + 1, at.end());
    Groups groups{left, turned, {readAt(at, turned, from)}};
    while (groups.domain.getRank() > 2) {
      left = maximaOf(groups);
      groups = {left, tensor(left), {full()}};
    }
    return groups;
  }

  /// Parts of `size` along dimension `dim` as rows of a domain of their own; where the last part is
  /// short it reads zeros.
  Groups partsOf(Value magnitudes, unsigned dim, int64_t size) {
    TensorType from = tensor(magnitudes);
    SmallVector<Attribute> dims(from.getDims());
    dims[dim] = countParts(dims[dim], size);
    dims.push_back(builder.getI64IntegerAttr(size));
    TensorType domain = from.withDims(dims);
    SmallVector<AffineExpr> at = axesOf(domain);
    AffineExpr inside = at.pop_back_val();
    at[dim] = at[dim] * size + inside;
    return {magnitudes, domain, {readAt(at, domain, from)}};
  }

  /// Likewise as what each element of a domain reads, so that neighbours in a row stay such.
  Groups readsOf(Value magnitudes, unsigned dim, int64_t size) {
    TensorType from = tensor(magnitudes);
    SmallVector<Attribute> dims(from.getDims());
    dims[dim] = countParts(dims[dim], size);
    TensorType domain = from.withDims(dims);
    Groups groups{magnitudes, domain, {}};
    for (int64_t inside = 0; inside < size; ++inside) {
      SmallVector<AffineExpr> at = axesOf(domain);
      at[dim] = at[dim] * size + inside;
      groups.reads.push_back(readAt(at, domain, from));
    }
    return groups;
  }

  /// Blocks of several rows, of which a column at a time is left.
  Groups acrossRows(Value magnitudes, unsigned dim, int64_t rows) {
    constexpr int64_t kMostReads = 32;
    while (rows > kMostReads) {
      int64_t part = kMostReads;
      while (rows % part != 0)
        --part;
      if (part == 1)
        return partsOf(magnitudes, dim, rows);
      magnitudes = maximaOf(readsOf(magnitudes, dim, part));
      rows /= part;
    }
    return readsOf(magnitudes, dim, rows);
  }

  Groups blocks() {
    unsigned columns = type.getRank() - 1;
    Value left = widened();
    if (to.scaling.rows == 1)
      return partsOf(left, columns, to.scaling.size);
    if (to.scaling.size > 1)
      left = maximaOf(partsOf(left, columns, to.scaling.size));
    return acrossRows(left, columns - 1, to.scaling.rows);
  }

  Scales findOfBlocks() {
    return encoding::has_two_levels(to.scaling) ? findOfTwoLevels(maximaOf(blocks()))
                                                : scalesOf(blocks(), largest);
  }

  /// P77, P97: under one power of two, or one number of f32, for all blocks, numbers of an element
  /// for each.
  Scales findOfTwoLevels(Value maxima) {
    double most = largestOf(to.scaling.scale);
    Scales all = scalesOf(joined(maxima), largest * most);
    TensorType blocks = tensor(maxima);
    auto fit = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value inverse = s.like(e[0], 1 / largest);
      Value fitting =
          isOfF32() ? s.mul(e[0], s.mul(e[1], inverse)) : s.mul(s.mul(e[0], inverse), e[1]);
      Value limit = s.like(fitting, most); // of NaN, too
      return {s.select(s.less(fitting, limit), fitting, limit)};
    };
    Value fitting = made(makeMap(builder, loc, kScales, {maxima, all.inverse}, blocks, fit));
    Value held = made(CastOp::create(builder, loc, fitting, Encoding(to.scaling.scale)));
    Value ofBlocks = widened(held);
    Space space{blocks,
                {full(), inferAccess(blocks, tensor(all.scale))},
                SmallVector<AccessAttr>(isOfF32() ? 1 : 2, full())};
    auto join = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      Value scale = s.mul(e[0], e[1]);
      Value inverse = s.div(s.like(scale, 1), scale);
      Value limit = s.like(scale, APFloat::getLargest(APFloat::IEEEsingle()).convertToDouble());
      Value finite = s.select(s.less(inverse, limit), inverse, limit);
      if (isOfF32())
        return {finite};
      return {scale, finite};
    };
    auto map = makeMap(builder, loc, kScales, space, {ofBlocks, all.scale},
                       SmallVector<Type>(isOfF32() ? 1 : 2, blocks), join);
    add(map);
    if (isOfF32())
      return {ofBlocks, map.getOutputs()[0], all.scale};
    map->setAttr(kLevelsAttr, builder.getUnitAttr());
    return {map.getOutputs()[0], map.getOutputs()[1]};
  }

  /// Each element of `value` by what its group has of `factors`.
  Value multiply(StringRef label, Value value, Value factors) {
    auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
      bool isUnscale = label == kUnscale;
      bool isMultiplier = isUnscale && isOfF32() && delayed; // P87: of elements, not of codes
      Value product = s.mul(e[0], isMultiplier ? s.div(s.like(e[1], 1), e[1]) : e[1]);
      return {isOfF32() && !isUnscale ? onlyFinite(s, s.absolute(e[0]), product) : product};
    };
    AccessAttr group = ofGroup(tensor(factors));
    if (!group)
      return made(makeMap(builder, loc, label, {value, factors}, type, code));
    Space space{type, {full(), group}, {full()}};
    return made(makeMap(builder, loc, label, space, {value, factors}, type, code));
  }

  /// How an element of x reads what its group has; null where that is one for all of x.
  AccessAttr ofGroup(TensorType factors) {
    if (to.scaling.kind == Scaling::Kind::row)
      return AccessAttr::get(builder.getContext(), AccessKind::Row);
    if (to.scaling.kind == Scaling::Kind::column)
      return AccessAttr::get(builder.getContext(), AccessKind::Column);
    if (!isByBlocks() || factors.isScalar())
      return {};
    SmallVector<AffineExpr> at = axesOf(type);
    at.back() = at.back().floorDiv(to.scaling.size);
    AffineExpr &row = at[at.size() - 2];
    row = row.floorDiv(to.scaling.rows);
    return readAt(at, type, factors);
  }

  OpBuilder &builder;
  Location loc;
  Value x;
  TensorType type; ///< of x as f32
  Encoding to;
  StringRef point;
  StateOp delayed; ///< null unless the scale is that of earlier steps
  double largest;  ///< number of the element
  SmallVector<Operation *> operations;
};

/// What is known of the value for people: that what the cast leaves, of another element than its
/// numbers, is where it lies.
void noteElement(CastOp rounding) {
  auto indices = rounding->getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
  auto graph = rounding->getParentOfType<GraphOp>();
  auto known = graph->getAttrOfType<ArrayAttr>(kValuesAttr);
  if (!indices || !known || indices[0] < 0)
    return;
  SmallVector<Attribute> values(known.getValue());
  Attribute &value = values[static_cast<size_t>(indices[0])];
  NamedAttrList entry(cast<DictionaryAttr>(value));
  entry.set("type", TypeAttr::get(rounding.getType()));
  value = entry.getDictionary(graph.getContext());
  graph->setAttr(kValuesAttr, ArrayAttr::get(graph.getContext(), values));
}

} // namespace

SmallVector<Operation *> buildScaledRounding(OpBuilder &builder, Location loc, Value x,
                                             const Encoding &to, StringRef point, StateOp delayed) {
  return ScaledRounding(builder, loc, x, to, point, delayed).build();
}

bool leavesNumbers(Operation *op) {
  auto part = op->getAttrOfType<StringAttr>(kPartAttr);
  return part && part.getValue() == kUnscale;
}

Value unwidened(Value value) {
  auto widened = value.getDefiningOp<CastOp>();
  return widened && widened->hasAttr(kInlineAttr) ? widened.getX() : value;
}

CastOp roundingOf(Operation *numbers) {
  Operation *made = unwidened(numbers->getOperand(0)).getDefiningOp();
  return leavesNumbers(made) ? roundingOf(made) : dyn_cast<CastOp>(made);
}

void moveNotes(Operation *numbers, CastOp cast) {
  for (StringRef name : {StringRef(kCastAttr), StringRef(kValuesAttr)})
    if (Attribute noted = numbers->removeAttr(name))
      cast->setAttr(name, noted);
  noteElement(cast);
}

bool scalesBlocksByPowers(Operation *op) { return op->hasAttr(kPowersAttr); }

bool scalesBlocksByF32(Operation *op) { return op->hasAttr(kBlocksOfF32Attr); }

bool makesNumbersOf4Bits(Operation *op) { return op->hasAttr(k4BitsAttr); }

bool joinsLevels(Operation *op) { return op->hasAttr(kLevelsAttr); }

bool leavesMaxima(Operation *op) { return op->hasAttr(kMaximaAttr); }

bool isOfScaledRounding(Operation *op) { return op->hasAttr(kPartAttr); }

} // namespace halftone::ir
