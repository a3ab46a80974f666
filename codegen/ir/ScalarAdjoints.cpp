// SPDX-License-Identifier: Apache-2.0
// Reverse accumulation over a scalar region: the table D47, one line per operation.
#include "codegen/ir/Scalars.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace halftone::ir {

namespace {

class Adjoints {
public:
  Adjoints(OpBuilder &builder, Location loc) : s(builder, loc) {}

  /// The first contribution is taken as it is, later ones are added to what is there.
  void contribute(Value primal, Value adjoint) {
    if (!isa<FloatType>(primal.getType()))
      return;
    Value &slot = slots[primal];
    slot = slot ? s.add(slot, adjoint) : adjoint;
  }
  Value lookup(Value primal) const { return slots.lookup(primal); }

  /// `op` in terms of the original region; a, b, r are the values that its operands and result have
  /// here.
  bool visit(Operation *op, ArrayRef<Value> operands, Value r, Value v);

private:
  /// What minimum and maximum give to an operand that was not passed over: half to each of two
  /// equal ones.
  Value shareOfEqual(Value a, Value b, Value v) {
    return s.select(s.equal(a, b), s.mul(s.like(v, 0.5), v), v);
  }

  Scalars s;
  llvm::DenseMap<Value, Value> slots;
};

bool Adjoints::visit(Operation *op, ArrayRef<Value> operands, Value r, Value v) {
  Value a = !operands.empty() ? operands[0] : Value(),
        b = operands.size() > 1 ? operands[1] : Value();
  auto toA = [&](Value adjoint) { contribute(op->getOperand(0), adjoint); };
  auto toB = [&](Value adjoint) { contribute(op->getOperand(1), adjoint); };
  Value zero = s.like(v, 0);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::ConstantOp, CountOp>([](auto) { return true; })
      .Case([&](arith::AddFOp) { return toA(v), toB(v), true; })
      .Case([&](arith::SubFOp) { return toA(v), toB(s.neg(v)), true; })
      .Case([&](arith::MulFOp) { return toA(s.mul(v, b)), toB(s.mul(v, a)), true; })
      .Case(
          [&](arith::DivFOp) { return toA(s.div(v, b)), toB(s.neg(s.div(s.mul(v, r), b))), true; })
      .Case([&](arith::NegFOp) { return toA(s.neg(v)), true; })
      .Case([&](arith::MinimumFOp) {
        Value share = shareOfEqual(a, b, v);
        toA(s.select(s.greater(a, b), zero, share));
        return toB(s.select(s.less(a, b), zero, share)), true;
      })
      .Case([&](arith::MaximumFOp) {
        Value share = shareOfEqual(a, b, v);
        toA(s.select(s.less(a, b), zero, share));
        return toB(s.select(s.greater(a, b), zero, share)), true;
      })
      .Case([&](math::AbsFOp) {
        Value ofNegative = s.select(s.less(a, zero), s.neg(v), zero);
        return toA(s.select(s.greater(a, zero), v, ofNegative)), true;
      })
      .Case([&](math::FloorOp) { return toA(zero), true; })
      .Case([&](math::ExpOp) { return toA(s.mul(v, r)), true; })
      .Case([&](math::PowFOp) {
        Value power = s.pow(a, s.sub(b, s.like(v, 1)));
        toA(s.select(s.equal(b, zero), zero, s.mul(v, s.mul(b, power))));
        Value flat = s.both(s.equal(a, zero), s.lessOrEqual(zero, b));
        return toB(s.select(flat, zero, s.mul(v, s.mul(r, s.log(a))))), true;
      })
      .Case([&](math::ExpM1Op) { return toA(s.mul(v, s.add(r, s.like(v, 1)))), true; })
      .Case([&](math::LogOp) { return toA(s.div(v, a)), true; })
      .Case([&](math::Log1pOp) { return toA(s.div(v, s.add(s.like(v, 1), a))), true; })
      .Case([&](math::SqrtOp) { return toA(s.div(s.mul(s.like(v, 0.5), v), r)), true; })
      .Case([&](math::RsqrtOp) { return toA(s.mul(s.mul(s.like(v, -0.5), v), s.div(r, a))), true; })
      .Case([&](math::SinOp) { return toA(s.mul(v, s.cos(a))), true; })
      .Case([&](math::CosOp) { return toA(s.neg(s.mul(v, s.sin(a)))), true; })
      .Case([&](math::TanhOp) { return toA(s.mul(v, s.sub(s.like(v, 1), s.mul(r, r)))), true; })
      .Case([&](math::ErfOp) {
        return toA(s.mul(v, s.mul(s.exp(s.neg(s.mul(a, a))), s.like(v, 2 / std::sqrt(M_PI))))),
               true;
      })
      .Case([&](SigmoidOp) { return toA(s.mul(v, s.mul(r, s.sub(s.like(v, 1), r)))), true; })
      .Case([&](arith::SelectOp) {
        contribute(op->getOperand(1), s.select(a, v, zero));
        contribute(op->getOperand(2), s.select(a, zero, v));
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace

FailureOr<SmallVector<Value>> buildScalarAdjoints(OpBuilder &builder, Block &block,
                                                  ValueRange arguments, ValueRange yieldAdjoints) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  Adjoints adjoints(builder, block.getParentOp()->getLoc());
  for (auto [value, adjoint] : llvm::zip(block.getTerminator()->getOperands(), yieldAdjoints))
    adjoints.contribute(value, adjoint);
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    Value v = adjoints.lookup(op.getResult(0));
    if (!v)
      continue;
    auto operands =
        llvm::map_to_vector(op.getOperands(), [&](Value o) { return mapping.lookupOrDefault(o); });
    if (!adjoints.visit(&op, operands, mapping.lookup(op.getResult(0)), v))
      return op.emitError() << op.getName() << " has no derivative, but a gradient reaches it";
  }
  return llvm::map_to_vector(block.getArguments(),
                             [&](BlockArgument a) { return adjoints.lookup(a); });
}

} // namespace halftone::ir
