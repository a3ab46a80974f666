// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Continuation.h"
#include "codegen/ir/layers/Places.h"

using namespace mlir;

namespace halftone::ir {

/// [images, channels], what has a value for each.
static TensorType sharedTypeOf(TensorType x) {
  return x.withDims({x.getDims().front(), x.getDims().back()})
      .withElementType(Float32Type::get(x.getContext()));
}

int64_t GroupNormOp::countGroups() {
  return static_cast<int64_t>(getGroups().value_or(*tensor(getX()).getColumns()));
}

LogicalResult GroupNormOp::verify() {
  TensorType x = tensor(getX());
  if (x.getRank() < 2 || !x.getColumns())
    return emitOpError() << "x " << x << " must have images and a number of channels";
  if (countGroups() < 1 || *x.getColumns() % countGroups() != 0)
    return emitOpError() << "cannot cut the channels of " << x << " into " << countGroups()
                         << " groups";
  for (Value vector : {getWeight(), getBias()})
    if (tensor(vector).getRank() != 1 || tensor(vector).getDims() != x.getDims().take_back())
      return emitOpError() << tensor(vector) << " does not have one value per channel of " << x;
  for (Value shared : {getMean(), getRstd()})
    if (!tensor(shared).hasSameDims(sharedTypeOf(x)))
      return emitOpError() << tensor(shared) << " does not have one value per image and channel of "
                           << x;
  return success();
}

SmallVector<Type> GroupNormOp::inferResults(TensorType node, ValueRange, DictionaryAttr) {
  TensorType shared = node.withDims({node.getDims().front(), node.getDims().back()});
  return {node, shared, shared};
}

SmallVector<AccessAttr> GroupNormOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Full, AccessKind::Column, AccessKind::Column});
}

LogicalResult GroupNormOp::continueFrom(const Continuation &before) {
  if (llvm::is_contained(tensor(getX()).getRowDims().drop_front(), before.time))
    return refuseToContinue(*this, "normalizes over all times");
  return keepsTimesApart(*this, before);
}

/// Of values [images, channels] the sum over the channels of each group (N2), for each channel what
/// `finish` makes of it and of how many elements a group has.
static Value finishGroups(GroupNormOp op, OpBuilder &builder, StringRef label, Value values,
                          llvm::function_ref<Value(Scalars &, Value sum, Value count)> finish,
                          Value weight = {}) {
  TensorType shared = tensor(values), x = tensor(op.getX());
  int64_t groups = op.countGroups(), channels = *shared.getColumns() / groups;
  auto number = [&](int64_t n) -> Attribute { return builder.getI64IntegerAttr(n); };
  TensorType cut = shared.withDims({shared.getDims().front(), number(groups), number(channels)});
  auto viewAs = [&](TensorType type, Value value) -> Value {
    return ViewOp::create(builder, op.getLoc(), type, value);
  };
  SmallVector<Value> inputs{viewAs(cut, values)};
  Space space{cut, accesses(op.getContext(), {AccessKind::Full}),
              accesses(op.getContext(), {AccessKind::Full})};
  if (weight) { // [groups, channels of a group], of every image
    inputs.push_back(viewAs(gradientType(weight).withDims(cut.getDims().drop_front()), weight));
    space.reads.push_back(readBehind(cut, tensor(inputs.back())));
  }
  SmallVector<Attribute> counted(x.getRowDims().drop_front());
  counted.push_back(number(channels));
  auto map = makeMap(builder, op.getLoc(), label, space, inputs, cut,
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value term = weight ? s.mul(e[0], e[1]) : e[0];
                       return {finish(s, s.rowSum(term), s.count(e[0].getType(), counted))};
                     });
  return viewAs(shared, map.getOutputs()[0]);
}

