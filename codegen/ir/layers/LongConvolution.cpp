// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/MatrixTransforms.h"
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

namespace {

/// The spectra of one pass over the layer: by Z2 and Z3, or where rules round what products of
/// matrices multiply, by those (Z7).
class Spectra {
public:
  Spectra(LongConvolutionOp op, OpBuilder &builder, ContractionPass pass)
      : op(op), builder(builder) {
    auto length = cast<IntegerAttr>(tensor(op.getFilter()).getDims().front());
    int64_t places = countSpectrumPlaces(length.getInt());
    if (Encoding to = internalEncoding(op, "transforms"); to.element != Element::f32)
      products.emplace(op, builder, to, places, pass);
    else
      turns = makeTransformTurns(op, builder, places);
  }

  Value transform(Value sequence) {
    return products ? products->transform(sequence)
                    : makeTransform(builder, op.getLoc(), sequence, turns);
  }
  Value transformBack(Value spectrum, TensorType sequence) {
    return products ? products->transformBack(spectrum, sequence)
                    : makeInverseTransform(builder, op.getLoc(), spectrum, turns, sequence);
  }

private:
  LongConvolutionOp op;
  OpBuilder &builder;
  std::optional<MatrixTransforms> products;
  Value turns; ///< without them
};

} // namespace

SmallVector<Value> LongConvolutionOp::lower(OpBuilder &builder) { // D101
  Spectra spectra(*this, builder, ContractionPass::Forward);
  Value x = spectra.transform(getX());
  Value filter = spectra.transform(getFilter());
  Value product = multiplySpectra(builder, getLoc(), "long_convolution", x, filter, false);
  return {spectra.transformBack(product, getType())};
}

namespace {

/// The sum over all leading dimensions, N3.
Value sumSequences(OpBuilder &builder, Location loc, Value spectra) {
  TensorType type = tensor(spectra), one = type.withDims(type.getDims().take_back(kSpectrumDims));
  if (one == type)
    return spectra;
  SmallVector<Attribute> rows(type.getDims().drop_back(kSpectrumDims));
  rows.push_back(builder.getI64IntegerAttr(*one.getStaticElements()));
  Value matrix = ViewOp::create(builder, loc, type.withDims(rows), spectra);
  Value sum = makeReduce(builder, loc, "long_convolution_sums", {}, matrix,
                         type.withDims(ArrayRef<Attribute>(rows).take_back()))
                  .getOutputs()[0];
  return ViewOp::create(builder, loc, one, sum);
}

/// Correlation with the other operand. Each gradient has the spectrum of g of its own, since the
/// two may belong to passes that round g differently; where they do not, they share it.
Value correlate(LongConvolutionOp op, OpBuilder &builder, Spectra &spectra, Value g, Value other,
                StringRef label) {
  Value spectrum = spectra.transform(g);
  Value factor = spectra.transform(other);
  return multiplySpectra(builder, op.getLoc(), label, spectrum, factor, true);
}

ContractionPass passOfGradient(Value operand) {
  return operand.getDefiningOp<ParameterOp>() ? ContractionPass::WeightGradient
                                              : ContractionPass::InputGradient;
}

} // namespace

SmallVector<Value> LongConvolutionOp::buildGradients(OpBuilder &builder,
                                                     ValueRange resultGradients) { // D102
  Location loc = getLoc();
  Value g = resultGradients[0];
  Spectra spectraOfX(*this, builder, passOfGradient(getX())),
      spectraOfFilter(*this, builder, passOfGradient(getFilter()));
  Value ofX = correlate(*this, builder, spectraOfX, g, getFilter(), "long_convolution_grad");
  Value ofFilter =
      correlate(*this, builder, spectraOfFilter, g, getX(), "long_convolution_filter_grad");
  return {spectraOfX.transformBack(ofX, gradientType(getX())),
          spectraOfFilter.transformBack(sumSequences(builder, loc, ofFilter),
                                        gradientType(getFilter()))};
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> LongConvolutionOp::readForGradient(unsigned operand) {
  return {operand == 0 ? getFilter() : getX()};
}

} // namespace halftone::ir
