// SPDX-License-Identifier: Apache-2.0
// Verifiers, folders and the pieces of operations that need no formula.
#include "codegen/ir/Forms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpImplementation.h"

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

SmallVector<Value> inlineBlock(OpBuilder &builder, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value v) { return mapping.lookupOrDefault(v); });
}

//===--- Verifiers ---===//

LogicalResult verifyRows(Operation *op, TensorType a, TensorType b) {
  if (a.getRowDims() != b.getRowDims())
    return op->emitOpError() << "rows of " << a << " do not match rows of " << b;
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

LogicalResult ContractOp::verify() {
  auto matrix = [](TensorType type, bool transpose) {
    ArrayRef<Attribute> dims = type.getDims(), rows = type.getRowDims(), columns = dims.take_back();
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(tensor(getLhs()), getTransposeLhs());
  auto [k2, n] = matrix(tensor(getRhs()), getTransposeRhs());
  if (k != k2)
    return emitOpError() << "sums over " << formatDims(k) << " of lhs but " << formatDims(k2)
                         << " of rhs";
  if (getType().getRowDims() != m || getType().getDims().take_back() != n)
    return emitOpError() << "result " << getType() << " is not " << formatDims(m) << " by "
                         << formatDims(n);
  return success();
}

LogicalResult CastOp::verify() { return verifyOneShape(*this); }

bool isExactConversion(Type from, Type to) { // F1, F4
  return from == to || to.isF32() || (isa<Float16Type, BFloat16Type>(from) && to.isTF32());
}

bool CastOp::isExact() {
  return isExactConversion(tensor(getX()).getElementType(), getType().getElementType());
}

OpFoldResult CastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : Value(); }

LogicalResult FlattenOp::verify() {
  if (getParts().size() != getOffsets().size())
    return emitOpError() << "has " << getParts().size() << " parts but " << getOffsets().size()
                         << " offsets";
  int64_t end = 0;
  for (auto [part, offset] : llvm::zip(getParts(), getOffsets())) {
    std::optional<int64_t> elements = tensor(part).getStaticElements();
    if (!elements || offset < end)
      return emitOpError() << "part " << tensor(part) << " at " << offset
                           << " overlaps the part before it or has a symbolic size";
    end = offset + *elements;
  }
  if (end > getType().getStaticElements().value_or(0))
    return emitOpError() << "parts end at " << end << ", past " << getType();
  return success();
}

LogicalResult TotalOp::verify() {
  Block &block = getFinish().front();
  if (block.getNumArguments() != 1 + getScalars().size())
    return emitOpError("region wants the sum and one argument per scalar");
  if (block.getTerminator()->getNumOperands() != getOutputs().size())
    return emitOpError("region wants to yield one value per result");
  return success();
}

LogicalResult AssignOp::verify() {
  if (!isa_and_nonnull<StateOp, FlatParametersOp, FlatWorkingCopiesOp, AccumulatedOp,
                       OutputGradientOp, FlattenOp>(getDestination().getDefiningOp()))
    return emitOpError("assigns to what does not persist");
  // A state is f32; an input that it takes may still have the format that it arrives in, as above.
  TensorType to = tensor(getDestination()), from = tensor(getX());
  bool widened = to.getElementType().isF32() && isa_and_nonnull<InputOp>(getX().getDefiningOp());
  if (widened ? !to.hasSameDims(from) : to != from)
    return emitOpError() << "value " << tensor(getX()) << " does not fit "
                         << tensor(getDestination());
  return success();
}

//===--- KernelOp ---===//

TensorType KernelOp::getDomainType() {
  return TensorType::get(getContext(), getDomain().getValue(), Float32Type::get(getContext()));
}

static bool isMatrix(AccessKind kind) { return kind == AccessKind::Lhs || kind == AccessKind::Rhs; }

Value KernelOp::getElement(unsigned i) {
  if (isMatrix(getInputAccess(i).getKind()))
    return {};
  unsigned argument = hasSum() ? 1 : 0;
  for (unsigned before = 0; before < i; ++before)
    argument += !isMatrix(getInputAccess(before).getKind());
  return getBody().front().getArgument(argument);
}

KernelYieldOp KernelOp::getYield() { return cast<KernelYieldOp>(getBody().front().back()); }

YieldOp KernelOp::getFinishYield() { return cast<YieldOp>(getFinish().front().back()); }

static LogicalResult verifyAccess(KernelOp op, AccessAttr access, TensorType type) {
  TensorType domain = op.getDomainType();
  bool fits = true;
  switch (access.getKind()) {
  case AccessKind::Full:
    // A domain may end in an extra 1 where the tensor ends in a symbol.
    fits = type.hasSameDims(domain) || type.getDims() == domain.getRowDims();
    break;
  case AccessKind::Window:
    fits = type.getRowDims() == domain.getRowDims();
    break;
  case AccessKind::Column:
    fits = type.getRank() == 1 && type.getColumns() == domain.getColumns();
    break;
  case AccessKind::Row:
    fits = type.getDims() == domain.getRowDims();
    break;
  case AccessKind::Scalar:
    fits = type.isScalar();
    break;
  case AccessKind::Lhs:
  case AccessKind::Rhs:
    fits = op.hasSum();
    break;
  }
  if (!fits)
    return op.emitOpError() << type << " cannot be accessed as "
                            << stringifyAccessKind(access.getKind()) << " of domain "
                            << formatDims(domain.getDims());
  return success();
}

LogicalResult KernelOp::verify() {
  if (getDomain().empty() || !isa<IntegerAttr>(getDomain().getValue().back()))
    return emitOpError("domain must end in a number of columns");
  if (getInputs().size() != getInputAccesses().size() ||
      getStored().size() != getResultAccesses().size())
    return emitOpError("wants one access per operand and per stored result");
  if (hasSum() != (getSkeleton() == Skeleton::Contraction))
    return emitOpError("wants reduction dimensions if, and only if, it is a contraction");
  if (getAccumulation() != Accumulation::F32 && !hasSum())
    return emitOpError("states an accumulation, but only contractions sum over k (P21)");
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (failed(verifyAccess(*this, getInputAccess(i), tensor(input))))
      return failure();
  for (auto [i, result] : llvm::enumerate(getStored()))
    if (failed(verifyAccess(*this, getResultAccess(i), tensor(result))))
      return failure();
  unsigned elements = llvm::count_if(
      getInputAccesses(), [](Attribute a) { return !isMatrix(cast<AccessAttr>(a).getKind()); });
  Block &body = getBody().front();
  if (body.getNumArguments() != elements + hasSum())
    return emitOpError() << "body wants " << elements + hasSum() << " arguments, not "
                         << body.getNumArguments();
  auto yield = body.empty() ? KernelYieldOp() : dyn_cast<KernelYieldOp>(&body.back());
  if (!yield || yield.getStores().size() != getStored().size())
    return emitOpError("body wants to end in a kernel_yield of one value per stored result");
  if (yield.getSums().empty() != getFinished().empty() ||
      getFinish().empty() != getFinished().empty())
    return emitOpError("wants sums and a finish if, and only if, it has finished results");
  return success();
}

} // namespace halftone::ir

#define GET_OP_CLASSES
#include "codegen/ir/Ops.cpp.inc"
