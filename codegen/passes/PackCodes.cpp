// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/PackCodes.h"

#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "codegen/passes/ScaleFormulas.h"
#include "codegen/passes/ScaledRounding.h"
#include "mlir/IR/AffineMap.h"

#include <algorithm>

using namespace mlir;

namespace halftone::ir {
namespace {

constexpr int64_t kPlaces = 64;                   ///< of a line, to one word of scales
constexpr int64_t kWords = 8;                     ///< of as many codes each, for so many places
constexpr int64_t kOfF8e4m3 = 16, kOfF8e8m0 = 32; ///< places that an instruction scales at once
constexpr int64_t kAllButSign = 0x7fffffff, kInfinite = 0x7f800000;

/// What the blocks of an operand are multiplied by, as it lies in memory, and what all are, too;
/// the latter may be null.
struct Levels {
  Value ofBlocks, ofAll;
};
Levels levelsOf(MapOp numbers) {
  Value scales = numbers.getInputs()[1];
  auto joined = scales.getDefiningOp<MapOp>();
  if (joined && joinsLevels(joined))
    return {unwidened(joined.getInputs()[0]), joined.getInputs()[1]};
  return {unwidened(scales), {}};
}

/// Places that share a scale as an instruction has it: 16 of f8e4m3, 32 of powers of two.
int64_t placesOf(const Levels &levels) {
  return tensor(levels.ofBlocks).getElementType().isF32() ? kOfF8e8m0 : kOfF8e4m3;
}

/// Rows and columns of a block, by the map that an element reads its scale by.
std::pair<int64_t, int64_t> blockOf(MapOp numbers) {
  ArrayRef<AffineExpr> at = numbers.getOperandAccesses()[1].getMap().getValue().getResults();
  auto size = [](AffineExpr expr) {
    auto part = dyn_cast<AffineBinaryOpExpr>(expr);
    return part ? cast<AffineConstantExpr>(part.getRHS()).getValue() : int64_t(1);
  };
  return {size(at[at.size() - 2]), size(at.back())};
}

std::string whyNot(CodesInBlocks operand, int64_t places) {
  if (tensor(operand.numbers.getInputs()[0]).getRank() < 2)
    return "an operand of 4 bits has one line alone";
  auto [rows, columns] = blockOf(operand.numbers);
  int64_t along = operand.alongSum ? columns : rows;
  if (along % places != 0)
    return "blocks have " + std::to_string(along) +
           " places of the sum, of which an instruction multiplies " + std::to_string(places) +
           " of 4 bits by one scale";
  return "";
}

/// An integer of a few bits that an f32 is, its digits behind those of 2^23.
Value integerOf(Scalars &s, Value real) {
  return s.both(s.bits(s.add(real, s.like(real, 0x1p23))), s.integer(0x7fffff));
}

/// The four bits of a number of f4e2m1.
Value codeOf(Scalars &s, Value number) {
  Value magnitude = s.absolute(number);
  Value isNormal = s.lessOrEqual(s.like(number, 1), magnitude);
  // From 1 on two bits of exponent, from 1 up, and one of mantissa; below a half or nothing.
  Value normal = s.minus(s.shiftRight(s.bits(magnitude), 22), s.integer(2 * 126));
  Value small = integerOf(s, s.mul(magnitude, s.like(number, 2)));
  Value sign = s.shiftLeft(s.shiftRight(s.bits(number), 31), 3);
  return s.either(sign, s.select(isNormal, normal, small));
}

/// The byte of a scale: of f8e4m3, or a field of exponents, that of NaN from 2^113 on (P21).
Value byteOf(Scalars &s, Value scale, int64_t places) {
  if (places == kOfF8e8m0) {
    Value exponent = s.shiftRight(s.bits(scale), 23);
    Value isFinite = s.compare(arith::CmpIPredicate::ult, exponent, s.integer(127 + 113));
    return s.select(isFinite, exponent, s.integer(255));
  }
  Value isNormal = s.lessOrEqual(s.like(scale, 0x1p-6), scale);
  Value normal = s.minus(s.shiftRight(s.bits(scale), 20), s.integer((127 - 7) << 3));
  return s.select(isNormal, normal, integerOf(s, s.mul(scale, s.like(scale, 0x1p9))));
}

} // namespace

/// A row of the map is of 64 places of one line: eight words of codes, read wherever they lie, and
/// the word of their scales, which is the same for all eight. A NaN, which no such code is, makes
/// all of these scales NaN; so are the sums then that it is a factor in.
CodePacker::Packed CodePacker::pack(CodesInBlocks operand, int64_t places) {
  MapOp numbers = operand.numbers;
  Packed &packed = known[{numbers, operand.alongSum ? 1 : 0}];
  if (packed.words)
    return packed;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(numbers);
  Location loc = numbers.getLoc();
  auto widened = [&](Value value) -> Value {
    if (tensor(value).getElementType().isF32())
      return value;
    auto wide = CastOp::create(builder, loc, value, Encoding(Element::f32));
    wide->setAttr(kInlineAttr, builder.getUnitAttr());
    setPhase(wide, getPhase(numbers));
    return wide.getResult();
  };
  Value codes = widened(unwidened(numbers.getInputs()[0]));
  Value scales = widened(levelsOf(numbers).ofBlocks);

  TensorType type = tensor(codes);
  ArrayRef<Attribute> dims = type.getDims();
  SmallVector<Attribute> domainDims(operand.alongSum ? dims.drop_back() : dims.take_back());
  llvm::append_range(domainDims, operand.alongSum ? dims.take_back() : dims.drop_back());
  domainDims.back() = countParts(domainDims.back(), kPlaces);
  domainDims.push_back(builder.getI64IntegerAttr(kWords));
  TensorType domain = type.withDims(domainDims);
  SmallVector<AffineExpr> axes = axesOf(domain);
  AffineExpr word = axes.pop_back_val(), part = axes.pop_back_val();
  // Places are of the last dimension, or of the one before it.
  auto readAtPlace = [&](AffineExpr place, int64_t lines, int64_t size, Value of) {
    SmallVector<AffineExpr> at(axes);
    if (operand.alongSum) {
      at.back() = at.back().floorDiv(lines);
      at.push_back(place.floorDiv(size));
    } else {
      std::rotate(at.begin(), at.begin() + 1, at.end()); // the line behind what is summed
      at.back() = at.back().floorDiv(lines);
      at.insert(at.end() - 1, place.floorDiv(size));
    }
    return readAt(at, domain, tensor(of));
  };
  auto [rows, columns] = blockOf(numbers);
  int64_t lines = operand.alongSum ? rows : columns, size = operand.alongSum ? columns : rows;
  SmallVector<AccessAttr> reads;
  SmallVector<Value> inputs;
  for (int64_t i = 0; i < kPlaces / kWords; ++i) {
    reads.push_back(readAtPlace(part * kPlaces + word * kWords + i, 1, 1, codes));
    inputs.push_back(codes);
  }
  for (int64_t place = 0; place < kPlaces; place += places) {
    reads.push_back(readAtPlace(part * kPlaces + place, lines, size, scales));
    inputs.push_back(scales);
  }

  TensorType words = domain.withElementType(builder.getI32Type());
  TensorType wordsOfScales = words.withDims(words.getRowDims());
  Space space{domain, reads, accesses(builder.getContext(), {AccessKind::Full, AccessKind::Row})};
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value all, largest;
    for (auto [i, number] : llvm::enumerate(e.take_front(kWords))) {
      Value bits = s.shiftLeft(codeOf(s, number), static_cast<int64_t>(4 * i));
      all = all ? s.either(all, bits) : bits;
      Value magnitude = s.both(s.bits(number), s.integer(kAllButSign));
      largest = !largest ? magnitude
                         : s.select(s.compare(arith::CmpIPredicate::ugt, magnitude, largest),
                                    magnitude, largest);
    }
    Value isNan = s.compare(arith::CmpIPredicate::ugt, largest, s.integer(kInfinite));
    Value nan = s.integer(places == kOfF8e8m0 ? 0xffff : 0x7f7f);
    Value ofScales;
    for (size_t first = 0; first < e.size() - kWords; first += 2) {
      Value low = byteOf(s, e[kWords + first], places);
      Value high = s.shiftLeft(byteOf(s, e[kWords + first + 1], places), 8);
      Value half = s.select(isNan, nan, s.either(low, high));
      half = integerOf(s, s.rowMax(s.number(half)));
      ofScales = ofScales ? s.either(ofScales, s.shiftLeft(half, 16)) : half;
    }
    return {all, ofScales};
  };
  auto map = makeMap(builder, loc, "pack", space, inputs, {words, wordsOfScales}, code);
  for (StringRef name : {StringRef(kLayerAttr), StringRef(kKindAttr)})
    if (Attribute attribute = numbers->getAttr(name))
      map->setAttr(name, attribute);
  map->setAttr(kInternalAttr, builder.getUnitAttr());
  map->setAttr(kRoundingAttr, builder.getUnitAttr());
  setPhase(map, getPhase(numbers));
  return packed = {map.getOutputs()[0], map.getOutputs()[1]};
}

