// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/layers/Windows.h"

using namespace mlir;

namespace halftone::ir {

static Windows windowsOf(ConvolutionOp op) {
  return Windows(op.getKernel(), op.getStride(), op.getDilation(), op.getPadding(),
                 op.countGroups());
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyWindows(*this, getKernel(), getStride(), getDilation(), getPadding(),
                           countGroups())))
    return failure();
  TensorType x = tensor(getX());
  if (!windowsOf(*this).fit(x, getType()))
    return emitOpError() << "result " << getType() << " does not have a place for every window of "
                         << x;
  return verifyWindowWeights(*this, x, getType(), getKernel(), countGroups(), getWeight(),
                             getBias());
}

/// Rules round what its products read.
SmallVector<AccessAttr> ConvolutionOp::getOperandAccesses() {
  auto list = accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

LogicalResult ConvolutionOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), getKernel().size(), before);
}

SmallVector<Value> ConvolutionOp::lower(OpBuilder &builder) { // D77
  Windows windows = windowsOf(*this);
  Value held = windows.gather(builder, getLoc(), getX(), getType());
  Value product =
      windows.multiply(builder, getLoc(), held, windows.asRows(builder, getLoc(), getWeight()),
                       false, true, ContractionPass::Forward, "convolution");
  return {windows.finish(builder, *this, product, getBias())};
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
