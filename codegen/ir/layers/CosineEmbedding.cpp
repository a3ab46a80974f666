// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/LossWeights.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult CosineEmbeddingOp::verify() {
  TensorType x = tensor(getX());
  if (!tensor(getY()).hasSameDims(x))
    return emitOpError() << "operand " << tensor(getY()) << " does not have the shape of " << x;
  return verifyRowSummands(*this, 2);
}

SmallVector<AccessAttr> CosineEmbeddingOp::getOperandAccesses() {
  return getRowLossAccesses(*this, 2);
}

Value CosineEmbeddingOp::buildDivisor(OpBuilder &builder) {
  return getSampleWeight() ? makeDivisor(builder, getLoc(), getSampleWeight()) : Value();
}

namespace {

/// u, v, u * v and c of D107, of the rows that x and y are elements of.
struct Cosines {
  Value ofX, ofY, both, cosine;

  Cosines(Scalars &s, Value x, Value y) {
    ofX = inverseLength(s, x);
    ofY = inverseLength(s, y);
    both = s.mul(ofX, ofY);
    cosine = s.mul(s.rowSum(s.mul(x, y)), both);
  }

private:
  static Value inverseLength(Scalars &s, Value x) {
    Value square = s.add(s.rowSum(s.mul(x, x)), s.like(x, 1e-12));
    return s.div(s.like(x, 1), s.sqrt(square));
  }
};

/// Whether two rows should be alike or not, by how much the latter exceed the margin, and whether.
struct Side {
  Value alike, unlike, excess, below;

  Side(CosineEmbeddingOp op, Scalars &s, Value target, Value cosine) {
    alike = s.equal(target, s.like(target, 1));
    unlike = s.equal(target, s.like(target, -1));
    excess = s.sub(cosine, s.like(cosine, op.getMargin().convertToDouble()));
    below = s.less(excess, s.like(excess, 0));
  }
};

} // namespace

SmallVector<Value> CosineEmbeddingOp::lower(OpBuilder &builder) { // D107
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Cosines rows(s, e[0], e[1]);
    Side side(*this, s, e[2], rows.cosine);
    Value zero = s.like(e[0], 0), apart = s.select(side.below, zero, side.excess);
    Value ofOthers = s.select(side.unlike, apart, zero);
    Value loss = s.select(side.alike, s.sub(s.like(e[0], 1), rows.cosine), ofOthers);
    return {getSampleWeight() ? weigh(s, e[3], loss) : loss};
  };
  return lowerToMap(*this, builder, code, tensor(getX()), {AccessKind::Row});
}

SmallVector<Value> CosineEmbeddingOp::buildGradients(OpBuilder &builder,
                                                     ValueRange resultGradients) { // D108, D72
  SmallVector<Value> operands(getOperands());
  operands.push_back(resultGradients[0]);
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value weight = getSampleWeight() ? e[3] : Value();
    Value arriving = weight ? s.mul(e[4], weight) : e[3];
    Cosines rows(s, e[0], e[1]);
    Side side(*this, s, e[2], rows.cosine);
    Value zero = s.like(e[0], 0), apart = s.select(side.below, zero, arriving);
    Value ofOthers = s.select(side.unlike, apart, zero);
    Value slope = s.select(side.alike, s.neg(arriving), ofOthers);
    auto gradientOf = [&](Value one, Value other, Value inverse) {
      Value along = s.mul(one, s.mul(s.mul(rows.cosine, inverse), inverse));
      Value gradient = s.mul(slope, s.sub(s.mul(other, rows.both), along));
      return weight ? passOver(s, weight, gradient) : gradient;
    };
    return {gradientOf(e[0], e[1], rows.ofX), gradientOf(e[1], e[0], rows.ofY)};
  };
  auto op = makeMap(builder, getLoc(), "cosine_embedding_grad", getRowGradientSpace(*this, 2),
                    operands, {gradientType(getX()), gradientType(getY())}, code);
  SmallVector<Value> gradients(op.getOutputs());
  gradients.resize(getNumOperands());
  return gradients;
}

SmallVector<Type> CosineEmbeddingOp::inferResults(TensorType, ValueRange operands, DictionaryAttr) {
  return {getRowSummands(operands)};
}

} // namespace halftone::ir
