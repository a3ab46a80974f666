// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Angles.h"

#include "codegen/ir/Accesses.h"
#include "mlir/IR/AffineMap.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace halftone::ir {

LogicalResult verifyPosition(Operation *op, Value position, TensorType x) {
  if (!position ||
      (tensor(position).getDims() == x.getRowDims() && codeTypeOf(position).isInteger(32)))
    return success();
  return op->emitOpError() << "position " << tensor(position)
                           << " does not have an integer for every row of " << x;
}

TensorType typeOfTurns(TensorType x, Value position, int64_t pairs) {
  SmallVector<Attribute> dims(position ? tensor(position).getDims() : x.getRowDims().take_back());
  dims.push_back(IntegerAttr::get(IntegerType::get(x.getContext(), 64), pairs));
  return TensorType::get(x.getContext(), dims, Float32Type::get(x.getContext()));
}

AccessAttr readOfTurns(TensorType x, TensorType turns,
                       llvm::function_ref<AffineExpr(AffineExpr)> pair) {
  unsigned axes = x.getRank();
  SmallVector<AffineExpr> at;
  for (unsigned axis = axes - turns.getRank(); axis + 1 < axes; ++axis)
    at.push_back(getAffineDimExpr(axis, x.getContext()));
  at.push_back(pair(getAffineDimExpr(axes - 1, x.getContext())));
  return readAt(at, x, turns);
}

namespace {

DictionaryAttr attributeOf(OpBuilder &builder, const Frequencies &of) {
  NamedAttrList fields;
  auto set = [&](StringRef name, double value) {
    fields.append(name, builder.getF64FloatAttr(value));
  };
  fields.append("width", builder.getI64IntegerAttr(of.width));
  set("base", of.base);
  set("factor", of.factor);
  if (of.stretch) {
    set("low", of.stretch->low);
    set("high", of.stretch->high);
    set("length", of.stretch->length);
  }
  return fields.getDictionary(builder.getContext());
}

MapOp findTurns(Operation *layer, DictionaryAttr of, Value position, TensorType type) {
  for (auto map : layer->getBlock()->getOps<MapOp>())
    if (map->getAttr(kFrequenciesAttr) == of && map->isBeforeInBlock(layer) &&
        map->getResult(0).getType() == type &&
        llvm::equal(map.getInputs(), position ? ValueRange(position) : ValueRange()))
      return map;
  return {};
}

/// The frequency of the pair that the column stands for.
Value buildFrequency(Scalars &s, const Frequencies &of) {
  double c = 2 * std::log(of.base) / static_cast<double>(of.width);
  Value pair = s.number(s.columnIndex());
  Value high = s.like(pair, c), low = s.like(pair, c - static_cast<double>(static_cast<float>(c)));
  Value p = s.mul(pair, high);
  Value rest = s.fma(pair, low, s.fma(pair, high, s.neg(p)));
  Value f = s.exp(s.neg(p));
  return s.fma(s.neg(rest), f, f);
}

Value buildStretched(Scalars &s, Value f, const Frequencies &of) {
  if (!of.stretch)
    return of.factor == 1 ? f : s.div(f, s.like(f, of.factor));
  auto [low, high, length] = *of.stretch;
  Value slow = s.div(f, s.like(f, of.factor));
  Value wave = s.div(s.like(f, 2 * std::numbers::pi), f);
  Value part = s.div(s.sub(s.div(s.like(f, length), wave), s.like(f, low)), s.like(f, high - low));
  Value rest = s.sub(s.like(f, 1), part);
  Value between = s.add(s.div(s.mul(rest, f), s.like(f, of.factor)), s.mul(part, f));
  Value stretched = s.select(s.greater(wave, s.like(f, length / low)), slow, between);
  return s.select(s.less(wave, s.like(f, length / high)), f, stretched);
}

} // namespace

SmallVector<Value> makeTurns(Operation *layer, OpBuilder &builder, const Frequencies &frequencies,
                             Value position, TensorType type) {
  DictionaryAttr key = attributeOf(builder, frequencies);
  if (MapOp known = findTurns(layer, key, position, type))
    return SmallVector<Value>(known.getOutputs());
  Space space{type, {}, accesses(builder.getContext(), {AccessKind::Full, AccessKind::Full})};
  SmallVector<Value> inputs;
  if (position) {
    inputs.push_back(position);
    space.reads = accesses(builder.getContext(), {AccessKind::Row});
  }
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value f = buildStretched(s, buildFrequency(s, frequencies), frequencies);
    Value angle = s.mul(s.number(position ? e[0] : s.axisIndex(0)), f);
    return {s.cos(angle), s.sin(angle)};
  };
  auto map = makeMap(builder, layer->getLoc(), "turns", space, inputs, {type, type}, code);
  map->setAttr(kFrequenciesAttr, key);
  return SmallVector<Value>(map.getOutputs());
}

} // namespace halftone::ir
