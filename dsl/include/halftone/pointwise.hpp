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

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;
template <class T>
concept Text = std::is_same_v<T, const char*>;
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
struct Tanh {
  static constexpr const char* word = "tanh";
  constexpr Scalar operator()(const Scalar& x) const { return tanh(x); }
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
struct Selu {
  static constexpr const char* word = "selu";
  constexpr Scalar operator()(const Scalar& x) const {
    return 1.0507009873554804934193349852946 * dsl::elu(x, 1.6732632423543772848170429916717);
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
struct LogCosh {
  static constexpr const char* word = "log_cosh";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target) const {
    return dsl::log_cosh(x, target);
  }
};
struct Hinge {
  static constexpr const char* word = "hinge";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target) const {
    return dsl::hinge(x, target);
  }
};
struct HingeEmbedding {
  static constexpr const char* word = "hinge_embedding";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target, const Scalar& margin) const {
    return dsl::hinge_embedding(x, target, margin);
  }
};
struct SoftMargin {
  static constexpr const char* word = "soft_margin";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target) const {
    return dsl::soft_margin(x, target);
  }
};
struct MarginRanking {
  static constexpr const char* word = "margin_ranking";
  constexpr Scalar operator()(const Scalar& higher, const Scalar& lower, const Scalar& target,
                              const Scalar& margin) const {
    return dsl::margin_ranking(higher, lower, target, margin);
  }
};
struct KlDiv {
  static constexpr const char* word = "kl_div";
  constexpr Scalar operator()(const Scalar& x, const Scalar& target) const {
    return dsl::kl_div(x, target);
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
/// Klambauer et al. 2017, Self-Normalizing Neural Networks: elu, scaled so that a mean of 0 and a
/// variance of 1 stay what they are through layers.
inline constexpr building::Function<functions::Selu> selu;

/// tanh(x), in a chain: tanh("act").
template <building::Text Name>
constexpr Spec<1> tanh(Name name) {
  return building::Function<functions::Tanh>()(name);
}
/// 1 / (1 + exp(-x)), in a chain: sigmoid("gate").
template <building::Text Name>
constexpr Spec<1> sigmoid(Name name) {
  return building::Function<functions::Sigmoid>()(name);
}

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

// ---- losses, means over all elements, with sample_weight() weighted, with `summed` sums ----

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

/// log(cosh(x - target))
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto log_cosh(const char* name, const char* value, const char* target,
                        const Options&... options) {
  return building::loss(building::function<building::PointwiseLoss>(
                            name, &building::kReadyMade<functions::LogCosh, 2>),
                        value, target, options...);
}

/// 1 - target * x where that is above 0: a target is -1 or 1. sklearn's and Keras's hinge.
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto hinge(const char* name, const char* value, const char* target,
                     const Options&... options) {
  return building::loss(building::function<building::PointwiseLoss>(
                            name, &building::kReadyMade<functions::Hinge, 2>),
                        value, target, options...);
}

/// log(1 + exp(-target * x)): a target is -1 or 1. torch.nn.SoftMarginLoss.
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto soft_margin(const char* name, const char* value, const char* target,
                           const Options&... options) {
  return building::loss(building::function<building::PointwiseLoss>(
                            name, &building::kReadyMade<functions::SoftMargin, 2>),
                        value, target, options...);
}

/// x where the target is 1, what it lacks to `margin` where that is -1: torch's
/// HingeEmbeddingLoss.
template <building::Arithmetic Margin, class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto hinge_embedding(const char* name, const char* value, const char* target,
                               Margin margin, const Options&... options) {
  return building::loss(
      building::numbered<building::PointwiseLoss, functions::HingeEmbedding, 2>(
          name, margin, -0x1p+128,
          "hinge_embedding takes a finite margin: write hinge_embedding(\"loss\", \"distance\", "
          "\"y\", 1.0)"),
      value, target, options...);
}
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto hinge_embedding(const char* name, const char* value, const char* target,
                               const Options&... options) {
  return hinge_embedding(name, value, target, 1, options...);
}

/// What `higher` lacks to be `margin` above `lower` where the target is 1, and the other way round
/// where it is -1. torch.nn.MarginRankingLoss.
template <building::Arithmetic Margin, class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto margin_ranking(const char* name, const char* higher, const char* lower,
                              const char* target, Margin margin, const Options&... options) {
  const Token of = building::numbered<building::PointwiseLoss, functions::MarginRanking, 3>(
      name, margin, -0x1p+128,
      "margin_ranking takes a finite margin: write margin_ranking(\"loss\", \"better\", "
      "\"worse\", \"y\", 0.5)");
  return building::weighed(join(one(of), one({.part = Part::operand, .name = higher}),
                                one({.part = Part::operand, .name = lower}),
                                one({.part = Part::operand, .name = target})),
                           options...);
}
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto margin_ranking(const char* name, const char* higher, const char* lower,
                              const char* target, const Options&... options) {
  return margin_ranking(name, higher, lower, target, 0, options...);
}

/// target * (log(target) - x): the value is the logarithm of a probability, as log_softmax's, the
/// target a probability. torch.nn.KLDivLoss, whose batchmean is this times the columns: weight(n).
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto kl_div(const char* name, const char* value, const char* target,
                      const Options&... options) {
  return building::loss(building::function<building::PointwiseLoss>(
                            name, &building::kReadyMade<functions::KlDiv, 2>),
                        value, target, options...);
}

}  // namespace halftone::dsl
