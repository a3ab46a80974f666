// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Transforms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult LongConvolutionOp::verify() {
  TensorType x = tensor(getX()), filter = tensor(getFilter());
  if (!isSequence(x) || !getType().hasSameDims(x))
    return emitOpError() << "x " << x << " must have places and channels, in numbers, and result "
                         << getType() << " its shape";
  if (filter.getDims() != x.getDims().take_back(2))
    return emitOpError() << "filter " << filter << " does not have the places and channels of "
                         << x;
  if (cast<IntegerAttr>(filter.getDims().front()).getInt() > kMostPlaces)
    return emitOpError() << "has more than " << kMostPlaces << " places";
  return success();
}

SmallVector<AccessAttr> LongConvolutionOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::General, AccessKind::General});
}

static Value turnsFor(LongConvolutionOp op, OpBuilder &builder) {
  auto places = cast<IntegerAttr>(tensor(op.getFilter()).getDims().front());
  return makeTransformTurns(op, builder, countSpectrumPlaces(places.getInt()));
}

SmallVector<Value> LongConvolutionOp::lower(OpBuilder &builder) { // D101
  Location loc = getLoc();
  Value turns = turnsFor(*this, builder);
  Value x = makeTransform(builder, loc, getX(), turns);
  Value filter = makeTransform(builder, loc, getFilter(), turns);
  Value product = multiplySpectra(builder, loc, "long_convolution", x, filter, false);
  return {makeInverseTransform(builder, loc, product, turns, getType())};
}

namespace {

/// The sum over all leading dimensions, N3.
Value sumSequences(OpBuilder &builder, Location loc, Value spectra) {
  TensorType type = tensor(spectra), one = type.withDims(type.getDims().take_back(4));
  if (one == type)
    return spectra;
  SmallVector<Attribute> rows(type.getDims().drop_back(4));
  rows.push_back(builder.getI64IntegerAttr(*one.getStaticElements()));
  Value matrix = ViewOp::create(builder, loc, type.withDims(rows), spectra);
  Value sum = makeReduce(builder, loc, "long_convolution_sums", {}, matrix,
                         type.withDims(ArrayRef<Attribute>(rows).take_back()))
                  .getOutputs()[0];
  return ViewOp::create(builder, loc, one, sum);
}

/// Correlation with the other operand. Each gradient has the spectrum of g of its own, since the
/// two may belong to passes that round g differently; where they do not, they share it.
Value correlate(LongConvolutionOp op, OpBuilder &builder, Value turns, Value g, Value other,
                StringRef label) {
  Value spectrum = makeTransform(builder, op.getLoc(), g, turns);
  Value factor = makeTransform(builder, op.getLoc(), other, turns);
  return multiplySpectra(builder, op.getLoc(), label, spectrum, factor, true);
}

} // namespace

SmallVector<Value> LongConvolutionOp::buildGradients(OpBuilder &builder,
                                                     ValueRange resultGradients) { // D102
  Location loc = getLoc();
  Value g = resultGradients[0], turns = turnsFor(*this, builder);
  Value ofX = correlate(*this, builder, turns, g, getFilter(), "long_convolution_grad");
  Value ofFilter = correlate(*this, builder, turns, g, getX(), "long_convolution_filter_grad");
  return {makeInverseTransform(builder, loc, ofX, turns, gradientType(getX())),
          makeInverseTransform(builder, loc, sumSequences(builder, loc, ofFilter), turns,
                               gradientType(getFilter()))};
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> LongConvolutionOp::readForGradient(unsigned operand) {
  return {operand == 0 ? getFilter() : getX()};
}

} // namespace halftone::ir
