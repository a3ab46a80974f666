// SPDX-License-Identifier: Apache-2.0
// Every function of math becomes its recipe; IEEE operations stay.
#include "codegen/passes/Draws.h"
#include "codegen/passes/Passes.h"
#include "codegen/passes/Recipes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace halftone::ir {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

Value expand(Recipe &recipe, RecipeOp op) {
  Value x = op.getX();
  bool narrow = op.getNarrow();
  switch (op.getFunction()) {
  case Function::Exp:
    return narrow ? recipe.narrowExp(x) : recipe.exp(x);
  case Function::Tanh:
    return narrow ? recipe.narrowTanh(x) : recipe.tanh(x);
  case Function::Sigmoid:
    return narrow ? recipe.narrowSigmoid(x) : recipe.sigmoid(x);
  case Function::GeluErf:
    return narrow ? recipe.narrowGeluErf(x) : recipe.geluErf(x);
  case Function::GeluErfDerivative:
    return narrow ? recipe.narrowGeluErfDerivative(x) : recipe.geluErfDerivative(x);
  case Function::GeluTanh:
    return narrow ? recipe.narrowGeluTanh(x) : recipe.geluTanh(x);
  case Function::GeluTanhDerivative:
    return narrow ? recipe.narrowGeluTanhDerivative(x) : recipe.geluTanhDerivative(x);
  case Function::Silu:
    return narrow ? recipe.narrowSilu(x) : recipe.silu(x);
  case Function::SiluDerivative:
    return narrow ? recipe.narrowSiluDerivative(x) : recipe.siluDerivative(x);
  }
  llvm_unreachable("a function without a recipe");
}

/// The value that replaces `op`, or null where the operation is IEEE's own and stays.
Value expand(Operation *op) {
  OpBuilder builder(op);
  Recipe recipe(builder, op->getLoc());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp o) {
        Value x = o.getOperand();
        return isExpBelowMaximum(o) ? recipe.expOfNonpositive(x) : recipe.exp(x);
      })
      .Case([&](math::ExpM1Op o) { return recipe.expm1(o.getOperand()); })
      .Case([&](math::Log1pOp o) { return recipe.log1p(o.getOperand()); })
      .Case([&](math::SinOp o) { return recipe.sin(o.getOperand()); })
      .Case([&](math::CosOp o) { return recipe.cos(o.getOperand()); })
      .Case([&](math::PowFOp o) { return recipe.pow(o.getLhs(), o.getRhs()); })
      .Case([&](math::LogOp o) { return recipe.log(o.getOperand()); })
      .Case([&](math::TanhOp o) { return recipe.tanh(o.getOperand()); })
      .Case([&](math::ErfOp o) { return recipe.erf(o.getOperand()); })
      .Case([&](math::RsqrtOp o) { return recipe.rsqrt(o.getOperand()); })
      .Case([&](SigmoidOp o) { return recipe.sigmoid(o.getX()); })
      .Case([&](RecipeOp o) { return expand(recipe, o); })
      .Case([&](DrawOp o) { return expandDraw(builder, o); })
      .Case([&](arith::MinimumFOp o) { return recipe.minimum(o.getLhs(), o.getRhs()); })
      .Case([&](arith::MaximumFOp o) { return recipe.maximum(o.getLhs(), o.getRhs()); })
      .Default([](Operation *) { return Value(); });
}

struct ExpandMathPass : halftone::ir::impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](KernelOp kernel) {
      SmallVector<Operation *> ops;
      kernel.walk([&](Operation *op) {
        if (op != kernel)
          ops.push_back(op);
      });
      for (Operation *op : ops)
        if (failed(replace(op)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult replace(Operation *op) {
    bool isMath = op->getDialect() && op->getDialect()->getNamespace() == "math";
    if (isMath && isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::FloorOp>(op))
      return success();
    if (op->getNumResults() == 1 && isa<FloatType>(op->getResult(0).getType()) &&
        !op->getResult(0).getType().isF32() && (isMath || isa<SigmoidOp, RecipeOp>(op)))
      return op->emitError() << op->getName() << " in " << op->getResult(0).getType()
                             << " has no recipe: compute it in f32";
    if (Value replacement = expand(op)) {
      op->getResult(0).replaceAllUsesWith(replacement);
      op->erase();
      return success();
    }
    return isMath ? op->emitError() << op->getName() << " has no recipe in docs/spec/math.md"
                  : LogicalResult(success());
  }
};

} // namespace
} // namespace halftone::ir
