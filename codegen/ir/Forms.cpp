// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

#include "codegen/ir/Accesses.h"
#include "halftone/description/text.hpp"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace halftone::ir {

AccessAttr inferAccess(TensorType domain, TensorType operand) {
  MLIRContext *context = domain.getContext();
  if (operand.isScalar())
    return AccessAttr::get(context, AccessKind::Scalar);
  if (operand.hasSameDims(domain))
    return AccessAttr::get(context, AccessKind::Full);
  if (operand.getRank() == 1 && !domain.isScalar() &&
      operand.getDims()[0] == domain.getDims().back())
    return AccessAttr::get(context, AccessKind::Column);
  return {};
}

SmallVector<AccessAttr> inferOperandAccesses(Operation *op) {
  return inferAccesses(tensor(op->getResult(0)), op->getOperands());
}

SmallVector<AccessAttr> getOperandAccesses(Operation *op) {
  if (auto layer = dyn_cast<Layer>(op))
    return layer.getOperandAccesses();
  auto form = dyn_cast<KernelForm>(op);
  return form ? form.getOperandAccesses() : SmallVector<AccessAttr>();
}

bool isOfPlace(Operation *op) {
  return isa<ColumnIndexOp, AxisIndexOp, ElementIndexOp, QuarterIndexOp, QuarterPlaceOp>(op);
}

bool isExpBelowMaximum(Operation *op) {
  auto exp = dyn_cast<math::ExpOp>(op);
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto maximum = difference ? difference.getRhs().getDefiningOp<RowMaxOp>() : RowMaxOp();
  return op->hasAttr(kOfNonpositiveAttr) || (maximum && maximum.getX() == difference.getLhs());
}

bool readsMatrix(Operation *op, unsigned i) {
  SmallVector<AccessAttr> accesses = getOperandAccesses(op);
  return i < accesses.size() && isMatrix(accesses[i].getKind());
}

ValueRange countersFor(Operation *op) {
  Block &block = op->getParentOfType<GraphOp>().getBody().front();
  auto known = block.getOps<CountersOp>();
  if (!known.empty())
    return (*known.begin())->getResults();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  auto counter = TensorType::get(op->getContext(), {}, builder.getI32Type());
  return CountersOp::create(builder, op->getLoc(), counter, counter, counter, counter)
      ->getResults();
}

[[maybe_unused]] static bool hasInternal(Operation *layer, StringRef value) {
  auto kind = description::kind_of(layer->getName().stripDialect());
  return kind && llvm::is_contained(description::form_of(*kind).internals, value);
}

Encoding internalEncoding(Operation *layer, StringRef value) {
  assert(hasInternal(layer, value) && "the form of its kind lists no such internal value");
  auto rounded = layer->getAttrOfType<DictionaryAttr>(kRoundedInsideAttr);
  auto encoding = rounded ? rounded.getAs<EncodingAttr>(value) : EncodingAttr();
  return encoding ? encoding.getValue() : Encoding();
}

SmallVector<Value> lowerToMap(Operation *layer, OpBuilder &builder, ScalarCode code,
                              TensorType domain, ArrayRef<AccessKind> writes) {
  Space space;
  if (domain)
    space = {domain, getOperandAccesses(layer), accesses(builder.getContext(), writes)};
  auto map = makeMap(builder, layer->getLoc(), layer->getName().stripDialect(), space,
                     layer->getOperands(), layer->getResultTypes(), code);
  return SmallVector<Value>(map.getOutputs());
}

SmallVector<Value> inlineBlock(OpBuilder &builder, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value v) { return mapping.lookupOrDefault(v); });
}

void addArguments(Block *block, ValueRange inputs, Location loc) {
  for (Value input : inputs)
    block->addArgument(codeTypeOf(input), loc); // see fitCode
}

/// Arithmetic is f32; an input may still have the element that it arrives in until InsertCasts has
/// widened it.
bool fitCode(TypeRange scalars, ValueRange tensors) {
  return llvm::equal(scalars, tensors, [&](Type scalar, Value value) {
    return scalar == tensor(value).getElementType() || scalar == codeTypeOf(value);
  });
}

