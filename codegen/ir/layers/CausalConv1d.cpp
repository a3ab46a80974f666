// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Accesses.h"
#include "codegen/ir/Forms.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace halftone::ir {

LogicalResult CausalConv1dOp::verify() {
  TensorType x = tensor(getX()), weight = tensor(getWeight());
  if (x.getRank() < 2 || !getType().hasSameDims(x))
    return emitOpError() << "x " << x << " must have times before its channels, and result "
                         << getType() << " its shape";
  if (weight.getRank() != 2 || weight.getDims().front() != x.getDims().back())
    return emitOpError() << "weight " << weight << " does not have a row of taps per channel of x "
                         << x;
  if (getBias() && tensor(getBias()).getDims() != x.getDims().take_back())
    return emitOpError() << "bias " << tensor(getBias())
                         << " does not have one value per channel of x " << x;
  return success();
}

SmallVector<AccessAttr> CausalConv1dOp::getOperandAccesses() {
  auto list =
      accesses(getContext(), {AccessKind::General, AccessKind::General, AccessKind::Column});
  list.resize(getNumOperands());
  return list;
}

namespace {

/// Of an operand of the domain's shape the same channel, `later` times after the element's own.
AccessAttr readShifted(TensorType domain, int64_t later) {
  SmallVector<AffineExpr> at = axesOf(domain);
  at[at.size() - 2] = at[at.size() - 2] + later;
  return readAt(at, domain, domain);
}

/// The taps of one channel become a column, so that those of neighbours lie side by side.
Value transposeTaps(OpBuilder &builder, Location loc, Value weight) {
  MLIRContext *context = builder.getContext();
  TensorType type = gradientType(weight);
  TensorType taps = type.withDims({type.getDims()[1], type.getDims()[0]});
  AffineExpr tap, channel;
  bindDims(context, tap, channel);
  Space space{taps, {readAt({channel, tap}, taps, type)}, accesses(context, {AccessKind::Full})};
  return makeMap(builder, loc, "taps", space, weight, taps,
                 [](Scalars &, ValueRange e) { return SmallVector<Value>{e[0]}; })
      .getOutputs()[0];
}

/// N1 over the taps p of (weight_cp, x_{t + shift(p), c}), + bias_c.
Value buildChains(OpBuilder &builder, Location loc, StringRef label, Value weight, Value x,
                  Value bias, Type result, llvm::function_ref<int64_t(int64_t)> shift) {
  MLIRContext *context = builder.getContext();
  TensorType domain = tensor(x);
  Value taps = transposeTaps(builder, loc, weight);
  AffineExpr channel = getAffineDimExpr(domain.getRank() - 1, context);
  Space space{domain, {}, accesses(context, {AccessKind::Full})};
  SmallVector<Value> operands;
  int64_t width = *tensor(weight).getColumns();
  for (int64_t p = 0; p < width; ++p) {
    operands.append({taps, x});
    space.reads.push_back(
        readAt({getAffineConstantExpr(p, context), channel}, domain, tensor(taps)));
    space.reads.push_back(readShifted(domain, shift(p)));
  }
  if (bias) {
    operands.push_back(bias);
    space.reads.push_back(AccessAttr::get(context, AccessKind::Column));
  }
  auto code = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value sum = s.like(e[0], 0);
    for (int64_t p = 0; p < width; ++p)
      sum = s.fma(e[2 * p], e[2 * p + 1], sum);
    return {bias ? s.add(sum, e.back()) : sum};
  };
  return makeMap(builder, loc, label, space, operands, result, code).getOutputs()[0];
}

/// N3 over all rows of g_tc * x_{t + shift(p), c}: one pass for all taps p, which are put side by
/// side afterwards.
Value sumProducts(OpBuilder &builder, Location loc, Value weight, Value x, Value g,
                  llvm::function_ref<int64_t(int64_t)> shift) {
  MLIRContext *context = builder.getContext();
  TensorType domain = tensor(g), type = gradientType(weight);
  int64_t width = *type.getColumns();
  SmallVector<Value> operands{g};
  SmallVector<AccessAttr> reads = accesses(context, {AccessKind::Full});
  for (int64_t p = 0; p < width; ++p) {
    operands.push_back(x);
    reads.push_back(readShifted(domain, shift(p)));
  }
  SmallVector<Type> sums(width, type.withDims(type.getRowDims()));
  auto reduce = makeReduce(builder, loc, "causal_conv1d_tap_sums", reads, operands, sums,
                           [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
                             return llvm::map_to_vector(e.drop_front(),
                                                        [&](Value x) { return s.mul(e[0], x); });
                           });
  reduce.setPass(ContractionPass::WeightGradient);
  Space space{type, accesses(context, SmallVector<AccessKind>(width, AccessKind::Row)),
              accesses(context, {AccessKind::Full})};
  auto pick = [&](Scalars &s, ValueRange e) -> SmallVector<Value> {
    Value tap = s.columnIndex(), picked = e.back();
    for (int64_t p = width - 2; p >= 0; --p)
      picked = s.select(s.compare(arith::CmpIPredicate::eq, tap, s.integer(p)), e[p], picked);
    return {picked};
  };
  return makeMap(builder, loc, "causal_conv1d_weight_grad", space, reduce.getOutputs(), type, pick)
      .getOutputs()[0];
}

} // namespace

SmallVector<Value> CausalConv1dOp::lower(OpBuilder &builder) { // D39
  int64_t width = *tensor(getWeight()).getColumns();
  return {buildChains(builder, getLoc(), "causal_conv1d", getWeight(), getX(), getBias(), getType(),
                      [&](int64_t p) { return p - (width - 1); })};
}

SmallVector<Value> CausalConv1dOp::buildGradients(OpBuilder &builder,
                                                  ValueRange resultGradients) { // D58
  Value g = resultGradients[0];
  int64_t width = *tensor(getWeight()).getColumns();
  SmallVector<Value> gradients;
  gradients.push_back(buildChains(builder, getLoc(), "causal_conv1d_grad", getWeight(), g, {},
                                  gradientType(getX()),
                                  [&](int64_t p) { return (width - 1) - p; }));
  gradients.push_back(sumProducts(builder, getLoc(), getWeight(), getX(), g,
                                  [&](int64_t p) { return p - (width - 1); }));
  if (getBias())
    gradients.push_back(makeReduce(builder, getLoc(), "column_sum", {}, g, gradientType(getBias()))
                            .getOutputs()[0]);
  return gradients;
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> CausalConv1dOp::readForGradient(unsigned operand) {
  if (operand == 2)
    return {};
  return {operand == 0 ? getWeight() : getX()};
}

} // namespace halftone::ir
