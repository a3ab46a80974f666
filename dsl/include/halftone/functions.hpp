// SPDX-License-Identifier: Apache-2.0
// Functions of lambdas that are made of others: their values and gradients follow from these
// (docs/spec/description.md, D28 and D47), and are torch's at kinks. Operands that are operations
// have names where there are two of them, since compilers differ in which they compute first.
#pragma once

#include "halftone/expression.hpp"

namespace halftone::dsl {

/// N5: a where it is above b or is NaN, otherwise b; and below.
constexpr Scalar max(const Scalar& a, const Scalar& b) { return maximum(a, b); }
constexpr Scalar min(const Scalar& a, const Scalar& b) { return minimum(a, b); }

/// `x` in [low, high], otherwise the end that it passed; `high` where low is above high. At the
/// ends the gradient is that inside, where minimum and maximum take half of it.
constexpr Scalar clamp(const Scalar& x, const Scalar& low, const Scalar& high) {
  const Scalar raised = select(x < low, low, x);
  return select(high < raised, high, raised);
}

namespace tracing {
/// log(1 + exp(x)) as max(x, 0) and log(1 + exp(-|x|)), of which nothing overflows; by select, so
/// that the gradient of a NaN is one.
struct Softplus {
  Scalar ramp, rest;
};
constexpr Softplus softplus(const Scalar& x) {
  const Condition positive = x > 0.0;
  const Scalar ramp = select(positive, x, 0.0);
  const Scalar down = select(positive, -x, x);
  return {ramp, log1p(exp(down))};
}

/// x^n of a whole n above 0, by squares.
constexpr Scalar power(const Scalar& x, int n) {
  const Scalar half = n > 1 ? power(x, n / 2) : x;
  if (n == 1) return half;
  return n % 2 == 0 ? half * half : half * half * x;
}

constexpr Scalar power_of(const Scalar& x, const Scalar& exponent) {
  const bool known = exponent.tape == nullptr && exponent.id == 0 && x.tape != nullptr;
  const double n = known ? exponent.value : 1e9;
  if (n == 0) return 1;
  if (n == 0.5) return sqrt(x);
  if (n == -0.5) return rsqrt(x);
  if (n >= -8 && n <= 8 && n == static_cast<int>(n)) {
    const int size = static_cast<int>(n < 0 ? -n : n);
    return n < 0 ? 1.0 / power(x, size) : power(x, size);
  }
  return binary(ScalarOp::pow, x, exponent);
}
}  // namespace tracing

/// x^exponent, with IEEE 754's special cases: 1 where the exponent is 0, NaN of a number below zero
/// with an exponent that is not whole. A constant exponent is computed as torch does where that is
/// one of 0.5 and -0.5, by roots, and further where it is whole and at most 8, by products.
template <class A, class B>
  requires tracing::Operands<A, B>
constexpr Scalar pow(const A& x, const B& exponent) {
  return tracing::power_of(x, exponent);
}

/// Of layers that are kinds of their own (D23 to D25, D32).
namespace functions {
struct Relu {
  constexpr Scalar operator()(const Scalar& x) const {
    const Condition below = x <= 0.0;
    return select(below, 0.0, x);
  }
};
struct Gelu {
  constexpr Scalar operator()(const Scalar& x) const {
    const Scalar share = 0.5 + 0.5 * erf(x * 0.70710678118654752);
    return x * share;
  }
};
struct GeluTanh {
  constexpr Scalar operator()(const Scalar& x) const {
    const Scalar cube = 0.044715 * x * x * x;
    const Scalar share = 0.5 + 0.5 * tanh(0.79788456080286536 * (x + cube));
    return x * share;
  }
};
struct Silu {
  constexpr Scalar operator()(const Scalar& x) const { return x * sigmoid(x); }
};
}  // namespace functions

/// `x` above 0, otherwise slope * x; `slope` may be another value (PReLU).
constexpr Scalar leaky_relu(const Scalar& x, const Scalar& slope = 0.01) {
  const Condition positive = x > 0.0;
  return select(positive, x, slope * x);
}

/// `x` above 0, otherwise alpha * (exp(x) - 1); no exponential overflows on the way.
constexpr Scalar elu(const Scalar& x, const Scalar& alpha = 1) {
  const Condition positive = x > 0.0;
  const Scalar below = select(positive, 0.0, x);
  return select(positive, x, alpha * expm1(below));
}

/// d = x - target: d * d / 2 up to |d| = delta, from there on delta * (|d| - delta / 2). Nothing
/// overflows before the result does.
constexpr Scalar huber(const Scalar& x, const Scalar& target, const Scalar& delta = 1) {
  const Scalar d = x - target;
  const Condition below = d < 0.0;
  const Scalar distance = select(below, -d, d);
  const Scalar near = select(delta < distance, delta, distance);
  return near * (distance - 0.5 * near);
}

/// d = x - target: d * d / (2 * beta) up to |d| = beta, from there on |d| - beta / 2.
constexpr Scalar smooth_l1(const Scalar& x, const Scalar& target, const Scalar& beta = 1) {
  return huber(x, target, beta) / beta;
}

/// log(cosh(x - target)): near 0 half the square, far out the distance less log(2). Nothing
/// overflows before the result does, and small results have all of their digits.
constexpr Scalar log_cosh(const Scalar& x, const Scalar& target) {
  const Scalar d = x - target;
  const Condition below = d < 0.0;
  const Scalar distance = select(below, -d, d);
  // From 10 on cosh is half of an exponential, to all digits of f32.
  const Scalar near = select(10.0 < distance, 10.0, distance);
  const Scalar growth = expm1(near);
  const Scalar square = growth * growth;
  const Scalar rest = log1p(square / (2.0 + 2.0 * growth));
  return (distance - near) + rest;
}

/// 1 - target * x where that is above 0, otherwise 0; a target is -1 or 1.
constexpr Scalar hinge(const Scalar& x, const Scalar& target) {
  const Scalar line = 1.0 - target * x;
  return select(line < 0.0, 0.0, line);
}

/// Of a distance x: x where the target is 1, what it lacks to the margin where that is -1.
constexpr Scalar hinge_embedding(const Scalar& x, const Scalar& target, const Scalar& margin = 1) {
  const Scalar missing = margin - x;
  const Scalar apart = select(missing < 0.0, 0.0, missing);
  const Scalar of_others = select(target == 1.0, 0.0, apart);
  return select(target == -1.0, 0.0, x) + of_others;
}

/// log(1 + exp(-target * x)); a target is -1 or 1.
constexpr Scalar soft_margin(const Scalar& x, const Scalar& target) {
  const auto [ramp, rest] = tracing::softplus(-target * x);
  return ramp + rest;
}

/// What `higher` lacks to be `margin` above `lower` where the target is 1, and the other way round
/// where it is -1.
constexpr Scalar margin_ranking(const Scalar& higher, const Scalar& lower, const Scalar& target,
                                const Scalar& margin = 0) {
  const Scalar line = margin - target * (higher - lower);
  return select(line < 0.0, 0.0, line);
}

/// target * (log(target) - x) of a logarithm of a probability, and -target * x where the target is
/// 0.
constexpr Scalar kl_div(const Scalar& x, const Scalar& target) {
  const Scalar known = select(target == 0.0, 1.0, target);
  const Scalar entropy = target * log(known);
  return entropy - target * x;
}

/// -(target * log(p) + (1 - target) * log(1 - p)) of p = sigmoid(logit), as max(logit, 0) - logit *
/// target + log(1 + exp(-|logit|)), which keeps its digits however large the logit is.
constexpr Scalar binary_cross_entropy_with_logits(const Scalar& logit, const Scalar& target) {
  const auto [ramp, rest] = tracing::softplus(logit);
  const Scalar line = ramp - logit * target;
  return line + rest;
}

/// exp(log_rate) - count * log_rate: of a count that is distributed by Poisson, less what does not
/// depend on the rate.
constexpr Scalar poisson_nll(const Scalar& log_rate, const Scalar& count) {
  const Scalar rate = exp(log_rate);
  return rate - count * log_rate;
}

}  // namespace halftone::dsl
