// SPDX-License-Identifier: Apache-2.0
#include "codegen/ir/Forms.h"

using namespace mlir;

namespace halftone::ir {

namespace {

/// A factor or the gradient of a product, as it lies in memory: transposed or not.
struct Factor {
  Value value;
  bool isTransposed = false;

  Factor turned() const { return {value, !isTransposed}; }
};

/// The last two dimensions, as the product means them.
std::pair<Attribute, Attribute> matrixOf(Factor factor) {
  ArrayRef<Attribute> dims = tensor(factor.value).getDims().take_back(2);
  return factor.isTransposed ? std::pair(dims[1], dims[0]) : std::pair(dims[0], dims[1]);
}

Value multiply(MatmulOp op, OpBuilder &builder, TensorType type, Factor lhs, Factor rhs,
               ContractionPass pass, StringAttr label = {}) {
  return ContractOp::create(builder, op.getLoc(), type, lhs.value, rhs.value, Value(),
                            lhs.isTransposed, rhs.isTransposed, pass, label, type.getRank() - 2);
}

} // namespace

LogicalResult MatmulOp::verify() {
  TensorType a = tensor(getA()), b = tensor(getB()), result = getType();
  for (TensorType type : {a, b, result})
    if (type.getRank() < 2 || type.getDims().drop_back(2) != a.getDims().drop_back(2))
      return emitOpError() << a << " by " << b << " to " << result
                           << " are not matrices of one batch";
  auto [m, k] = matrixOf({getA(), getTransposeA()});
  auto [k2, n] = matrixOf({getB(), getTransposeB()});
  if (k != k2)
    return emitOpError() << "sums over " << formatDims(k) << " of a but " << formatDims(k2)
                         << " of b";
  if (matrixOf({getResult()}) != std::pair(m, n))
    return emitOpError() << "result " << result << " is not " << formatDims({m, n});
  return success();
}

SmallVector<AccessAttr> MatmulOp::getOperandAccesses() {
  return accesses(getContext(), {AccessKind::Lhs, AccessKind::Rhs});
}

SmallVector<Value> MatmulOp::lower(OpBuilder &builder) { // D38
  return {multiply(*this, builder, getType(), {getA(), getTransposeA()}, {getB(), getTransposeB()},
                   ContractionPass::Forward, builder.getStringAttr("matmul"))};
}

/// D57: g * transposed(b) and transposed(a) * g. That of a factor that is given transposed is
/// transposed, too, so its own factors change places.
SmallVector<Value> MatmulOp::buildGradients(OpBuilder &builder, ValueRange resultGradients) {
  Factor a{getA(), getTransposeA()}, b{getB(), getTransposeB()}, g{resultGradients[0]};
  auto gradient = [&](const Factor &of, const Factor &lhs, const Factor &rhs) {
    bool isWeight = of.value.getDefiningOp<ParameterOp>() != nullptr;
    return multiply(*this, builder, gradientType(of.value), of.isTransposed ? rhs.turned() : lhs,
                    of.isTransposed ? lhs.turned() : rhs,
                    isWeight ? ContractionPass::WeightGradient : ContractionPass::InputGradient);
  };
  return {gradient(a, g, b.turned()), gradient(b, a.turned(), g)};
}

/// Each factor is read for the gradient of the other.
SmallVector<Value> MatmulOp::readForGradient(unsigned operand) {
  return {operand == 0 ? getB() : getA()};
}

} // namespace halftone::ir
