// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Transforms.h"

#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineMap.h"

#include <numbers>

using namespace mlir;

namespace halftone::ir {

int64_t countSpectrumPlaces(int64_t places) {
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(places, 2))));
}

unsigned countStagesOfFirstPass(int64_t places) {
  unsigned stages = llvm::Log2_64(static_cast<uint64_t>(places));
  return stages <= kMostStagesOfPass ? stages : stages / 2;
}

static std::optional<int64_t> numberOf(Attribute dim) {
  auto number = dyn_cast<IntegerAttr>(dim);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

bool isSequence(TensorType type) {
  return type.getRank() >= 2 && numberOf(type.getDims().back()) &&
         numberOf(type.getDims().drop_back().back());
}

TensorType typeOfSpectrum(TensorType sequence, int64_t places) {
  Builder builder(sequence.getContext());
  SmallVector<Attribute> dims(sequence.getDims().drop_back(2));
  auto blocks = static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(*sequence.getColumns()), kBlockChannels));
  for (int64_t extent : {blocks, places, int64_t{2}, kBlockChannels})
    dims.push_back(builder.getI64IntegerAttr(extent));
  return TensorType::get(sequence.getContext(), dims, builder.getF32Type());
}

//===--- The primitives ---===//

static LogicalResult verifyTurnsOf(Operation *op, TensorType turns) {
  std::optional<int64_t> places = turns.getColumns();
  if (turns.getRank() != 2 || numberOf(turns.getDims().front()) != 2 || !places || *places < 2 ||
      *places > kMostPlaces || !llvm::isPowerOf2_64(static_cast<uint64_t>(*places)))
    return op->emitOpError() << "turns " << turns
                             << " are not [2, places], a power of two from 2 to " << kMostPlaces;
  return success();
}

/// Whether turns, sequence and spectrum are of one transform; says on `op` if not.
static LogicalResult verifyTransform(Operation *op, TensorType sequence, TensorType turns,
                                     TensorType spectrum) {
  if (!isSequence(sequence))
    return op->emitOpError() << "sequence " << sequence
                             << " does not have places and channels, in numbers";
  if (failed(verifyTurnsOf(op, turns)))
    return failure();
  std::optional<int64_t> places = turns.getColumns();
  if (*numberOf(sequence.getDims().drop_back().back()) > *places)
    return op->emitOpError() << "sequence " << sequence << " has more than " << *places
                             << " places";
  if (TensorType wanted = typeOfSpectrum(sequence, *places); spectrum != wanted)
    return op->emitOpError() << "spectrum " << spectrum << " is not " << wanted;
  return success();
}

LogicalResult TransformOp::verify() {
  return verifyTransform(*this, tensor(getX()), tensor(getTurns()), getType());
}

Skeleton TransformOp::getSkeleton() { return Skeleton::Transform; }

TensorType TransformOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> TransformOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Turns});
}

SmallVector<AccessAttr> TransformOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Transformed});
}

SmallVector<Value> TransformOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

LogicalResult InverseTransformOp::verify() {
  if (tensor(getWork()) != tensor(getSpectrum()))
    return emitOpError() << "works in " << tensor(getWork()) << ", which is not "
                         << tensor(getSpectrum());
  return verifyTransform(*this, tensor(getResult()), tensor(getTurns()), tensor(getSpectrum()));
}

Skeleton InverseTransformOp::getSkeleton() { return Skeleton::InverseTransform; }

TensorType InverseTransformOp::getDomain() { return tensor(getSpectrum()); }

SmallVector<AccessAttr> InverseTransformOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Turns});
}

SmallVector<AccessAttr> InverseTransformOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Transformed, AccessKind::Full});
}

SmallVector<Value> InverseTransformOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0], elements[0]};
}

//===--- Passes of chips ---===//

/// Of a pass from a spectrum to a spectrum, of two.
static LogicalResult verifySecondPass(Operation *op, TensorType turns, TensorType spectrum) {
  if (failed(verifyTurnsOf(op, turns)))
    return failure();
  int64_t places = *turns.getColumns();
  ArrayRef<Attribute> dims = spectrum.getDims();
  if (dims.size() < 4 || !spectrum.getElementType().isF32() ||
      numberOf(dims.drop_back(2).back()) != places || numberOf(dims.drop_back().back()) != 2 ||
      numberOf(dims.back()) != kBlockChannels)
    return op->emitOpError() << spectrum << " is no spectrum of " << places << " places";
  if (int64_t{1} << countStagesOfFirstPass(places) == places)
    return op->emitOpError() << "goes over a spectrum of " << places
                             << " places a second time; one pass does all of its stages";
  return success();
}

