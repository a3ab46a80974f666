// SPDX-License-Identifier: Apache-2.0
// Canonicalization reads through an exact widening and leaves a rounding from one narrow format to
// another. Emitters round from f32 alone.
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_ROUNDFROMF32
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

struct RoundFromF32Pass : halftone::ir::impl::RoundFromF32Base<RoundFromF32Pass> {
  void runOnOperation() override {
    getOperation().walk([](arith::TruncFOp op) {
      if (op.getIn().getType().isF32())
        return;
      OpBuilder builder(op);
      op.getInMutable().assign(
          arith::ExtFOp::create(builder, op.getLoc(), builder.getF32Type(), op.getIn()));
    });
  }
};

} // namespace
} // namespace halftone::ir
