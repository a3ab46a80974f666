// SPDX-License-Identifier: Apache-2.0
// U3, U8.
#include "codegen/passes/Schedules.h"

using namespace mlir;

namespace halftone::ir {

namespace {
constexpr double kBase = 0x1p20; // so that counts of f32 stay exact up to 2^44 updates
constexpr double kNoUpdate = 2;  // as a share: more than any
} // namespace

ScheduleForm::ScheduleForm(GraphOp graph) {
  for (auto schedule : graph.getBody().front().getOps<ScheduleOp>())
    op = schedule;
}

SmallVector<OptimizerForm::Scalar> ScheduleForm::carriedScalars() const {
  if (!op)
    return {};
  return {{"schedule.updates_high", 0}, {"schedule.updates_low", 0}};
}

SmallVector<Value> ScheduleForm::nextScalars(Scalars &s, ValueRange carried) const {
  if (!op)
    return {};
  Value one = s.like(carried[0], 1), low = s.add(carried[1], one);
  Value overflows = s.equal(low, s.like(low, kBase));
  return {s.select(overflows, s.add(carried[0], one), carried[0]),
          s.select(overflows, s.like(low, 0), low)};
}

Value ScheduleForm::factor(OpBuilder &builder, Scalars &s, ValueRange carried) {
  Value updates = s.fma(carried[0], s.like(carried[0], kBase), carried[1]);
  return inlineBlock(builder, op.getBody().front(), updates)[0];
}

void ScheduleForm::erase() {
  if (op)
    op.erase();
}

SmallVector<StringRef> AverageForm::moments() const {
  return kept ? SmallVector<StringRef>{"averaged.parameters"} : SmallVector<StringRef>();
}

SmallVector<OptimizerForm::Scalar> AverageForm::carriedScalars() const {
  if (!kept)
    return {};
  return {{"averaged.share", kNoUpdate}};
}

/// The first update's values are taken as they are.
SmallVector<Value> AverageForm::nextScalars(Scalars &s, ValueRange carried) const {
  if (!kept)
    return {};
  Value first = s.equal(carried[0], s.like(carried[0], kNoUpdate));
  return {s.select(first, s.like(carried[0], 1), s.like(carried[0], 1 - kept.getValueAsDouble()))};
}

Value AverageForm::updateElement(Scalars &s, Value share, Value parameter, Value average) const {
  return s.fma(share, s.sub(parameter, average), average);
}

} // namespace halftone::ir
