// SPDX-License-Identifier: Apache-2.0
// The scale is f32, and so are its products.
#include "scaling.hpp"

#include <algorithm>

namespace halftone::reference {

using description::LossScale;

Scaling initial_scaling(const LossScale& rule) {
  Scaling scaling;
  if (rule.kind != LossScale::Kind::none) scaling.scale = static_cast<float>(rule.initial);
  if (rule.kind == LossScale::Kind::dynamic) scaling.wait = rule.hysteresis;
  return scaling;
}

Scaling next_scaling(const LossScale& rule, Scaling scaling, bool finite) {
  if (rule.kind != LossScale::Kind::dynamic) return scaling;
  const float floor = static_cast<float>(rule.floor), ceiling = static_cast<float>(rule.ceiling);
  if (finite) {
    scaling.wait = rule.hysteresis;
    scaling.floored = 0;
    ++scaling.clean;
    if (scaling.clean == rule.interval) {
      scaling.scale = std::min(ceiling, scaling.scale * static_cast<float>(rule.growth));
      scaling.clean = 0;
    }
    return scaling;
  }
  scaling.floored = scaling.scale <= floor ? scaling.floored + 1 : 0;
  scaling.clean = 0;
  --scaling.wait;
  if (scaling.wait <= 0) {
    scaling.scale = std::max(floor, scaling.scale * static_cast<float>(rule.backoff));
  }
  return scaling;
}

bool is_exhausted(const LossScale& rule, const Scaling& scaling) {
  return rule.kind == LossScale::Kind::dynamic && scaling.floored >= rule.patience;
}

}  // namespace halftone::reference