SmallVector<Value> GroupNormOp::lower(OpBuilder &builder) { // D83
  TensorType x = tensor(getX()), shared = sharedTypeOf(x);
  AccessAttr full = AccessAttr::get(getContext(), AccessKind::Full),
             ofImage = readShared(x, shared);
  double epsilon = getEpsilon().convertToDouble();
  Value sums = sumPlaces(builder, getLoc(), "group_sum", {full}, getX(), shared);
  Value mean = finishGroups(*this, builder, "group_mean", sums,
                            [](Scalars &s, Value sum, Value n) { return s.div(sum, n); });
  Value squares = sumPlaces(builder, getLoc(), "group_squares", {full, ofImage}, {getX(), mean},
                            shared, [](Scalars &s, ValueRange e) -> SmallVector<Value> {
                              Value d = s.sub(e[0], e[1]);
                              return {s.mul(d, d)};
                            });
  Value rstd =
      finishGroups(*this, builder, "group_rstd", squares, [&](Scalars &s, Value sum, Value n) {
        return s.div(s.like(sum, 1), s.sqrt(s.add(s.div(sum, n), s.like(sum, epsilon))));
      });
  Encoding normalized = internalEncoding(*this, "normalized");
  Space space{x, getOperandAccesses(), accesses(getContext(), {AccessKind::Full})};
  space.reads.append({ofImage, ofImage});
  auto map =
      makeMap(builder, getLoc(), "group_norm", space, {getX(), getWeight(), getBias(), mean, rstd},
              tensor(getResult()), [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                Value h = s.round(s.mul(s.sub(e[0], e[3]), e[4]), normalized);
                return {s.fma(h, e[1], e[2])};
              });
  return {map.getOutputs()[0], mean, rstd};
}

SmallVector<Value> GroupNormOp::buildGradients(OpBuilder &builder,
                                               ValueRange resultGradients) { // D84
  Value g = resultGradients[0];
  TensorType x = tensor(getX()), shared = sharedTypeOf(x);
  AccessAttr full = AccessAttr::get(getContext(), AccessKind::Full),
             ofImage = readShared(x, shared),
             ofColumn = AccessAttr::get(getContext(), AccessKind::Column);
  Encoding normalized = internalEncoding(*this, "normalized");
  auto normalize = [&](Scalars &s, ValueRange e) {
    return s.round(s.mul(s.sub(e[0], e[1]), e[2]), normalized);
  };
  auto addTerms = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    return {s.mul(e[3], normalize(s, e)), e[3]};
  };
  SmallVector<Value> read{getX(), getMean(), getRstd(), g};
  SmallVector<AccessAttr> reads{full, ofImage, ofImage, full};
  auto sums =
      makeReduce(builder, getLoc(), "group_norm_sums", reads, read, {shared, shared}, addTerms);
  auto mean = [](Scalars &s, Value sum, Value n) { return s.div(sum, n); };
  Value b =
      finishGroups(*this, builder, "group_norm_means", sums.getOutputs()[0], mean, getWeight());
  Value a =
      finishGroups(*this, builder, "group_norm_means", sums.getOutputs()[1], mean, getWeight());
  SmallVector<Value> ofElement(read);
  ofElement.append({getWeight(), a, b});
  Space space{x, reads, accesses(getContext(), {AccessKind::Full})};
  space.reads.append({ofColumn, ofImage, ofImage});
  auto ofX = makeMap(builder, getLoc(), "group_norm_grad", space, ofElement, gradientType(getX()),
                     [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                       Value h = normalize(s, e), q = s.mul(e[3], e[4]);
                       return {s.mul(e[2], s.sub(s.sub(q, e[5]), s.mul(h, e[6])))};
                     });
  // Once more for the parameters, whose pass may read x and g otherwise.
  auto ofWeights = makeReduce(builder, getLoc(), "group_norm_weight_grad", reads, read,
                              {gradientType(getWeight()), gradientType(getBias())}, addTerms);
  ofWeights.setPass(ContractionPass::WeightGradient);
  return {ofX.getOutputs()[0], ofWeights.getOutputs()[0], ofWeights.getOutputs()[1]};
}

} // namespace halftone::ir
