// SPDX-License-Identifier: Apache-2.0
// Factors of the learning rate for schedule(): functions of the number of updates so far, 0 at the
// first, to be multiplied and chosen among. `steps` are updates, and behind their end a factor
// stays what it was there.
#pragma once

#include "halftone/expression.hpp"

namespace halftone::dsl {
namespace scheduling {

/// log(x) of x > 0: log(2) for each power of two, and 2 * atanh((x - 1) / (x + 1)) by its series.
constexpr double log(double x) {
  double whole = 0;
  for (; x > 1.5; x /= 2) whole += 1;
  for (; x < 0.75; x *= 2) whole -= 1;
  const double t = (x - 1) / (x + 1);
  double sum = 0, power = t;
  for (int n = 1; n < 40; n += 2, power *= t * t) sum += power / n;
  return whole * 0.69314718055994530942 + 2 * sum;
}

/// factor ^ x.
constexpr Scalar power(double factor, const Scalar& x) { return exp(x * log(factor)); }

/// How much of `steps` is over, 0 to 1.
constexpr Scalar share(const Scalar& step, double steps) { return minimum(step / steps, 1.0); }

/// (1 + cos(pi * u)) / 2 for u in [0, 1], within 1e-7: 1/2 - sin(pi * v) / 2 with v = u - 1/2,
/// where the sine is v times a polynomial of v^2, minimax in its relative error, 6e-9.
constexpr Scalar half_cosine(const Scalar& u) {
  constexpr double kSine[] = {3.1415926368953833, -5.1677096847985426, 2.5500697263283327,
                              -0.59824212638129703, 0.077560386922960411};
  const Scalar v = u - 0.5, z = v * v;
  Scalar sine = kSine[4];
  for (int i = 3; i >= 0; --i) sine = sine * z + kSine[i];
  return 0.5 - 0.5 * (v * sine);
}

/// From `from` to `to` as a half of a cosine's wave.
constexpr Scalar wave(const Scalar& u, double from, double to) {
  return to + (from - to) * half_cosine(u);
}

}  // namespace scheduling

/// 1/steps at the first update, then rising by as much to 1, so that no update is lost to a rate of
/// 0: fairseq's warm-up, one update on.
constexpr Scalar linear_warmup(const Scalar& step, double steps) {
  return scheduling::share(step + 1.0, steps);
}

/// torch's LinearLR(start_factor=from, end_factor=to, total_iters=steps).
constexpr Scalar linear_ramp(const Scalar& step, double steps, double from = 1, double to = 0) {
  return from + (to - from) * scheduling::share(step, steps);
}

/// From 1 to `to` as a half of a cosine's wave: torch's CosineAnnealingLR(T_max=steps, eta_min=to *
/// lr), which would rise again after it.
constexpr Scalar cosine(const Scalar& step, double steps, double to = 0) {
  return scheduling::wave(scheduling::share(step, steps), 1, to);
}

/// `factor` after every `steps` updates once more: torch's StepLR(step_size=steps, gamma=factor).
/// factor > 0.
constexpr Scalar step_decay(const Scalar& step, double steps, double factor) {
  return scheduling::power(factor, floor(step / steps));
}

/// `factor` once more with every update: torch's ExponentialLR(gamma=factor). factor > 0.
constexpr Scalar exponential(const Scalar& step, double factor) {
  return scheduling::power(factor, step);
}

/// `factor` once more from each of these updates on: torch's MultiStepLR(milestones, gamma=factor).
template <class... Milestones>
constexpr Scalar multi_step(const Scalar& step, double factor, Milestones... milestones) {
  const double at[] = {static_cast<double>(milestones)...};
  double reached[sizeof...(milestones) + 1] = {1};
  for (unsigned i = 0; i < sizeof...(milestones); ++i) reached[i + 1] = reached[i] * factor;
  Scalar result = reached[sizeof...(milestones)];
  for (unsigned i = sizeof...(milestones); i-- > 0;)
    result = select(step < at[i], reached[i], result);
  return result;
}

/// (1 - step / steps) ^ power, and 0 from `steps` on: torch's PolynomialLR(total_iters=steps).
/// power > 0.
constexpr Scalar polynomial(const Scalar& step, double steps, double power) {
  return exp(power * log(1.0 - scheduling::share(step, steps)));
}

/// Rises to 1 over `steps` updates as linear_warmup does, then falls with the root of their number
/// (Vaswani et al. 2017, 5.3).
constexpr Scalar inverse_sqrt(const Scalar& step, double steps) {
  const Scalar passed = (step + 1.0) / steps;
  return minimum(passed, rsqrt(passed));
}

/// torch's OneCycleLR(max_lr=lr, total_steps=steps, pct_start=warm, div_factor=divisor,
/// final_div_factor=final_divisor), by cosines: from 1/divisor to 1, then to 1/(divisor *
/// final_divisor). Momenta stay as they are.
constexpr Scalar one_cycle(const Scalar& step, double steps, double warm = 0.3, double divisor = 25,
                           double final_divisor = 1e4) {
  const double top = warm * steps - 1, last = steps - 1;
  const Scalar fall = scheduling::wave(maximum(minimum((step - top) / (last - top), 1.0), 0.0), 1,
                                       1 / divisor / final_divisor);
  if (!(top > 0)) return fall;  // so short a rise has no step of its own
  const Scalar rise = scheduling::wave(scheduling::share(step, top), 1 / divisor, 1);
  return select(step <= top, rise, fall);
}

}  // namespace halftone::dsl
