// SPDX-License-Identifier: Apache-2.0
// Scales of earlier steps: P72 to P74.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "halftone/reference/evaluator.hpp"

namespace halftone::reference {

/// P72: what tells scales apart, for a rounding point of that name.
inline std::string delayed_name(const RoundTo& to, const std::string& point) {
  std::string name = point;
  for (const int number :
       {static_cast<int>(to.format), static_cast<int>(to.rounding),
        static_cast<int>(to.scaling.history), static_cast<int>(to.scaling.margin)})
    name += " " + std::to_string(number);
  if (has_f32_scales(to)) name += " f32";
  return name;
}

/// P74: in the place of a delayed format that of the tensor as it is.
inline RoundTo without_delay(RoundTo to) {
  if (to.scaling.kind != encoding::Scaling::Kind::delayed) return to;
  to.scaling.kind = encoding::Scaling::Kind::tensor;
  to.scaling.history = to.scaling.margin = 0;
  return to;
}

/// The larger magnitude; NaN where one is.
[[nodiscard]] float larger(float a, float b);

/// P72, P73: the scale that earlier steps left at the point; the values' largest magnitude joins
/// those of the pass.
inline float scale_at(const RoundTo& to, const std::vector<float>& values,
                      const Forward<float>& forward, const std::string& point) {
  const std::string name = delayed_name(to, point);
  const auto known = forward.delayed.find(name);
  Amax amax{to};
  for (const float x : values) amax.largest = larger(amax.largest, std::fabs(x));
  if (forward.amaxes) {
    Amax& of_pass = forward.amaxes->try_emplace(name, amax).first->second;
    of_pass.largest = larger(of_pass.largest, amax.largest);
  }
  return known == forward.delayed.end() ? 1 : known->second.scale;
}

/// P72: the values rounded under that scale. `rounded` rounds them to the element once they are
/// divided by the scale.
template <class Round>
std::vector<float> rounded_under_delayed(const RoundTo& to, std::vector<float> values,
                                         const Forward<float>& forward, const std::string& point,
                                         Round rounded) {
  const float scale = scale_at(to, values, forward, point);
  std::vector<bool> is_finite;
  for (float& x : values) {
    is_finite.push_back(std::isfinite(x));
    x = is_finite.back() ? x * (1 / scale) : std::numeric_limits<float>::quiet_NaN();
  }
  values = rounded(std::move(values));
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = is_finite[e]
                    ? values[e] * scale
                    : round({description::Element::bf16}, std::numeric_limits<float>::quiet_NaN());
  }
  return values;
}

/// Exact evaluation knows no formats.
template <class Round>
std::vector<double> rounded_under_delayed(const RoundTo&, std::vector<double> values,
                                          const Forward<double>&, const std::string&, Round) {
  return values;
}

template <class Round>
std::vector<Bounded> rounded_under_delayed(const RoundTo&, std::vector<Bounded>,
                                           const Forward<Bounded>&, const std::string& point,
                                           Round) {
  throw std::domain_error("what point \"" + point +
                          "\" rounds is scaled by earlier steps, so that nothing bounds its "
                          "error; scale it as a tensor");
}

}  // namespace halftone::reference
