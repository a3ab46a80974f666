// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/MatrixTransforms.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Transforms.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace halftone::ir {

static constexpr unsigned kMostStagesOfSide = 7;

static unsigned log2Of(int64_t power) { return llvm::Log2_64(static_cast<uint64_t>(power)); }

SmallVector<int64_t> sidesOf(int64_t places) {
  unsigned stages = log2Of(places), count = llvm::divideCeil(stages, kMostStagesOfSide);
  SmallVector<int64_t> sides;
  for (unsigned i = 0; i < count; ++i)
    sides.push_back(int64_t{1} << (stages / count + (i < stages % count ? 1 : 0)));
  return sides;
}

MatrixTransforms::MatrixTransforms(Operation *layer, OpBuilder &builder, const Encoding &to,
                                   int64_t places, ContractionPass pass)
    : layer(layer), builder(builder), to(to), places(places), pass(pass), sides(sidesOf(places)) {}

int64_t MatrixTransforms::placesBehind(size_t side) const {
  return std::accumulate(sides.begin() + static_cast<ptrdiff_t>(side) + 1, sides.end(), int64_t{1},
                         std::multiplies<>());
}

Type MatrixTransforms::roundedType() { return typeOf(builder.getContext(), to.element); }

TensorType MatrixTransforms::makeType(ArrayRef<Attribute> leading, ArrayRef<int64_t> behind,
                                      Type element) {
  SmallVector<Attribute> dims(leading);
  for (int64_t extent : behind)
    dims.push_back(builder.getI64IntegerAttr(extent));
  return TensorType::get(builder.getContext(), dims, element);
}

Value MatrixTransforms::view(Value x, ArrayRef<Attribute> leading, ArrayRef<int64_t> behind) {
  return ViewOp::create(builder, layer->getLoc(),
                        makeType(leading, behind, tensor(x).getElementType()), x);
}

//===--- Tables ---===//

/// On maps of constants: the label, whether of the first side, and what products read.
static constexpr StringLiteral kTableAttr = "halftone.transform_table";

/// What factors behind a side of `n` places are made smaller by, 2^-e_s of Z7.
static double scaleOfFactors(int64_t n) {
  return std::ldexp(1.0, -static_cast<int>(log2Of(n) / 2));
}

std::optional<TransformTable> findTransformTable(MapOp map) {
  auto key = map->getAttrOfType<ArrayAttr>(kTableAttr);
  if (!key)
    return std::nullopt;
  TensorType type = tensor(map.getOutputs()[0]);
  if (!type.getElementType().isF32())
    return TransformTable{1, cast<EncodingAttr>(key[2]).getValue()};
  return TransformTable{scaleOfFactors(cast<IntegerAttr>(type.getDims()[1]).getInt()),
                        Encoding(Element::f32)};
}

