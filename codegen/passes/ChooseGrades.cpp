// SPDX-License-Identifier: Apache-2.0
// Functions whose result is rounded to 16 bits or fewer at once are computed by their narrow
// recipes: N10 of docs/spec/description.md. Decided per operation, from its own rounding points,
// before anything is fused.
#include "codegen/ir/Dialect.h"
#include "codegen/ir/Encodings.h"
#include "codegen/passes/Passes.h"

namespace halftone::ir {
#define GEN_PASS_DEF_CHOOSEGRADES
#include "codegen/passes/Passes.h.inc"
} // namespace halftone::ir

using namespace mlir;

namespace halftone::ir {
namespace {

/// Whether the first rounding of the result goes to codes shorter than f32's, to the nearest.
bool isNarrow(Operation *op, unsigned result) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
  if (!precision)
    return false;
  for (auto point : cast<ArrayAttr>(precision.getResults()[result]).getAsRange<RoundingPointAttr>())
    if (const Encoding &to = point.getEncoding(); to.element != Element::f32)
      return isShort(typeOf(op->getContext(), to.element)) &&
             to.rounding == encoding::Rounding::nearest_even;
  return false;
}

struct ChooseGradesPass : halftone::ir::impl::ChooseGradesBase<ChooseGradesPass> {
  void runOnOperation() override {
    getOperation().walk([](Graded op) {
      if (isNarrow(op, 0))
        op.takeNarrowRecipes();
    });
  }
};

} // namespace
} // namespace halftone::ir