/// Of a pass: whether it reads and leaves spectra, rather than a sequence.
static bool isSecondPass(Value read, Value left) {
  return tensor(read).getRank() == tensor(left).getRank();
}

LogicalResult TransformPassOp::verify() {
  if (!isSecondPass(getX(), getResult()))
    return verifyTransform(*this, tensor(getX()), tensor(getTurns()), getType());
  if (tensor(getX()) != getType())
    return emitOpError() << "makes " << getType() << " of " << tensor(getX())
                         << ", a spectrum of another";
  return verifySecondPass(*this, tensor(getTurns()), getType());
}

Skeleton TransformPassOp::getSkeleton() { return Skeleton::TransformPass; }

TensorType TransformPassOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> TransformPassOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Turns});
}

SmallVector<AccessAttr> TransformPassOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Transformed});
}

SmallVector<Value> TransformPassOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

LogicalResult InverseTransformPassOp::verify() {
  if (!isSecondPass(getSpectrum(), getResult()))
    return verifyTransform(*this, getType(), tensor(getTurns()), tensor(getSpectrum()));
  if (tensor(getSpectrum()) != getType())
    return emitOpError() << "makes " << getType() << " of " << tensor(getSpectrum())
                         << ", a spectrum of another";
  return verifySecondPass(*this, tensor(getTurns()), getType());
}

Skeleton InverseTransformPassOp::getSkeleton() { return Skeleton::InverseTransformPass; }

TensorType InverseTransformPassOp::getDomain() { return tensor(getSpectrum()); }

SmallVector<AccessAttr> InverseTransformPassOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Turns});
}

SmallVector<AccessAttr> InverseTransformPassOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Transformed});
}

SmallVector<Value> InverseTransformPassOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

/// x where a block holds all stages, or else what they left of it.
LogicalResult ConvolutionPassOp::verify() {
  if (tensor(getX()) != getType())
    return emitOpError() << "makes " << getType() << " of " << tensor(getX())
                         << ", which is not convolved in place";
  TensorType x = getType(), factor = tensor(getFactor()), turns = tensor(getTurns());
  if (x.getRank() >= 4 && x.getDims().take_back(4) == factor.getDims())
    return verifySecondPass(*this, turns, factor);
  if (!isSequence(x))
    return emitOpError() << x << " has no places and channels, in numbers";
  TensorType one = x.withDims(x.getDims().take_back(2));
  if (failed(verifyTransform(*this, one, turns, factor)))
    return failure();
  if (int64_t places = *turns.getColumns(); int64_t{1} << countStagesOfFirstPass(places) < places)
    return emitOpError() << "holds no " << places << " places at once; give it what the first "
                         << "stages left";
  return success();
}

Skeleton ConvolutionPassOp::getSkeleton() {
  return getConjugate() ? Skeleton::CorrelationPass : Skeleton::ConvolutionPass;
}

TensorType ConvolutionPassOp::getDomain() { return tensor(getX()); }

SmallVector<AccessAttr> ConvolutionPassOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Factor, AccessKind::Turns});
}

SmallVector<AccessAttr> ConvolutionPassOp::getResultAccesses() {
  return accesses(getContext(), {AccessKind::Transformed});
}

SmallVector<Value> ConvolutionPassOp::buildBody(OpBuilder &, ValueRange elements, Value) {
  return {elements[0]};
}

//===--- Building them ---===//

/// The last 20 bits of `m` in the opposite order.
static Value reverseBits(Scalars &s, Value m) {
  constexpr std::pair<int64_t, int64_t> kSwaps[] = {
      {1, 0x55555555}, {2, 0x33333333}, {4, 0x0f0f0f0f}, {8, 0x00ff00ff}, {16, 0x0000ffff}};
  for (auto [width, mask] : kSwaps) {
    Value low = s.both(m, s.integer(mask)), high = s.both(s.shiftRight(m, width), s.integer(mask));
    m = s.either(s.shiftLeft(low, width), high);
  }
  return s.shiftRight(m, 12);
}

namespace {
/// The point at q of kUnitsOfTurn, of at most half a turn; behind a quarter the real part has
/// another sign.
struct Point {
  Value isBehind, real, imaginary;
};
} // namespace

static Point buildPoint(Scalars &s, Value q) {
  using P = arith::CmpIPredicate;
  constexpr double kUnit = 2 * std::numbers::pi / kUnitsOfTurn;
  Value isBehind = s.compare(P::sgt, q, s.integer(1 << 20));
  Value first = s.select(isBehind, s.minus(s.integer(1 << 21), q), q);
  Value isSteep = s.compare(P::sgt, first, s.integer(1 << 19));
  Value f = s.number(s.select(isSteep, s.minus(s.integer(1 << 20), first), first));
  Value high = s.like(f, kUnit);
  Value low = s.like(f, kUnit - static_cast<double>(static_cast<float>(kUnit)));
  Value p = s.mul(f, high);
  Value rest = s.fma(f, low, s.fma(f, high, s.neg(p)));
  Value cosine = s.cos(p), sine = s.sin(p);
  Value c = s.fma(s.neg(rest), sine, cosine), t = s.fma(rest, cosine, sine);
  Value real = s.select(isSteep, t, c), imaginary = s.select(isSteep, c, t);
  return {isBehind, real, imaginary};
}

