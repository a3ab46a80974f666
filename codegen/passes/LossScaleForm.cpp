// SPDX-License-Identifier: Apache-2.0
// L3 and L4 as scalar operations. Counts are f32: they stay below 2^24 (P43).
#include "codegen/passes/LossScaleForm.h"

using namespace mlir;

namespace halftone::ir {

SmallVector<Value> LossScaleForm::carried(GraphOp graph, OpBuilder &builder, Location loc) const {
  if (!settings)
    return {};
  SmallVector<Value> scalars;
  for (auto state : graph.getBody().front().getOps<StateOp>())
    if (state.getOptimizer() && state.getName() == "loss_scale")
      scalars.push_back(state);
  if (!isDynamic())
    return scalars;
  auto add = [&](StringRef name, double initial) {
    scalars.push_back(StateOp::create(builder, loc, scalars.front().getType(),
                                      builder.getStringAttr(name), builder.getF64FloatAttr(initial),
                                      builder.getUnitAttr()));
  };
  add("loss_scale.clean", 0);
  add("loss_scale.wait", number("hysteresis"));
  add("loss_scale.floored", 0);
  return scalars;
}

SmallVector<Value> LossScaleForm::next(Scalars &s, ValueRange carried, Value finite) const {
  if (!isDynamic())
    return {};
  Value scale = carried[0], zero = s.like(scale, 0), one = s.like(scale, 1);
  Value floor = s.like(scale, number("floor")), ceiling = s.like(scale, number("ceiling"));

  Value waited = s.sub(carried[2], one);
  Value smaller = s.mul(scale, s.like(scale, number("backoff")));
  Value lowered = s.select(s.greater(smaller, floor), smaller, floor);
  Value afterSkip = s.select(s.greater(waited, zero), scale, lowered);
  Value flooredOnce = s.add(carried[3], one);
  Value floored = s.select(s.greater(scale, floor), zero, flooredOnce);

  Value counted = s.add(carried[1], one);
  Value grows = s.compare(arith::CmpFPredicate::OGE, counted, s.like(scale, number("interval")));
  Value larger = s.mul(scale, s.like(scale, number("growth")));
  Value raised = s.select(s.less(larger, ceiling), larger, ceiling);

  return {s.select(finite, s.select(grows, raised, scale), afterSkip),
          s.select(finite, s.select(grows, zero, counted), zero),
          s.select(finite, s.like(scale, number("hysteresis")), waited),
          s.select(finite, zero, floored)};
}

} // namespace halftone::ir
