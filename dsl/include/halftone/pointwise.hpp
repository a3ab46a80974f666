// SPDX-License-Identifier: Apache-2.0
// Ready-made layers and losses that are functions of single elements: pointwise layers and losses
// (D28, D31) as a user's own are, with torch's names, defaults and gradients at kinks. What takes
// no number is a layer in a chain, `mish` or mish("name"), and a function in a lambda, mish(x).
#pragma once

#include "halftone/functions.hpp"
#include "halftone/layers.hpp"
#include "halftone/losses.hpp"

namespace halftone::dsl {

namespace building {
/// The function F of `Values` values, the last of which is a number of the token if it has one.
template <class F, int Values>
constexpr Expression ready_made() {
  Expression expression = tracing::expression_of<F, true, Values>;
  expression.word = F::word;
  return expression;
}
template <class F, int Values>
inline constexpr Expression kReadyMade = ready_made<F, Values>();

/// A layer that computes F of the current value.
template <class F>
struct Function : Activation {
  constexpr Function() : Activation(function<Pointwise>(nullptr, &kReadyMade<F, 1>)) {}
  using Activation::operator();
  constexpr Scalar operator()(const Scalar& x) const { return F{}(x); }
};

/// The end of a concat's branches that joins two of them by F.
template <class F>
constexpr Token joining(const char* name) {
  Token token = token_of(Part::end_concat, description::kind<Pointwise>, name);
  token.expression = &kReadyMade<F, 2>;
  return token;
}

/// The node of a function with a number, which is finite in f32 and above `low`, or else says
/// `sentence`.
template <class Of, class F, int Values>
constexpr Token numbered(const char* name, double number, double low, const char* sentence) {
  if (!(number > low && number <= 0x1.fffffep+127)) return misused(sentence)[0];
  Token token = function<Of>(name, &kReadyMade<F, Values + 1>);
  token.number = kNumbered;
  token.x = number;
  return token;
}

template <class... Options>
concept LossOptions = kFits<void(LossWeight, SampleWeight), Options...>;

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;
}  // namespace building

namespace functions {
struct Softplus {
  static constexpr const char* word = "softplus";
  constexpr Scalar operator()(const Scalar& x) const {
    const auto [ramp, rest] = tracing::softplus(x);
    return ramp + rest;
  }
};
struct Sigmoid {
  static constexpr const char* word = "sigmoid";
  constexpr Scalar operator()(const Scalar& x) const { return sigmoid(x); }
};
struct Product {
  static constexpr const char* word = "product";
  constexpr Scalar operator()(const Scalar& x, const Scalar& y) const { return x * y; }
};
struct Mish {
  static constexpr const char* word = "mish";
  constexpr Scalar operator()(const Scalar& x) const { return x * tanh(Softplus{}(x)); }
};
struct Softsign {
  static constexpr const char* word = "softsign";
  constexpr Scalar operator()(const Scalar& x) const { return x / (1.0 + abs(x)); }
};
struct HardSigmoid {
  static constexpr const char* word = "hard_sigmoid";
  constexpr Scalar operator()(const Scalar& x) const {
    const Condition low = x <= -3.0, high = x >= 3.0;
    const Scalar line = select(high, 1.0, (x + 3.0) * (1.0 / 6));
    return select(low, 0.0, line);
  }
};
struct HardSwish {
  static constexpr const char* word = "hard_swish";
  constexpr Scalar operator()(const Scalar& x) const { return x * HardSigmoid{}(x); }
};
struct LeakyRelu {
  static constexpr const char* word = "leaky_relu";
  constexpr Scalar operator()(const Scalar& x, const Scalar& slope) const {
    return dsl::leaky_relu(x, slope);
  }
};
struct Elu {
  static constexpr const char* word = "elu";
  constexpr Scalar operator()(const Scalar& x, const Scalar& alpha) const {
    return dsl::elu(x, alpha);
  }
};
struct L1 {
  static constexpr const char* word = "l1";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target) const {
    return abs(x - target);
  }
};
struct Huber {
  static constexpr const char* word = "huber";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target, const Scalar& delta) const {
    return dsl::huber(x, target, delta);
  }
};
struct SmoothL1 {
  static constexpr const char* word = "smooth_l1";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target, const Scalar& beta) const {
    return dsl::smooth_l1(x, target, beta);
  }
};
struct BinaryCrossEntropyWithLogits {
  static constexpr const char* word = "binary_cross_entropy_with_logits";
  constexpr Scalar operator()(const Scalar& logit, const Scalar& target) const {
    return dsl::binary_cross_entropy_with_logits(logit, target);
  }
};
struct PoissonNll {
  static constexpr const char* word = "poisson_nll";
  constexpr Scalar operator()(const Scalar& log_rate, const Scalar& count) const {
    return dsl::poisson_nll(log_rate, count);
  }
};
}  // namespace functions