/// Z1: row 0 has cosines, row 1 sines.
static Value buildTurn(Scalars &s) {
  Value r = reverseBits(s, s.columnIndex());
  Value lowest = s.both(r, s.minus(s.integer(0), r));
  Point point = buildPoint(s, s.minus(s.plus(r, r), lowest));
  return s.select(s.compare(arith::CmpIPredicate::eq, s.axisIndex(0), s.integer(0)),
                  s.select(point.isBehind, s.neg(point.real), point.real), point.imaginary);
}

std::pair<Value, Value> buildPointOfTurn(Scalars &s, Value units) {
  Value isLow = s.compare(arith::CmpIPredicate::sgt, units, s.integer(kUnitsOfTurn / 2));
  Point point = buildPoint(s, s.select(isLow, s.minus(s.integer(kUnitsOfTurn), units), units));
  return {s.select(point.isBehind, s.neg(point.real), point.real),
          s.select(isLow, s.neg(point.imaginary), point.imaginary)};
}

Value makeTransformTurns(Operation *layer, OpBuilder &builder, int64_t places) {
  constexpr StringLiteral kTurnsAttr = "halftone.transform_turns";
  Block *block = builder.getInsertionBlock();
  auto type = TensorType::get(builder.getContext(),
                              {builder.getI64IntegerAttr(2), builder.getI64IntegerAttr(places)},
                              builder.getF32Type());
  // All that stand in the block were built before.
  for (auto map : block->getOps<MapOp>())
    if (map->hasAttr(kTurnsAttr) && map->getResult(0).getType() == type &&
        (builder.getInsertionPoint() == block->end() ||
         map->isBeforeInBlock(&*builder.getInsertionPoint())))
      return map.getOutputs()[0];
  Space space{type, {}, accesses(builder.getContext(), {AccessKind::Full})};
  auto map = makeMap(builder, layer->getLoc(), "transform_turns", space, ValueRange(), type,
                     [](Scalars &s, ValueRange) -> SmallVector<Value> { return {buildTurn(s)}; });
  map->setAttr(kTurnsAttr, builder.getUnitAttr());
  return map.getOutputs()[0];
}

Value makeTransform(OpBuilder &builder, Location loc, Value sequence, Value turns) {
  TensorType type = typeOfSpectrum(tensor(sequence), *tensor(turns).getColumns());
  return TransformOp::create(builder, loc, type, sequence, turns);
}

Value makeInverseTransform(OpBuilder &builder, Location loc, Value spectrum, Value turns,
                           TensorType sequence) {
  return InverseTransformOp::create(builder, loc, sequence, tensor(spectrum), spectrum, turns)
      .getResult();
}

Value multiplySpectra(OpBuilder &builder, Location loc, StringRef label, Value a, Value b,
                      bool conjugate) {
  MLIRContext *context = builder.getContext();
  TensorType domain = tensor(a), factor = tensor(b);
  unsigned part = domain.getRank() - 2;
  SmallVector<AffineExpr> own = axesOf(domain);
  auto read = [&](ArrayRef<AffineExpr> at, TensorType operand) {
    return readAt(at.take_back(operand.getRank()), domain, operand);
  };
  auto atPart = [&](AffineExpr of) {
    SmallVector<AffineExpr> at(own);
    at[part] = of;
    return at;
  };
  Space space{domain,
              {read(own, domain), read(atPart(1 - own[part]), domain),
               read(atPart(getAffineConstantExpr(0, context)), factor),
               read(atPart(getAffineConstantExpr(1, context)), factor)},
              accesses(context, {AccessKind::Full})};
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value isReal = s.compare(arith::CmpIPredicate::eq, s.axisIndex(part), s.integer(0));
    Value cross = s.mul(e[1], e[3]), less = s.neg(cross);
    return {s.fma(e[0], e[2],
                  conjugate ? s.select(isReal, cross, less) : s.select(isReal, less, cross))};
  };
  MapOp map = makeMap(builder, loc, label, space, {a, a, b, b}, domain, code);
  map->setAttr(kProductOfSpectraAttr, builder.getBoolAttr(conjugate));
  return map.getOutputs()[0];
}

} // namespace halftone::ir
