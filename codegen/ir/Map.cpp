// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

MapOp makeMap(OpBuilder &builder, Location loc, StringRef label, const Space &space,
              ValueRange inputs, TypeRange results, ScalarCode code) {
  auto array = [&](ArrayRef<AccessAttr> list) {
    return builder.getArrayAttr(SmallVector<Attribute>(list.begin(), list.end()));
  };
  bool elementwise = !space.domain;
  auto op = MapOp::create(builder, loc, results, builder.getStringAttr(label), inputs,
                          elementwise ? ArrayAttr() : builder.getArrayAttr(space.domain.getDims()),
                          elementwise ? ArrayAttr() : array(space.reads),
                          elementwise ? ArrayAttr() : array(space.writes));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  addArguments(block, inputs, loc);
  Scalars scalars(builder, loc);
  YieldOp::create(builder, loc, code(scalars, block->getArguments()));
  return op;
}

MapOp makeMap(OpBuilder &builder, Location loc, StringRef label, ValueRange inputs,
              TypeRange results, ScalarCode code) {
  return makeMap(builder, loc, label, {}, inputs, results, code);
}

MapOp makeSum(OpBuilder &builder, Location loc, Value a, Value b) {
  return makeMap(
      builder, loc, "add", {a, b}, a.getType(),
      [](Scalars &s, ValueRange e) -> SmallVector<Value> { return {s.add(e[0], e[1])}; });
}

Value makeDerivative(OpBuilder &builder, Location loc, StringRef label, Function derivative,
                     Value x, Value gradient) {
  return makeMap(builder, loc, label, {x, gradient}, gradientType(x),
                 [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                   return {s.mul(e[1], s.recipe(derivative, e[0]))};
                 })
      .getOutputs()[0];
}

static LogicalResult verifyAccesses(MapOp op, ArrayAttr accesses, ValueRange values) {
  if (accesses.size() != values.size())
    return op.emitOpError("wants one access per operand and per result");
  Axes axes{op.getDomain().getDims(), {}};
  for (auto [access, value] : llvm::zip(accesses.getAsRange<AccessAttr>(), values))
    if (failed(verifyAccess(op, axes, access, tensor(value))))
      return failure();
  return success();
}

LogicalResult MapOp::verify() {
  if (!getOver())
    return verifyElementwise(*this);
  if (getOutputs().empty())
    return emitOpError("has no result");
  if (failed(verifyAccesses(*this, *getReads(), getInputs())) ||
      failed(verifyAccesses(*this, *getWrites(), getOutputs())))
    return failure();
  return verifyCode(*this, getBody());
}

Skeleton MapOp::getSkeleton() {
  bool overRow =
      llvm::any_of(getBody().front(), [](Operation &op) { return isa<RowSumOp, RowMaxOp>(op); });
  return overRow ? Skeleton::Row : Skeleton::Pointwise;
}

TensorType MapOp::getDomain() {
  return getOver()
             ? TensorType::get(getContext(), getOver()->getValue(), Float32Type::get(getContext()))
             : tensor(getOutputs().front());
}

SmallVector<AccessAttr> MapOp::getOperandAccesses() {
  return getReads() ? listed(*getReads()) : inferAccesses(getDomain(), getInputs());
}

SmallVector<AccessAttr> MapOp::getResultAccesses() {
  return getWrites() ? listed(*getWrites())
                     : SmallVector<AccessAttr>(getNumResults(),
                                               AccessAttr::get(getContext(), AccessKind::Full));
}

SmallVector<Value> MapOp::buildBody(OpBuilder &builder, ValueRange elements, Value) {
  return inlineBlock(builder, getBody().front(), elements);
}

/// In a gradient, the derivative that is multiplied by what arrives.
void MapOp::takeNarrowRecipes() {
  for (auto recipe : getBody().front().getOps<RecipeOp>())
    recipe.setNarrow(true);
}

} // namespace halftone::ir
