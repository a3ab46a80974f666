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

enum class ScaleSetting : unsigned char {
  initial,
  growth,
  backoff,
  interval,
  floor_at,
  ceiling_at,
  hysteresis,
  patience,
};
inline constexpr const char* kScaleSettingWords[] = {
    "initial", "growth", "backoff", "interval", "floor_at", "ceiling_at", "hysteresis", "patience"};

/// The settings of a loss scale, each once.
struct ScaleSettings {
  FieldOfRule field = scale(description::LossScale::Kind::dynamic);
  description::LossScale& is = field.fields.loss_scale;
  unsigned given = 0;  // bit i: ScaleSetting i

  template <class Number, class Value>
  constexpr void put(ScaleSetting setting, Number& to, Value value) {
    const unsigned index = static_cast<unsigned>(setting);
    if ((given >> index & 1) != 0 && field.defect == RuleDefect::none) {
      field.defect = RuleDefect::setting_twice;
      field.word = kScaleSettingWords[index];
    }
    given |= 1u << index;
    to = value;
  }

  constexpr void set(const auto&) { field.defect = RuleDefect::not_a_setting; }
  constexpr void set(Initial to) { put(ScaleSetting::initial, is.initial, to.value); }
  constexpr void set(Growth to) { put(ScaleSetting::growth, is.growth, to.value); }
  constexpr void set(Backoff to) { put(ScaleSetting::backoff, is.backoff, to.value); }
  constexpr void set(Interval to) { put(ScaleSetting::interval, is.interval, to.value); }
  constexpr void set(FloorAt to) { put(ScaleSetting::floor_at, is.floor, to.value); }
  constexpr void set(CeilingAt to) { put(ScaleSetting::ceiling_at, is.ceiling, to.value); }
  constexpr void set(Hysteresis to) { put(ScaleSetting::hysteresis, is.hysteresis, to.value); }
  constexpr void set(Patience to) { put(ScaleSetting::patience, is.patience, to.value); }
};
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
/// (L3). Settings in any order, each at most once: initial, growth, backoff, interval, floor_at,
/// ceiling_at, hysteresis, patience.
template <class... Settings>
constexpr FieldOfRule dynamic_loss_scale(const Settings&... settings) {
  stating::ScaleSettings all;
  (all.set(settings), ...);
  return all.field;
}

}  // namespace halftone::dsl
