// SPDX-License-Identifier: Apache-2.0
// Verifiers, folders and the pieces of operations that need no formula.
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace halftone::ir {

//===--- Verifiers ---===//

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

LogicalResult QuantizedWeightOp::verify() {
  TensorType codes = tensor(getCodes()), scales = tensor(getScales());
  size_t dimension = getDimension();
  if (codes.getRank() < 2 || dimension > 1 || !codes.getStaticElements() ||
      !description::is_quantized(elementOf(codes.getElementType())))
    return emitOpError() << "codes " << codes << " are no matrix of i8 or f8e4m3";
  if (!scales.getElementType().isF32() || scales.getDims() != codes.getDims().slice(dimension, 1))
    return emitOpError() << "scales " << scales << " are not one for each channel of " << codes
                         << " along dimension " << dimension;
  return success();
}

LogicalResult AssignOp::verify() {
  if (!isa_and_nonnull<StateOp, FlatParametersOp, FlatWorkingCopiesOp, AccumulatedOp,
                       OutputGradientOp, FlattenOp>(getViewed(getDestination()).getDefiningOp()))
    return emitOpError("assigns to what does not persist");
  // A state is f32; an input that it takes may still have the format that it arrives in.
  TensorType to = tensor(getDestination()), from = tensor(getX());
  bool widened = to.getElementType().isF32() && isa_and_nonnull<InputOp>(getX().getDefiningOp());
  if (widened ? !to.hasSameDims(from) : to != from)
    return emitOpError() << "value " << tensor(getX()) << " does not fit "
                         << tensor(getDestination());
  return success();
}

LogicalResult WholeOp::verify() {
  for (Value part : getParts())
    if (part.getType() != getType())
      return emitOpError() << "is " << getType() << ", of which " << part.getType()
                           << " is no part: kernels store theirs in all of it, by a window";
  return success();
}

LogicalResult PartOp::verify() {
  if (failed(verifyRows(*this, tensor(getX()), getType())))
    return failure();
  auto offset = static_cast<int64_t>(getOffset());
  std::optional<int64_t> columns = getType().getColumns(), all = tensor(getX()).getColumns();
  if (!columns || !all || offset < 0 || offset + *columns > *all ||
      getType().getElementType() != tensor(getX()).getElementType())
    return emitOpError() << getType() << " are no columns of " << tensor(getX()) << " from "
                         << offset << " on";
  return success();
}

bool isCodes(Value value) {
  auto weight = getViewed(value).getDefiningOp<QuantizedWeightOp>();
  return weight && getViewed(value) == weight.getCodes();
}

bool multipliesCodes(KernelOp kernel) {
  return llvm::any_of(llvm::seq(kernel.getInputs().size()), [&](size_t i) {
    return isMatrix(kernel.getInputAccess(i).getKind()) && isCodes(kernel.getInputs()[i]);
  });
}

//===--- KernelOp ---===//

TensorType KernelOp::getDomainType() {
  return TensorType::get(getContext(), getDomain().getValue(), Float32Type::get(getContext()));
}

Value KernelOp::getElement(unsigned i) {
  if (isMatrix(getInputAccess(i).getKind()))
    return {};
  unsigned argument = countSums();
  for (unsigned before = 0; before < i; ++before)
    argument += !isMatrix(getInputAccess(before).getKind());
  return getBody().front().getArgument(argument);
}

unsigned KernelOp::countSums() {
  bool hasSecond = llvm::any_of(getInputAccesses(), [](Attribute access) {
    return cast<AccessAttr>(access).getKind() == AccessKind::Rhs2;
  });
  return hasSum() + hasSecond;
}

KernelYieldOp KernelOp::getYield() { return cast<KernelYieldOp>(getBody().front().back()); }

YieldOp KernelOp::getFinishYield() { return cast<YieldOp>(getFinish().front().back()); }

ArrayRef<Attribute> KernelOp::getBatchDims() {
  for (auto [i, input] : llvm::enumerate(getInputs())) // times and columns, in place or not
    if (AccessAttr access = getInputAccess(i);
        access.getKind() == AccessKind::Rhs &&
        (getSkeleton() == Skeleton::Attention || getSkeleton() == Skeleton::AttentionColumns))
      return getDomain().getValue().take_front(tensor(input).getRank() - 2);
  // Where rhs is gathered lhs lies by columns and has as many dimensions as rhs would.
  for (AccessKind kind : {AccessKind::Rhs, AccessKind::Lhs})
    for (auto [i, input] : llvm::enumerate(getInputs()))
      if (AccessAttr access = getInputAccess(i); access.getKind() == kind && !access.getMap())
        return getDomain().getValue().take_front(
            countBatchAxes(getReduction().getValue(), tensor(input)));
  for (auto [i, result] : llvm::enumerate(getStored())) {
    AccessKind kind = getResultAccess(i).getKind();
    if (kind == AccessKind::Column)
      return getDomain().getValue().take_front(countBatchAxes({}, tensor(result)));
    if (kind == AccessKind::Segment)
      return getDomain().getValue().take_front(countBatchAxesOfSegments(tensor(result)));
  }
  return {};
}

/// The axes of the elements that the scalar code around `op` is for.
static std::optional<unsigned> countAxes(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(parent))
    return kernel.getDomain().size();
  if (auto form = dyn_cast<KernelForm>(parent))
    return form.getDomain().getRank();
  return std::nullopt;
}

