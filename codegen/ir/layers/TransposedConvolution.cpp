// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Windows.h"

using namespace mlir;

namespace halftone::ir {

/// They lie over the result, one for every place of x.
static Windows windowsOver(TransposedConvolutionOp op) {
  return Windows(op.getKernel(), op.getStride(), op.getDilation(), op.getPadding(),
                 op.countGroups());
}

LogicalResult TransposedConvolutionOp::verify() {
  if (failed(verifyWindows(*this, getKernel(), getStride(), getDilation(), getPadding(),
                           countGroups())))
    return failure();
  TensorType x = tensor(getX()), y = getType();
  if (std::optional<ArrayRef<int64_t>> more = getOutputPadding();
      more &&
      (more->size() != getKernel().size() || llvm::any_of(*more, [](int64_t n) { return n < 0; })))
    return emitOpError("wants an output_padding of 0 or more for every dimension");
  if (!windowsOver(*this).fit(y, x))
    return emitOpError() << "x " << x << " does not have a place for every window of " << y;
  return verifyWindowWeights(*this, x, y, getKernel(), countGroups(), getWeight(), getBias());
}

/// Rules round what its products read.
SmallVector<AccessAttr> TransposedConvolutionOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

LogicalResult TransposedConvolutionOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), getKernel().size(), before);
}

SmallVector<Value> TransposedConvolutionOp::lower(OpBuilder &builder) { // D79
  Windows windows = windowsOver(*this);
  Value held = windows.scatter(builder, getLoc(), getX(), getType());
  Value product =
      windows.multiply(builder, getLoc(), held, windows.asRows(builder, getLoc(), getWeight()),
                       false, true, ContractionPass::Forward, "transposed_convolution");
  product = windows.join(builder, getLoc(), product, gradientType(getResult()));
  return {windows.finish(builder, *this, product, getBias())};
}

/// Of windows that are more than elements the rows of the product are x's channels, though a
/// weight's outputs come first: windows are rhs, which contractions gather (decisions/0037).
static Value weightGradient(TransposedConvolutionOp op, const Windows &windows, OpBuilder &builder,
                            Value g) {
  Location loc = op.getLoc();
  TensorType weight = gradientType(op.getWeight());
  Value ofWindows = windows.gather(builder, loc, g, tensor(op.getX()));
  Value ofX = windows.cut(builder, loc, op.getX());
  if (!windows.areElements())
    return windows.asWeight(builder, loc,
                            windows.multiply(builder, loc, ofX, ofWindows, true, false,
                                             ContractionPass::WeightGradient),
                            weight);
  Value product =
      windows.multiply(builder, loc, ofWindows, ofX, true, false, ContractionPass::WeightGradient);
  return tensor(product) == weight ? product : Value(ViewOp::create(builder, loc, weight, product));
}

SmallVector<Value> TransposedConvolutionOp::buildGradients(OpBuilder &builder,
                                                           ValueRange resultGradients) { // D80
  Windows windows = windowsOver(*this);
  Location loc = getLoc();
  Value g = resultGradients[0];
  TensorType x = tensor(getX());
  Value ofX = windows.multiply(builder, loc, windows.gather(builder, loc, g, x),
                               windows.asColumns(builder, loc, getWeight()), false, false,
                               ContractionPass::InputGradient);
  SmallVector<Value> gradients{windows.join(builder, loc, ofX, gradientType(getX()))};
  gradients.push_back(weightGradient(*this, windows, builder, g));
  if (getBias())
    gradients.push_back(
        makeReduce(builder, loc, "column_sum", {}, g, gradientType(getBias())).getOutputs()[0]);
  return gradients;
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> TransposedConvolutionOp::readForGradient(unsigned operand) {
  if (operand == 2)
    return {};
  return {operand == 0 ? getWeight() : getX()};
}

} // namespace halftone::ir
