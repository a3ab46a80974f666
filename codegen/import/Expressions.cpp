// SPDX-License-Identifier: Apache-2.0
// A user's pointwise function, instruction by instruction.
#include "codegen/import/Expressions.h"

#include "codegen/ir/Scalars.h"

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

static Value importInstruction(OpBuilder &builder, Location loc, const hd::ScalarInstruction &i,
                               ValueRange arguments, ArrayRef<Value> results) {
  Scalars s(builder, loc);
  auto a = [&] { return results[i.a]; };
  auto b = [&] { return results[i.b]; };
  switch (i.op) {
  case hd::ScalarOp::operand:
    return arguments[i.a];
  case hd::ScalarOp::constant:
    return s.constant(builder.getF32Type(), i.constant);
  case hd::ScalarOp::add:
    return s.add(a(), b());
  case hd::ScalarOp::subtract:
    return s.sub(a(), b());
  case hd::ScalarOp::multiply:
    return s.mul(a(), b());
  case hd::ScalarOp::divide:
    return s.div(a(), b());
  case hd::ScalarOp::minimum:
    return arith::MinimumFOp::create(builder, loc, a(), b());
  case hd::ScalarOp::maximum:
    return arith::MaximumFOp::create(builder, loc, a(), b());
  case hd::ScalarOp::pow:
    return s.pow(a(), b());
  case hd::ScalarOp::negate:
    return s.neg(a());
  case hd::ScalarOp::absolute:
    return math::AbsFOp::create(builder, loc, a());
  case hd::ScalarOp::floor:
    return math::FloorOp::create(builder, loc, a());
  case hd::ScalarOp::exp:
    return s.exp(a());
  case hd::ScalarOp::expm1:
    return math::ExpM1Op::create(builder, loc, a());
  case hd::ScalarOp::log:
    return s.log(a());
  case hd::ScalarOp::log1p:
    return math::Log1pOp::create(builder, loc, a());
  case hd::ScalarOp::sqrt:
    return s.sqrt(a());
  case hd::ScalarOp::rsqrt:
    return math::RsqrtOp::create(builder, loc, a());
  case hd::ScalarOp::sin:
    return s.sin(a());
  case hd::ScalarOp::cos:
    return s.cos(a());
  case hd::ScalarOp::tanh:
    return s.tanh(a());
  case hd::ScalarOp::erf:
    return s.erf(a());
  case hd::ScalarOp::sigmoid:
    return SigmoidOp::create(builder, loc, a().getType(), a());
  case hd::ScalarOp::less:
    return s.compare(arith::CmpFPredicate::OLT, a(), b());
  case hd::ScalarOp::less_equal:
    return s.compare(arith::CmpFPredicate::OLE, a(), b());
  case hd::ScalarOp::equal:
    return s.compare(arith::CmpFPredicate::OEQ, a(), b());
  case hd::ScalarOp::select:
    return s.select(a(), b(), results[i.c]);
  }
  llvm_unreachable("all scalar operations are listed");
}

void importExpression(OpBuilder &builder, Location loc, const hd::Expression &expression,
                      Region &region) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  for (int32_t i = 0; i < expression.arity; ++i)
    block->addArgument(builder.getF32Type(), loc);
  SmallVector<Value> results;
  for (const hd::ScalarInstruction &instruction : expression.instructions)
    results.push_back(importInstruction(builder, loc, instruction, block->getArguments(), results));
  YieldOp::create(builder, loc, results.back());
}

} // namespace halftone::ir
