// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"
#include "codegen/ir/layers/Windows.h"

using namespace mlir;

namespace halftone::ir {

static Windows windowsOf(ConvolutionOp op) {
  return Windows(op.getKernel(), op.getStride(), op.getDilation(), op.getPadding(),
                 op.countGroups());
}

/// Lists of one to three dimensions, in all of which windows move on.
static bool areLists(ConvolutionOp op) {
  size_t rank = op.getKernel().size();
  auto fits = [](ArrayRef<int64_t> list, size_t size, int64_t least) {
    return list.size() == size && llvm::all_of(list, [&](int64_t n) { return n >= least; });
  };
  return rank >= 1 && rank <= 3 && fits(op.getKernel(), rank, 1) &&
         (!op.getStride() || fits(*op.getStride(), rank, 1)) &&
         (!op.getDilation() || fits(*op.getDilation(), rank, 1)) &&
         (!op.getPadding() || fits(*op.getPadding(), 2 * rank, 0));
}

LogicalResult ConvolutionOp::verify() {
  TensorType x = tensor(getX()), weight = tensor(getWeight());
  int64_t groups = countGroups();
  if (!areLists(*this) || groups < 1)
    return emitOpError(
        "wants a kernel, and strides and dilations if any, of 1 or more and paddings "
        "of 0 or more for one to three dimensions");
  if (!windowsOf(*this).fit(x, getType()))
    return emitOpError() << "result " << getType() << " does not have a place for every window of "
                         << x;
  std::optional<int64_t> channels = x.getColumns(), outputs = getType().getColumns();
  if (!channels || !outputs || *channels % groups != 0 || *outputs % groups != 0)
    return emitOpError() << "cannot cut " << x << " and " << getType() << " into " << groups
                         << " groups";
  Builder builder(getContext());
  SmallVector<Attribute> needed{builder.getI64IntegerAttr(*outputs)};
  for (int64_t extent : getKernel())
    needed.push_back(builder.getI64IntegerAttr(extent));
  needed.push_back(builder.getI64IntegerAttr(*channels / groups));
  if (weight.getDims() != ArrayRef(needed))
    return emitOpError() << "weight " << weight << " is not " << formatDims(needed);
  if (getBias() && tensor(getBias()).getDims() != getType().getDims().take_back())
    return emitOpError() << "bias " << tensor(getBias())
                         << " does not have one value per output of " << getType();
  return success();
}

/// Rules round what its products read.
SmallVector<AccessAttr> ConvolutionOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

LogicalResult ConvolutionOp::continueFrom(const Continuation &before) {
  ArrayRef<Attribute> spatial = tensor(getX()).getRowDims().take_back(getKernel().size());
  if (llvm::is_contained(spatial, before.time))
    return refuseToContinue(*this, "lets a token depend on others than those before it");
  return keepsTimesApart(*this, before);
}

SmallVector<Value> ConvolutionOp::lower(OpBuilder &builder) { // D77
  Windows windows = windowsOf(*this);
  Location loc = getLoc();
  Value product = windows.multiply(builder, loc, windows.gather(builder, loc, getX(), getType()),
                                   windows.asRows(builder, loc, getWeight()), false, true,
                                   ContractionPass::Forward, "convolution");
  product = windows.join(builder, loc, product, getType());
  Encoding rounded = internalEncoding(*this, "product");
  if (!getBias() && rounded.element == Element::f32)
    return {product};
  SmallVector<Value> inputs{product};
  if (getBias())
    inputs.push_back(getBias());
  auto map = makeMap(builder, loc, "convolution", inputs, getType(),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value sum = s.round(e[0], rounded);
                       return {getBias() ? s.add(sum, e[1]) : sum};
                     });
  return {map.getOutputs()[0]};
}

SmallVector<Value> ConvolutionOp::buildGradients(OpBuilder &builder,
                                                 ValueRange resultGradients) { // D78
  Windows windows = windowsOf(*this);
  Location loc = getLoc();
  Value g = resultGradients[0];
  Value ofX = windows.multiply(builder, loc, windows.scatter(builder, loc, g, tensor(getX())),
                               windows.asColumns(builder, loc, getWeight()), false, false,
                               ContractionPass::InputGradient);
  SmallVector<Value> gradients{windows.join(builder, loc, ofX, gradientType(getX()))};
  Value ofWeight = windows.multiply(builder, loc, windows.cut(builder, loc, g),
                                    windows.gather(builder, loc, getX(), getType()), true, false,
                                    ContractionPass::WeightGradient);
  TensorType weight = gradientType(getWeight());
  gradients.push_back(tensor(ofWeight) == weight
                          ? ofWeight
                          : Value(ViewOp::create(builder, loc, weight, ofWeight)));
  if (getBias())
    gradients.push_back(
        makeReduce(builder, loc, "column_sum", {}, g, gradientType(getBias())).getOutputs()[0]);
  return gradients;
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> ConvolutionOp::readForGradient(unsigned operand) {
  if (operand == 2)
    return {};
  return {operand == 0 ? getWeight() : getX()};
}

} // namespace halftone::ir
