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

/// Rules round what its products read, be they matrices or not.
SmallVector<AccessAttr> ConvolutionOp::getOperandAccesses() {
  bool areMatrices = !windowsOf(*this).areOfChannels(tensor(getX()), getType());
  auto list = accesses(getContext(),
                       {areMatrices ? AccessKind::Lhs : AccessKind::General,
                        areMatrices ? AccessKind::Rhs : AccessKind::General, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

LogicalResult ConvolutionOp::continueFrom(const Continuation &before) {
  return continueWindows(*this, tensor(getX()), getKernel().size(), before);
}

SmallVector<Value> ConvolutionOp::lower(OpBuilder &builder) { // D77
  Windows windows = windowsOf(*this);
  TensorType x = tensor(getX()), y = gradientType(getResult());
  if (windows.areOfChannels(x, y)) {
    Value sums = windows.chain(builder, getLoc(), "depthwise", getWeight(), getX(),
                               windows.readElements(y, x), y);
    return {windows.finish(builder, *this, sums, getBias())};
  }
  Value held = windows.gather(builder, getLoc(), getX(), getType());
  Value product =
      windows.multiply(builder, getLoc(), held, windows.asRows(builder, getLoc(), getWeight()),
                       false, true, ContractionPass::Forward, "convolution");
  return {windows.finish(builder, *this, windows.join(builder, getLoc(), product, y), getBias())};
}

SmallVector<Value> ConvolutionOp::buildGradients(OpBuilder &builder,
                                                 ValueRange resultGradients) { // D78
  Windows windows = windowsOf(*this);
  Location loc = getLoc();
  Value g = resultGradients[0];
  TensorType x = gradientType(getX());
  SmallVector<Value> gradients;
  if (windows.areOfChannels(x, tensor(g))) {
    gradients.push_back(windows.chain(builder, loc, "depthwise_grad", getWeight(), g,
                                      windows.readWindows(x, tensor(g)), x));
  } else {
    Value ofX = windows.multiply(builder, loc, windows.scatter(builder, loc, g, x),
                                 windows.asColumns(builder, loc, getWeight()), false, false,
                                 ContractionPass::InputGradient);
    gradients.push_back(windows.join(builder, loc, ofX, x));
  }
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