// ---- layers ----

/// log(1 + exp(x)), with all digits of its small results and of its gradient, sigmoid(x)
inline constexpr building::Function<functions::Softplus> softplus;
/// x * tanh(softplus(x))
inline constexpr building::Function<functions::Mish> mish;
/// x / (1 + |x|)
inline constexpr building::Function<functions::Softsign> softsign;
/// (x + 3) / 6 in [-3, 3], 0 below and 1 above
inline constexpr building::Function<functions::HardSigmoid> hard_sigmoid;
/// x * hard_sigmoid(x)
inline constexpr building::Function<functions::HardSwish> hard_swish;

/// x above 0, otherwise slope * x: leaky_relu("act", 0.2).
template <building::Arithmetic Slope = double>
constexpr Spec<1> leaky_relu(const char* name, Slope slope = 0.01) {
  return one(building::numbered<building::Pointwise, functions::LeakyRelu, 1>(
      name, slope, -0x1p+128, "leaky_relu takes a finite slope: write leaky_relu(\"act\", 0.01)"));
}

/// x above 0, otherwise alpha * (exp(x) - 1): elu("act").
template <building::Arithmetic Alpha = double>
constexpr Spec<1> elu(const char* name, Alpha alpha = 1) {
  return one(building::numbered<building::Pointwise, functions::Elu, 1>(
      name, alpha, -0x1p+128, "elu takes a finite alpha: write elu(\"act\", 1.0)"));
}

// ---- losses, means over all elements, with sample_weight() weighted ----

/// |x - target|
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto l1(const char* name, const char* value, const char* target,
                  const Options&... options) {
  return building::loss(
      building::function<building::PointwiseLoss>(name, &building::kReadyMade<functions::L1, 2>),
      value, target, options...);
}

/// d * d / 2 up to |d| = delta, from there on delta * (|d| - delta / 2), where d = x - target.
template <building::Arithmetic Delta, class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto huber(const char* name, const char* value, const char* target, Delta delta,
                     const Options&... options) {
  return building::loss(
      building::numbered<building::PointwiseLoss, functions::Huber, 2>(
          name, delta, 0x1p-127,
          "huber takes a finite delta above 0: write huber(\"loss\", \"guess\", \"y\", 1.0)"),
      value, target, options...);
}
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto huber(const char* name, const char* value, const char* target,
                     const Options&... options) {
  return huber(name, value, target, 1, options...);
}

/// huber divided by its delta, here beta.
template <building::Arithmetic Beta, class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto smooth_l1(const char* name, const char* value, const char* target, Beta beta,
                         const Options&... options) {
  return building::loss(
      building::numbered<building::PointwiseLoss, functions::SmoothL1, 2>(
          name, beta, 0x1p-127,
          "smooth_l1 takes a finite beta above 0: write smooth_l1(\"loss\", \"guess\", \"y\", "
          "1.0)"),
      value, target, options...);
}
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto smooth_l1(const char* name, const char* value, const char* target,
                         const Options&... options) {
  return smooth_l1(name, value, target, 1, options...);
}

/// -(target * log(p) + (1 - target) * log(1 - p)) of p = sigmoid(logit); a target is from 0 to 1,
/// and f32 as logits are.
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto binary_cross_entropy_with_logits(const char* name, const char* logits,
                                                const char* target, const Options&... options) {
  return building::loss(
      building::function<building::PointwiseLoss>(
          name, &building::kReadyMade<functions::BinaryCrossEntropyWithLogits, 2>),
      logits, target, options...);
}

/// exp(x) - target * x: the value is the logarithm of a rate, the target a count.
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto poisson_nll(const char* name, const char* value, const char* target,
                           const Options&... options) {
  return building::loss(building::function<building::PointwiseLoss>(
                            name, &building::kReadyMade<functions::PoissonNll, 2>),
                        value, target, options...);
}

}  // namespace halftone::dsl
