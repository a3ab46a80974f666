// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

bool Continuation::leads(TensorType type) const {
  return type.getRank() == 3 && type.getDims()[0] == batch && type.getDims()[1] == time;
}

LogicalResult refuseToContinue(Operation *layer, const Twine &why) {
  return layer->emitError() << "layer '" << getLayer(layer)
                            << "' cannot go on from earlier tokens, as decoding does: it " << why;
}

LogicalResult countsTimes(Operation *layer, Value x, Value position, const Continuation &before) {
  if (position)
    return refuseToContinue(layer, "reads positions of its own; let it count times itself");
  if (!before.leads(tensor(x)))
    return refuseToContinue(layer, "counts other times than the tokens'");
  return success();
}

bool Continuation::hasTimesInFront(TensorType type) const {
  ArrayRef<Attribute> dims = type.getDims();
  return dims.size() >= 2 && dims[0] == batch && dims[1] == time && llvm::count(dims, time) == 1;
}

LogicalResult keepsTimesApart(Operation *op, const Continuation &before) {
  auto layer = cast<Layer>(op);
  TensorType result = tensor(op->getResult(0));
  for (auto [operand, access] : llvm::zip(op->getOperands(), layer.getOperandAccesses())) {
    TensorType type = tensor(operand);
    if (!llvm::is_contained(type.getDims(), before.time))
      continue;
    AccessKind kind = access.getKind();
    bool ofOneRow = kind == AccessKind::Row ||
                    (type.getRank() > 2 && kind != AccessKind::General && kind != AccessKind::Rhs);
    if (!ofOneRow || !before.hasTimesInFront(type) || !before.hasTimesInFront(result))
      return refuseToContinue(op, "lets a token depend on others than those before it");
  }
  return success();
}

/// What is read by elements of a domain, (b, j, ...), from the new times: (b, source, ...). Operand
/// `index` is the sources.
static AccessAttr readOfSources(MLIRContext *context, unsigned axes, int64_t index) {
  AffineMap map = AffineMap::getMultiDimIdentityMap(axes, context);
  SmallVector<AffineExpr> results(map.getResults());
  results[1] = getAffineSymbolExpr(0, context);
  map = AffineMap::get(axes, 1, results, context);
  return AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map), {}, {index});
}

Value Continuation::remember(OpBuilder &builder, Operation *layer, StringRef what, Value x) const {
  MLIRContext *context = builder.getContext();
  TensorType rows = tensor(sources);
  TensorType type =
      tensor(x).withDims({rows.getDims()[0], rows.getDims()[1], tensor(x).getDims().back()});
  std::string name = ("%" + getLayer(layer) + "." + what).str(); // which no node has
  auto cache = StateOp::create(builder, layer->getLoc(), type, builder.getStringAttr(name),
                               builder.getF64FloatAttr(0), UnitAttr(), builder.getUnitAttr());
  auto named = [&](AccessKind kind) { return AccessAttr::get(context, kind); };
  Space space{type,
              {named(AccessKind::Full), readOfSources(context, type.getRank(), 2),
               named(AccessKind::Row)},
              {named(AccessKind::Full)}};
  Element element = elementOf(type.getElementType());
  auto widen = [&](Value narrow) -> Value { // exact
    return element == Element::f32
               ? narrow
               : arith::ExtFOp::create(builder, layer->getLoc(), builder.getF32Type(), narrow);
  };
  auto placed = makeMap(builder, layer->getLoc(), "remember", space, {cache, x, sources}, type,
                        [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                          Value isNew = s.compare(arith::CmpIPredicate::sge, e[2], s.integer(0));
                          Value row = s.select(isNew, widen(e[1]), widen(e[0]));
                          return {element == Element::f32 ? row : s.truncate(row, {element})};
                        });
  AssignOp::create(builder, layer->getLoc(), cache, placed.getOutputs()[0]);
  return placed.getOutputs()[0];
}

TensorType Continuation::ofLast(TensorType type) const {
  SmallVector<Attribute> dims(type.getDims());
  dims[1] = Builder(type.getContext()).getI64IntegerAttr(1);
  return type.withDims(dims);
}

Value Continuation::takeLast(OpBuilder &builder, Value x, Value last) const {
  MLIRContext *context = builder.getContext();
  TensorType type = ofLast(tensor(x));
  AccessKind index = type.getRank() == 2 ? AccessKind::Full : AccessKind::Row;
  Space space{type,
              {readOfSources(context, type.getRank(), 1), AccessAttr::get(context, index)},
              {AccessAttr::get(context, AccessKind::Full)}};
  return makeMap(builder, last.getLoc(), "take_last", space, {x, last}, type,
                 [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; })
      .getOutputs()[0];
}

} // namespace halftone::ir