LogicalResult AxisIndexOp::verify() {
  std::optional<unsigned> axes = countAxes(*this);
  if (axes && getAxis() >= *axes)
    return emitOpError() << "asks for axis " << getAxis() << " of a domain with " << *axes
                         << ": axes count from 0";
  return success();
}

LogicalResult KeptOp::verify() {
  auto kernel = dyn_cast<KernelOp>((*this)->getParentOp());
  if (kernel && kernel.getSkeleton() != Skeleton::Attention &&
      kernel.getSkeleton() != Skeleton::AttentionColumns)
    return emitOpError() << "is in a kernel of skeleton " << stringifySkeleton(kernel.getSkeleton())
                         << ", which computes every element: use its operand";
  return success();
}

LogicalResult KernelOp::verify() {
  if (getDomain().empty())
    return emitOpError("wants a domain with columns");
  if (getInputs().size() != getInputAccesses().size() ||
      getStored().size() != getResultAccesses().size())
    return emitOpError("wants one access per operand and per stored result");
  bool multiplies = llvm::is_contained(
      {Skeleton::Contraction, Skeleton::Attention, Skeleton::AttentionColumns}, getSkeleton());
  if (hasSum() != multiplies)
    return emitOpError("wants reduction dimensions if, and only if, it is a contraction");
  if (getAccumulation() != Accumulation::F32 && !hasSum())
    return emitOpError("states an accumulation, but only contractions sum over k (P21)");
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (failed(verifyInputAccess(*this, i)))
      return failure();
  for (unsigned i = 0; i < getStored().size(); ++i)
    if (failed(verifyResultAccess(*this, i)))
      return failure();
  unsigned elements = llvm::count_if(
      getInputAccesses(), [](Attribute a) { return !isMatrix(cast<AccessAttr>(a).getKind()); });
  Block &body = getBody().front();
  if (body.getNumArguments() != elements + countSums())
    return emitOpError() << "body wants " << elements + countSums() << " arguments, not "
                         << body.getNumArguments();
  auto yield = body.empty() ? KernelYieldOp() : dyn_cast<KernelYieldOp>(&body.back());
  if (!yield || yield.getStores().size() != getStored().size())
    return emitOpError("body wants to end in a kernel_yield of one value per stored result");
  if (static_cast<bool>(yield.getInto()) !=
      llvm::is_contained({Skeleton::Segment, Skeleton::SegmentMax}, getSkeleton()))
    return emitOpError("wants the row to add `into` if, and only if, it sums into segments");
  if (yield.getSums().empty() != getFinished().empty() ||
      getFinish().empty() != getFinished().empty())
    return emitOpError("wants sums and a finish if, and only if, it has finished results");
  return success();
}

} // namespace halftone::ir

#define GET_OP_CLASSES
#include "codegen/ir/Ops.cpp.inc"