/// All that stand in the block were built before.
Value MatrixTransforms::makeTable(StringRef name, bool isFirst, TensorType type, ScalarCode code) {
  auto key = builder.getArrayAttr({builder.getStringAttr(name), builder.getBoolAttr(isFirst),
                                   EncodingAttr::get(builder.getContext(), to)});
  Block *block = builder.getInsertionBlock();
  for (auto map : block->getOps<MapOp>())
    if (map->getAttr(kTableAttr) == key && map->getResult(0).getType() == type &&
        (builder.getInsertionPoint() == block->end() ||
         map->isBeforeInBlock(&*builder.getInsertionPoint())))
      return map.getOutputs()[0];
  Space space{type, {}, accesses(builder.getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, layer->getLoc(), name, space, ValueRange(), type, code);
  map->setAttr(kTableAttr, key);
  return map.getOutputs()[0];
}

/// Z7: [2 n, 2 n], parts before places, of the first side [n, 2 n], since sequences are real.
Value MatrixTransforms::matrixOf(size_t side) {
  bool isFirst = side == 0;
  int64_t n = sides[side], ofAngle = isFirst ? kUnitsOfTurn / (4 * n) : kUnitsOfTurn / n;
  auto code = [&](Scalars &s, ValueRange) -> SmallVector<Value> {
    auto isBehind = [&](Value index) {
      return s.compare(arith::CmpIPredicate::sge, index, s.integer(n));
    };
    auto placeOf = [&](Value index) { return s.both(index, s.integer(n - 1)); };
    Value row = s.axisIndex(0), column = s.columnIndex();
    Value t = placeOf(row), k = placeOf(column);
    if (isFirst)
      k = s.plus(s.shiftLeft(k, 2), s.integer(1));
    Value turn = s.both(s.times(s.times(k, t), s.integer(ofAngle)), s.integer(kUnitsOfTurn - 1));
    auto [cosine, sine] = buildPointOfTurn(s, turn);
    Value isImaginary = isBehind(column);
    Value ofReal = s.select(isImaginary, sine, cosine);
    if (isFirst)
      return {s.truncate(ofReal, to)};
    Value ofImaginary = s.select(isImaginary, cosine, s.neg(sine));
    return {s.truncate(s.select(isBehind(row), ofImaginary, ofReal), to)};
  };
  TensorType type = makeType({}, {isFirst ? n : 2 * n, 2 * n}, roundedType());
  return makeTable("transform_matrix", isFirst, type, code);
}

/// Z7: cosines, then sines, by place k of the side, places behind the next side's, and those of it.
Value MatrixTransforms::factorsBehind(size_t side) {
  bool isFirst = side == 0;
  int64_t n = sides[side], others = placesBehind(side + 1), next = sides[side + 1];
  int64_t ofAngle = kUnitsOfTurn / (n * others * next * (isFirst ? 4 : 1));
  auto code = [&](Scalars &s, ValueRange) -> SmallVector<Value> {
    Value k = s.axisIndex(1);
    if (isFirst)
      k = s.plus(s.shiftLeft(k, 2), s.integer(1));
    Value t = s.plus(s.times(s.columnIndex(), s.integer(others)), s.axisIndex(2));
    auto [cosine, sine] = buildPointOfTurn(s, s.times(s.times(k, t), s.integer(ofAngle)));
    Value isReal = s.compare(arith::CmpIPredicate::eq, s.axisIndex(0), s.integer(0));
    Value part = s.select(isReal, cosine, sine);
    return {s.mul(part, s.like(part, scaleOfFactors(n)))};
  };
  TensorType type = makeType({}, {2, n, others, next}, builder.getF32Type());
  return makeTable("transform_factors", isFirst, type, code);
}

//===--- Products, and what lies between them ---===//

Value MatrixTransforms::multiply(Value x, size_t side, bool back) {
  ArrayRef<Attribute> leading = tensor(x).getDims().drop_back(2);
  int64_t n = sides[side];
  bool isSequence = side == 0;
  Value lhs = view(x, leading, {isSequence && !back ? n : 2 * n});
  TensorType type = makeType(leading, {isSequence && back ? n : 2 * n}, builder.getF32Type());
  return ContractOp::create(
      builder, layer->getLoc(), type, lhs, matrixOf(side), Value(), false, back, pass,
      builder.getStringAttr(back ? "inverse_transform_product" : "transform_product"), int64_t{0});
}

/// Its places, [..., channels, places behind the first side, 1, first side], rounded.
Value MatrixTransforms::load(Value sequence) {
  TensorType type = tensor(sequence);
  size_t leading = type.getRank() - 2;
  SmallVector<Attribute> dims(type.getDims().take_front(leading));
  dims.push_back(type.getDims().back());
  int64_t others = placesBehind(0);
  TensorType domain = makeType(dims, {others, 1, sides[0]}, roundedType());
  SmallVector<AffineExpr> own = axesOf(domain), at(ArrayRef(own).take_front(leading));
  at.push_back(own.back() * others + own[leading + 1]);
  at.push_back(own[leading]);
  Space space{
      domain, {readAt(at, domain, type)}, accesses(builder.getContext(), {AccessKind::Full})};
  return makeMap(
             builder, layer->getLoc(), "transform_places", space, sequence, domain,
             [&](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.truncate(e[0], to)}; })
      .getOutputs()[0];
}

/// What the last product back leaves, [..., channels, places behind the first side, first side].
Value MatrixTransforms::store(Value sums, TensorType sequence) {
  size_t leading = sequence.getRank() - 2;
  int64_t others = placesBehind(0);
  SmallVector<AffineExpr> own = axesOf(sequence), at(ArrayRef(own).take_front(leading));
  at.push_back(own[leading + 1]);
  at.push_back(own[leading] % others);
  at.push_back(own[leading].floorDiv(others));
  Space space{sequence,
              {readAt(at, sequence, tensor(sums))},
              accesses(builder.getContext(), {AccessKind::Full})};
  // What factors and round() left of 1 / places: 2 T + e - m.
  int scale = -static_cast<int>(log2Of(places)) + static_cast<int>(log2Of(sides.back()) / 2);
  for (int64_t side : ArrayRef(sides).drop_back())
    scale += 2 * static_cast<int>(log2Of(side) / 2);
  return makeMap(builder, layer->getLoc(), "transformed_places", space, sums, sequence,
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   return {s.mul(e[0], s.like(e[0], std::ldexp(1.0, scale)))};
                 })
      .getOutputs()[0];
}