LogicalResult verifyElementwise(Operation *op) {
  if (op->getNumResults() == 0)
    return op->emitOpError("has no result");
  TensorType domain = tensor(op->getResult(0));
  for (Value output : op->getResults())
    if (!tensor(output).hasSameDims(domain))
      return op->emitOpError() << "results " << domain << " and " << tensor(output)
                               << " differ in shape";
  for (Value input : op->getOperands())
    if (!inferAccess(domain, tensor(input)))
      return op->emitOpError() << "operand " << tensor(input) << " neither has the shape of "
                               << domain << " nor is one value per column or one for all";
  return verifyCode(op, op->getRegion(0));
}

LogicalResult verifyCode(Operation *op, Region &code) {
  if (!fitCode(code.front().getArgumentTypes(), op->getOperands()))
    return op->emitOpError("region wants one argument per operand, of its element type");
  if (!fitCode(code.front().getTerminator()->getOperandTypes(), op->getResults()))
    return op->emitOpError("region wants to yield one value per result, of its element type");
  return success();
}

bool keepsOrder(ArrayRef<Attribute> dims, ArrayRef<int64_t> axes) {
  auto moves = [&](int64_t axis) {
    auto extent = dyn_cast<IntegerAttr>(dims[axis]);
    return !extent || extent.getInt() != 1;
  };
  return llvm::is_sorted(SmallVector<int64_t>(llvm::make_filter_range(axes, moves)));
}

Value makeTranspose(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> axes) {
  auto dims = llvm::map_to_vector(axes, [&](int64_t axis) { return tensor(x).getDims()[axis]; });
  TensorType type = tensor(x).withDims(dims);
  if (keepsOrder(tensor(x).getDims(), axes))
    return ViewOp::create(builder, loc, type, x);
  MLIRContext *context = builder.getContext();
  auto map = inversePermutation(AffineMap::getPermutationMap(axes, context));
  auto read = AccessAttr::get(context, AccessKind::General, 0, AffineMapAttr::get(map), {}, {});
  Space space{type, {read}, accesses(context, {AccessKind::Full})};
  auto moved = makeMap(builder, loc, "transpose", space, x, type,
                       [](Scalars &, ValueRange e) -> SmallVector<Value> { return {e[0]}; });
  return moved.getOutputs()[0];
}

Value makeWindow(OpBuilder &builder, Location loc, StringRef label, Value x, int64_t offset,
                 TensorType type) {
  Space space{type,
              {AccessAttr::get(builder.getContext(), AccessKind::Window, offset)},
              accesses(builder.getContext(), {AccessKind::Full})};
  return makeMap(builder, loc, label, space, x, type,
                 [](Scalars &, ValueRange a) -> SmallVector<Value> { return {a[0]}; })
      .getOutputs()[0];
}

bool movesElements(Operation *op) {
  auto map = dyn_cast<MapOp>(op);
  if (!map || map.getInputs().size() != 1 || map.getNumResults() != 1)
    return false;
  Block &body = map.getBody().front();
  return llvm::hasSingleElement(body) && body.getTerminator()->getOperand(0) == body.getArgument(0);
}

LogicalResult verifyRows(Operation *op, TensorType a, TensorType b) {
  if (a.getRowDims() != b.getRowDims())
    return op->emitOpError() << "rows of " << a << " do not match rows of " << b;
  return success();
}

LogicalResult verifyAsManyElements(Operation *op, TensorType a, TensorType b) {
  if (!haveAsManyElements(a.getDims(), b.getDims()))
    return op->emitOpError() << a << " and " << b
                             << " have other numbers of elements: give both the same symbols and "
                                "the same product of extents";
  return success();
}

LogicalResult verifyOneShape(Operation *op) {
  TensorType result = tensor(op->getResult(0));
  for (Value operand : op->getOperands())
    if (!tensor(operand).hasSameDims(result))
      return op->emitOpError() << "operand " << tensor(operand)
                               << " does not have the shape of result " << result;
  return success();
}

} // namespace halftone::ir
