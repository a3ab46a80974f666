// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult BatchNormOp::verify() {
  TensorType x = tensor(getX());
  for (Value vector : llvm::concat<Value>(getOperands().drop_front(), getResults().drop_front()))
    if (tensor(vector).getRank() != 1 || tensor(vector).getDims() != x.getDims().take_back())
      return emitOpError() << tensor(vector) << " does not have one value per column of " << x;
  return success();
}

SmallVector<Type> BatchNormOp::inferResults(TensorType node, ValueRange, DictionaryAttr) {
  TensorType columns = node.withDims(node.getDims().take_back());
  return {node, columns, columns, columns, columns};
}

SmallVector<AccessAttr> BatchNormOp::getOperandAccesses() {
  SmallVector<AccessKind> kinds(getNumOperands(), AccessKind::Column);
  kinds.front() = AccessKind::Full;
  return accesses(getContext(), kinds);
}

SmallVector<Value> BatchNormOp::readForGradient(unsigned) { return {getX(), getWeight()}; }

/// How many rows the columns have.
static Value countRows(Scalars &s, Value like, Value x) {
  return s.count(like.getType(), tensor(x).getRowDims());
}

static Value isFinite(Scalars &s, Value x) { return s.equal(s.sub(x, x), s.like(x, 0)); }

/// One value a column from such values.
static MapOp mapColumns(BatchNormOp op, OpBuilder &builder, StringRef label, ValueRange operands,
                        unsigned results, ScalarCode code) {
  SmallVector<Type> types(results, gradientType(op.getMean()));
  return makeMap(builder, op.getLoc(), label, operands, types, code);
}

/// The sum over rows of a function of x, or of x and what has one value a column.
static Value sumColumns(BatchNormOp op, OpBuilder &builder, StringRef label, ValueRange operands,
                        ScalarCode each) {
  SmallVector<AccessKind> kinds(operands.size(), AccessKind::Column);
  kinds.front() = AccessKind::Full;
  auto sum = makeReduce(builder, op.getLoc(), label, accesses(op.getContext(), kinds), operands,
                        gradientType(op.getMean()), each);
  return sum.getOutputs()[0];
}

SmallVector<Value> BatchNormOp::lower(OpBuilder &builder) { // D59
  double epsilon = getEpsilon().convertToDouble(), momentum = getMomentum().convertToDouble();
  auto rstdOf = [&](Scalars &s, Value variance) {
    return s.div(s.like(variance, 1), s.sqrt(s.add(variance, s.like(variance, epsilon))));
  };
  Value mean = getMean(), rstd, nextMean = getMean(), nextVariance = getVariance();
  if ((*this)->getParentOfType<GraphOp>().isInference()) {
    rstd = mapColumns(
               *this, builder, "batch_norm_rstd", getVariance(), 1,
               [&](Scalars &s, ValueRange e) -> SmallVector<Value> { return {rstdOf(s, e[0])}; })
               .getOutputs()[0];
  } else {
    Value sum = sumColumns(*this, builder, "batch_sum", getX(), nullptr);
    mean = mapColumns(*this, builder, "batch_mean", sum, 1,
                      [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                        return {s.div(e[0], countRows(s, e[0], getX()))};
                      })
               .getOutputs()[0];
    Value squares = sumColumns(*this, builder, "batch_squares", {getX(), mean},
                               [](Scalars &s, ValueRange e) -> SmallVector<Value> {
                                 Value d = s.sub(e[0], e[1]);
                                 return {s.mul(d, d)};
                               });
    auto moved = mapColumns(
        *this, builder, "batch_moments", {squares, mean, getMean(), getVariance()}, 3,
        [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
          Value rows = countRows(s, e[0], getX()), one = s.like(e[0], 1);
          Value share = s.like(e[0], momentum), variance = s.div(e[0], rows);
          Value unbiased = s.mul(variance, s.div(rows, s.sub(rows, one)));
          Value m = s.fma(share, s.sub(e[1], e[2]), e[2]);
          Value v = s.fma(share, s.sub(unbiased, e[3]), e[3]);
          Value finite = s.both(isFinite(s, m), isFinite(s, v));
          Value taken = s.both(finite, s.less(one, rows));
          return {rstdOf(s, variance), s.select(taken, m, e[2]), s.select(taken, v, e[3])};
        });
    rstd = moved.getOutputs()[0];
    nextMean = moved.getOutputs()[1];
    nextVariance = moved.getOutputs()[2];
  }
  Encoding normalized = internalEncoding(*this, "normalized");
  Space space{tensor(getX()), getOperandAccesses(), accesses(getContext(), {AccessKind::Full})};
  auto map =
      makeMap(builder, getLoc(), "batch_norm", space, {getX(), getWeight(), getBias(), mean, rstd},
              tensor(getResult()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                Value h = s.round(s.mul(s.sub(e[0], e[3]), e[4]), normalized);
                return {s.fma(h, e[1], e[2])};
              });
  return {map.getOutputs()[0], mean, rstd, nextMean, nextVariance};
}

SmallVector<Value> BatchNormOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D60
  Value g = resultGradients[0];
  Encoding normalized = internalEncoding(*this, "normalized");
  auto reads = accesses(
      getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column, AccessKind::Full});
  // Once for the gradient of x and once for those of the parameters, whose pass may read g
  // otherwise.
  auto sums = [&](StringRef label) {
    return makeReduce(builder, getLoc(), label, reads, {getX(), getUsedMean(), getRstd(), g},
                      {gradientType(getWeight()), gradientType(getBias())},
                      [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                        Value h = s.round(s.mul(s.sub(e[0], e[1]), e[2]), normalized);
                        return {s.mul(e[3], h), e[3]};
                      });
  };
  auto inside = sums("batch_norm_sums");
  Space rows{tensor(getX()),
             accesses(getContext(),
                      {AccessKind::Full, AccessKind::Column, AccessKind::Column, AccessKind::Full,
                       AccessKind::Column, AccessKind::Column, AccessKind::Column}),
             accesses(getContext(), {AccessKind::Full})};
  auto ofX = makeMap(builder, getLoc(), "batch_norm_grad", rows,
                     {getX(), getUsedMean(), getRstd(), g, getWeight(), inside.getOutputs()[0],
                      inside.getOutputs()[1]},
                     gradientType(getX()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value n = countRows(s, e[0], getX());
                       Value h = s.round(s.mul(s.sub(e[0], e[1]), e[2]), normalized);
                       Value a = s.div(e[6], n), b = s.div(e[5], n);
                       return {s.mul(s.mul(e[4], e[2]), s.sub(s.sub(e[3], a), s.mul(h, b)))};
                     });
  auto ofWeights = sums("batch_norm_weight_grad");
  ofWeights.setPass(ContractionPass::WeightGradient);
  return {ofX.getOutputs()[0], ofWeights.getOutputs()[0], ofWeights.getOutputs()[1], Value(),
          Value()};
}

} // namespace halftone::ir