/// The sums times the scales of whole operands, powers of two (P77).
Value CodePacker::multiplyBehind(ContractOp contract, Value sum, ArrayRef<Value> factors) {
  SmallVector<AccessKind> kinds(factors.size() + 1, AccessKind::Scalar);
  kinds.front() = AccessKind::Full;
  SmallVector<Value> inputs{sum};
  llvm::append_range(inputs, factors);
  Space space{contract.getType(), accesses(builder.getContext(), kinds),
              accesses(builder.getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, contract.getLoc(), "scale", space, inputs, contract.getType(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value factor = infiniteAbove(s, e[1]);
                       if (e.size() == 3)
                         factor = s.mul(factor, infiniteAbove(s, e[2]));
                       return {s.mul(e[0], factor)};
                     });
  for (NamedAttribute attribute : contract->getDiscardableAttrs())
    map->setAttr(attribute.getName(), attribute.getValue());
  return map.getOutputs()[0];
}

std::string CodePacker::multiply(ContractOp contract, CodesInBlocks lhs, CodesInBlocks rhs) {
  Levels ofLhs = levelsOf(lhs.numbers), ofRhs = levelsOf(rhs.numbers);
  int64_t places = placesOf(ofLhs);
  for (MapOp numbers : {lhs.numbers, rhs.numbers})
    if (placesOf(levelsOf(numbers)) == kOfF8e8m0 && !scalesBlocksByPowers(numbers))
      return "the scales of an operand's blocks are neither powers of two nor of f8e4m3";
  if (places != placesOf(ofRhs))
    return "one operand has scales of f8e4m3 and the other powers of two, of which no instruction "
           "multiplies by both";
  if (contract.getStart() || contract.getBatchAxes() > 0)
    return "its sum goes on from another, or is one of a batch, and operands have scales in blocks";
  if (contract->hasAttr(kSectionAttr))
    return "its rows come in chunks, in which codes of 4 bits are not packed";
  std::string reason = whyNot(lhs, places);
  if (reason.empty())
    reason = whyNot(rhs, places);
  if (!reason.empty())
    return reason;

  Packed left = pack(lhs, places), right = pack(rhs, places);
  builder.setInsertionPoint(contract);
  SmallVector<int64_t> block{1, places};
  auto scaled = ScaledContractOp::create(builder, contract.getLoc(), contract.getType(), left.words,
                                         left.scales, right.words, right.scales, false, true,
                                         contract.getPass(), contract.getLabelAttr(), block, block,
                                         /*by_factors=*/false);
  for (NamedAttribute attribute : contract->getDiscardableAttrs())
    scaled->setAttr(attribute.getName(), attribute.getValue());
  Value result = scaled.getResult();
  SmallVector<Value> factors;
  for (Value factor : {ofLhs.ofAll, ofRhs.ofAll})
    if (factor)
      factors.push_back(factor);
  if (!factors.empty()) {
    result = multiplyBehind(contract, result, factors);
    scaled->removeAttr(kValuesAttr);
    scaled->setAttr(kInternalAttr, builder.getUnitAttr());
  }
  contract.getResult().replaceAllUsesWith(result);
  contract.erase();
  return "";
}

} // namespace halftone::ir
