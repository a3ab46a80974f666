// SPDX-License-Identifier: Apache-2.0
// Loss scales as fields of rules (L1 to L5 of docs/spec/precision.md).
#pragma once

#include "halftone/model.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl {

struct Growth {
  double value;
};
struct Backoff {
  double value;
};
struct Interval {
  long long value;
};
struct FloorAt {
  double value;
};
struct CeilingAt {
  double value;
};
struct Hysteresis {
  long long value;
};
struct Patience {
  long long value;
};
/// Settings of dynamic_loss_scale, beside initial(65536).
constexpr Growth growth(double factor) { return {factor}; }                   ///< 2
constexpr Backoff backoff(double factor) { return {factor}; }                 ///< 0.5
constexpr Interval interval(long long clean_steps) { return {clean_steps}; }  ///< 2000
constexpr FloorAt floor_at(double scale) { return {scale}; }                  ///< 1
constexpr CeilingAt ceiling_at(double scale) { return {scale}; }              ///< 2^127
/// Skipped steps before the scale backs off: 1.
constexpr Hysteresis hysteresis(long long skipped_steps) { return {skipped_steps}; }
/// Consecutive skipped steps at the floor before a step fails: 50.
constexpr Patience patience(long long skipped_steps) { return {skipped_steps}; }

namespace stating {
constexpr FieldOfRule scale(description::LossScale::Kind kind) {
  FieldOfRule field = one(description::rules::Field::loss_scale);
  field.fields.loss_scale.kind = kind;
  return field;
}

constexpr void set(FieldOfRule& field, const auto&) { field.defect = RuleDefect::not_a_setting; }
constexpr void set(FieldOfRule& field, Initial is) { field.fields.loss_scale.initial = is.value; }
constexpr void set(FieldOfRule& field, Growth is) { field.fields.loss_scale.growth = is.value; }
constexpr void set(FieldOfRule& field, Backoff is) { field.fields.loss_scale.backoff = is.value; }
constexpr void set(FieldOfRule& field, Interval is) { field.fields.loss_scale.interval = is.value; }
constexpr void set(FieldOfRule& field, FloorAt is) { field.fields.loss_scale.floor = is.value; }
constexpr void set(FieldOfRule& field, CeilingAt is) { field.fields.loss_scale.ceiling = is.value; }
constexpr void set(FieldOfRule& field, Hysteresis is) {
  field.fields.loss_scale.hysteresis = is.value;
}
constexpr void set(FieldOfRule& field, Patience is) { field.fields.loss_scale.patience = is.value; }
}  // namespace stating

/// Gradients start from the loss's own.
constexpr FieldOfRule no_loss_scale() { return stating::scale(description::LossScale::Kind::none); }

/// Gradients are computed times `scale`, and divided by it in f32 before the update.
constexpr FieldOfRule fixed_loss_scale(double scale) {
  FieldOfRule field = stating::scale(description::LossScale::Kind::fixed);
  field.fields.loss_scale.initial = scale;
  return field;
}

/// A scale that falls after a step that is not finite, which is skipped, and grows after clean ones
/// (L3). Settings in any order: initial, growth, backoff, interval, floor_at, ceiling_at,
/// hysteresis, patience.
template <class... Settings>
constexpr FieldOfRule dynamic_loss_scale(const Settings&... settings) {
  FieldOfRule field = stating::scale(description::LossScale::Kind::dynamic);
  (stating::set(field, settings), ...);
  return field;
}

}  // namespace halftone::dsl