/// A product of spectra, of which both were made smaller by the factors, and by no factor behind
/// the last side: 2^(T - e).
Value MatrixTransforms::round(Value product) {
  int scale = -static_cast<int>(log2Of(sides.back()) / 2);
  for (int64_t side : ArrayRef(sides).drop_back())
    scale += static_cast<int>(log2Of(side) / 2);
  return makeMap(builder, layer->getLoc(), "transform_rounding", product,
                 tensor(product).withElementType(roundedType()),
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   return {s.truncate(s.mul(e[0], s.like(e[0], std::ldexp(1.0, scale))), to)};
                 })
      .getOutputs()[0];
}

/// [..., groups, n, others, 2, k] becomes [..., groups, k, others, 2, n], or back; each complex
/// number times its factor, or the factor's conjugate, rounded. `sums` has these elements.
Value MatrixTransforms::turn(Value sums, Turned how) {
  int64_t before = sides[how.side], next = sides[how.side + 1], others = placesBehind(how.side + 1);
  int64_t first = how.back ? before : next, last = how.back ? next : before;
  // [..., groups x first x others, 2 x last], and of channels and groups one dimension each.
  ArrayRef<Attribute> leading = tensor(sums).getDims().drop_back(3);
  int64_t rows = cast<IntegerAttr>(tensor(sums).getDims().drop_back().back()).getInt();
  int64_t channels = cast<IntegerAttr>(tensor(sums).getDims().drop_back(2).back()).getInt();
  int64_t groups = channels * (rows / (first * others));
  Value x = view(sums, leading, {groups, first, others, 2, last});
  TensorType domain = makeType(leading, {groups, last, others, 2, first}, roundedType());
  SmallVector<AffineExpr> own = axesOf(domain);
  size_t g = leading.size();
  AffineExpr part = own[g + 3];
  auto readPart = [&](AffineExpr of) {
    SmallVector<AffineExpr> at(ArrayRef(own).take_front(g + 1));
    at.append({own[g + 4], own[g + 2], of, own[g + 1]});
    return readAt(at, domain, tensor(x));
  };
  Value factors = factorsBehind(how.side);
  auto readFactor = [&](int64_t of) {
    AffineExpr k = own[how.back ? g + 4 : g + 1], n = own[how.back ? g + 1 : g + 4];
    return readAt({getAffineConstantExpr(of, builder.getContext()), k, own[g + 2], n}, domain,
                  tensor(factors));
  };
  Space space{domain,
              {readPart(part), readPart(1 - part), readFactor(0), readFactor(1)},
              accesses(builder.getContext(), {AccessKind::Full})};
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value isReal =
        s.compare(arith::CmpIPredicate::eq, s.axisIndex(static_cast<int64_t>(g) + 3), s.integer(0));
    Value same = e[0], other = e[1], c = e[2], t = how.back ? s.neg(e[3]) : e[3];
    Value begun = s.select(isReal, s.mul(c, same), s.mul(t, other));
    Value ofImaginary = s.select(isReal, s.neg(t), c), imaginary = s.select(isReal, other, same);
    return {s.truncate(s.fma(ofImaginary, imaginary, begun), to)};
  };
  Value turned = makeMap(builder, layer->getLoc(),
                         how.back ? "inverse_transform_factors" : "transform_factors", space,
                         {x, x, factors, factors}, domain, code)
                     .getOutputs()[0];
  return view(turned, leading, {channels, rows / (first * others) * last * others, 2, first});
}

Value MatrixTransforms::transform(Value sequence) {
  Value x = load(sequence);
  for (size_t side = 0;; ++side) {
    Value sums = multiply(x, side, false);
    ArrayRef<Attribute> leading = tensor(sums).getDims().drop_back(1);
    if (side + 1 == sides.size())
      return view(sums, leading, {2, sides[side]});
    x = turn(sums, {side, false});
  }
}

Value MatrixTransforms::transformBack(Value product, TensorType sequence) {
  Value x = round(product);
  for (size_t side = sides.size(); side-- > 0;) {
    Value sums = multiply(x, side, true);
    if (side == 0)
      return store(sums, sequence);
    x = turn(sums, {side - 1, true});
  }
  llvm_unreachable("a spectrum has a side");
}

} // namespace halftone::ir
