// SPDX-License-Identifier: Apache-2.0
// Optimizers, ready-made and a user's own.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include "halftone/layers.hpp"

namespace halftone::dsl {

/// One type for every optimizer, so that a program is one type too. Formulas:
/// docs/spec/description.md, U3 to U6, U9 to U14, U16, U18.
struct Optimizer {
  enum class Kind : unsigned char {
    none,
    sgd,
    adamw,
    adam,
    nadam,
    adagrad,
    rmsprop,
    lion,
    lamb,
    adafactor,
    custom
  };
  Kind kind = Kind::none;
  double learning_rate = 1e-3;
  double weight_decay = 0;
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  double initial_accumulator_value = 0;
  double alpha = 0.99;
  bool centered = false;
  double max_trust = 0;  ///< 0: there is none
  bool limits_trust = false, decayed_only = false;
  double decay_rate = 0.8, epsilon1 = 0x1p-23, epsilon2 = 1e-3, clip_threshold = 1;
  // Of a user's: its states, and the new values of the parameter and of each of them.
  static constexpr int kMostStates = 8;
  const char* states[kMostStates]{};
  int state_count = 0;
  const Expression* values[kMostStates + 1]{};
  unsigned takes = 0;           ///< options, a bit each
  bool stranger = false;        ///< it was given an option that it does not take
  const char* twice = nullptr;  ///< an option that it was given more than once
};
inline constexpr const char* kOptimizerWords[] = {
    "",        "sgd",  "adamw", "adam",      "nadam",        "adagrad",
    "rmsprop", "lion", "lamb",  "adafactor", "own_optimizer"};

struct LearningRate {
  double value;
};
struct WeightDecay {
  double value;
};
struct Dampening {
  double value;
};
struct Nesterov {};
struct Betas {
  double first, second;
};
struct Amsgrad {};
struct MomentumDecay {
  double value;
};
struct DecoupledWeightDecay {};
struct InitialAccumulatorValue {
  double value;
};
struct Alpha {
  double value;
};
struct Centered {};
struct MaxTrust {
  double value;
};
struct DecayedOnly {};
struct DecayRate {
  double value;
};
struct Epsilons {
  double first, second;
};
struct ClipThreshold {
  double value;
};
constexpr LearningRate lr(double value) { return {value}; }
constexpr WeightDecay weight_decay(double value) { return {value}; }
/// Of sgd with momentum: the share of a gradient that its buffer does not take.
constexpr Dampening dampening(double value) { return {value}; }
constexpr Betas betas(double first, double second) { return {first, second}; }
inline constexpr Nesterov nesterov{};
/// Of adam and adamw: divides by the largest second moment that there was.
inline constexpr Amsgrad amsgrad{};
constexpr MomentumDecay momentum_decay(double value) { return {value}; }
/// Of nadam: its decay as adamw's.
inline constexpr DecoupledWeightDecay decoupled_weight_decay{};
constexpr InitialAccumulatorValue initial_accumulator_value(double value) { return {value}; }
/// Of rmsprop: the share that the mean of squares keeps of itself.
constexpr Alpha alpha(double value) { return {value}; }
/// Of rmsprop: takes the square of the gradients' mean off that of their squares.
inline constexpr Centered centered{};
/// Of lamb: the largest factor that a parameter's norm over that of its update gives.
constexpr MaxTrust max_trust(double value) { return {value}; }
/// Of lamb: parameters without decay have a factor of 1, as Apex's FusedLAMB gives them.
inline constexpr DecayedOnly decayed_only{};
/// Of adafactor: second moments keep 1 - t^-value of themselves at update t; torch's -beta2_decay.
constexpr DecayRate decay_rate(double value) { return {value}; }
/// Of adafactor: the least mean of squares, and the least that a parameter's root mean square counts
/// as; torch's eps.
constexpr Epsilons epsilons(double first, double second) { return {first, second}; }
/// Of adafactor: what the root mean square of a parameter's step is cut to; torch's d.
constexpr ClipThreshold clip_threshold(double value) { return {value}; }

namespace building {
constexpr void set_option(Optimizer& to, LearningRate option) { to.learning_rate = option.value; }
constexpr void set_option(Optimizer& to, WeightDecay option) { to.weight_decay = option.value; }
constexpr void set_option(Optimizer& to, Momentum option) { to.momentum = option.value; }
constexpr void set_option(Optimizer& to, Dampening option) { to.dampening = option.value; }
constexpr void set_option(Optimizer& to, Nesterov) { to.nesterov = true; }
constexpr void set_option(Optimizer& to, Betas option) {
  to.beta1 = option.first;
  to.beta2 = option.second;
}
constexpr void set_option(Optimizer& to, Epsilon option) { to.epsilon = option.value; }
constexpr void set_option(Optimizer& to, Amsgrad) { to.amsgrad = true; }
constexpr void set_option(Optimizer& to, MomentumDecay option) { to.momentum_decay = option.value; }
constexpr void set_option(Optimizer& to, DecoupledWeightDecay) { to.decoupled_weight_decay = true; }
constexpr void set_option(Optimizer& to, InitialAccumulatorValue option) {
  to.initial_accumulator_value = option.value;
}
constexpr void set_option(Optimizer& to, Alpha option) { to.alpha = option.value; }
constexpr void set_option(Optimizer& to, Centered) { to.centered = true; }
constexpr void set_option(Optimizer& to, MaxTrust option) {
  to.max_trust = option.value;
  to.limits_trust = true;
}
constexpr void set_option(Optimizer& to, DecayedOnly) { to.decayed_only = true; }
constexpr void set_option(Optimizer& to, DecayRate option) { to.decay_rate = option.value; }
constexpr void set_option(Optimizer& to, Epsilons option) {
  to.epsilon1 = option.first;
  to.epsilon2 = option.second;
}
constexpr void set_option(Optimizer& to, ClipThreshold option) { to.clip_threshold = option.value; }

inline constexpr const char* kOptionWords[] = {"",
                                               "lr",
                                               "weight_decay",
                                               "momentum",
                                               "dampening",
                                               "nesterov",
                                               "betas",
                                               "epsilon",
                                               "amsgrad",
                                               "momentum_decay",
                                               "decoupled_weight_decay",
                                               "initial_accumulator_value",
                                               "alpha",
                                               "centered",
                                               "max_trust",
                                               "decayed_only",
                                               "decay_rate",
                                               "epsilons",
                                               "clip_threshold"};
/// Index into kOptionWords; 0 of what is no option.
template <class Type>
inline constexpr int kOption = 0;
template <>
inline constexpr int kOption<LearningRate> = 1;
template <>
inline constexpr int kOption<WeightDecay> = 2;
template <>
inline constexpr int kOption<Momentum> = 3;
template <>
inline constexpr int kOption<Dampening> = 4;
template <>
inline constexpr int kOption<Nesterov> = 5;
template <>
inline constexpr int kOption<Betas> = 6;
template <>
inline constexpr int kOption<Epsilon> = 7;
template <>
inline constexpr int kOption<Amsgrad> = 8;
template <>
inline constexpr int kOption<MomentumDecay> = 9;
template <>
inline constexpr int kOption<DecoupledWeightDecay> = 10;
template <>
inline constexpr int kOption<InitialAccumulatorValue> = 11;
template <>
inline constexpr int kOption<Alpha> = 12;
template <>
inline constexpr int kOption<Centered> = 13;
template <>
inline constexpr int kOption<MaxTrust> = 14;
template <>
inline constexpr int kOption<DecayedOnly> = 15;
template <>
inline constexpr int kOption<DecayRate> = 16;
template <>
inline constexpr int kOption<Epsilons> = 17;
template <>
inline constexpr int kOption<ClipThreshold> = 18;

/// The bits of options, lr and weight_decay among them.
template <class... Options>
inline constexpr unsigned kTakes = ((1u << kOption<Options>) | ... |
                                    (1u << kOption<LearningRate> | 1u << kOption<WeightDecay>));

/// The first option that is among them a second time, or null.
template <class... Options>
constexpr const char* repeated() {
  bool seen[std::size(kOptionWords)]{};
  for (const int option : {0, kOption<Options>...}) {
    if (option != 0 && seen[option]) return kOptionWords[option];
    seen[option] = true;
  }
  return nullptr;
}

template <class Option>
constexpr void give(Optimizer& to, const Option& option) {
  if constexpr (kOption<Option> == 0) {
    to.stranger = true;
  } else {
    set_option(to, option);
    to.stranger = to.stranger || (to.takes >> kOption<Option> & 1u) == 0;
  }
}

/// `from` with what it is given, of what it takes.
template <class... Options>
constexpr Optimizer optimizer(Optimizer from, unsigned takes, const Options&... options) {
  from.takes = takes;
  from.twice = repeated<Options...>();
  (give(from, options), ...);
  return from;
}
}  // namespace building

/// torch.optim.SGD: lr (1e-2), momentum (0), dampening (0), nesterov, weight_decay (0). U5
template <class... Options>
constexpr Optimizer sgd(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::sgd, .learning_rate = 1e-2},
                             building::kTakes<Momentum, Dampening, Nesterov>, options...);
}

/// torch.optim.AdamW: lr (1e-3), betas (0.9, 0.999), epsilon (1e-8), weight_decay (1e-2), amsgrad.
/// U4
template <class... Options>
constexpr Optimizer adamw(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::adamw, .weight_decay = 1e-2},
                             building::kTakes<Betas, Epsilon, Amsgrad>, options...);
}

/// torch.optim.Adam, whose weight decay is part of the gradient: lr (1e-3), betas (0.9, 0.999),
/// epsilon (1e-8), weight_decay (0), amsgrad. U9
template <class... Options>
constexpr Optimizer adam(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::adam},
                             building::kTakes<Betas, Epsilon, Amsgrad>, options...);
}

/// torch.optim.NAdam, Adam with Nesterov's momentum: lr (2e-3), betas (0.9, 0.999), epsilon (1e-8),
/// weight_decay (0), momentum_decay (4e-3), decoupled_weight_decay. U10
template <class... Options>
constexpr Optimizer nadam(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::nadam, .learning_rate = 2e-3},
                             building::kTakes<Betas, Epsilon, MomentumDecay, DecoupledWeightDecay>,
                             options...);
}

/// torch.optim.Adagrad, whose lr_decay is a schedule(): lr (1e-2), epsilon (1e-10), weight_decay
/// (0), initial_accumulator_value (0). U11
template <class... Options>
constexpr Optimizer adagrad(const Options&... options) {
  return building::optimizer(
      {.kind = Optimizer::Kind::adagrad, .learning_rate = 1e-2, .epsilon = 1e-10},
      building::kTakes<Epsilon, InitialAccumulatorValue>, options...);
}

/// torch.optim.RMSprop: lr (1e-2), alpha (0.99), epsilon (1e-8), momentum (0), centered,
/// weight_decay (0). U12
template <class... Options>
constexpr Optimizer rmsprop(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::rmsprop, .learning_rate = 1e-2},
                             building::kTakes<Alpha, Epsilon, Momentum, Centered>, options...);
}

/// Chen et al. 2023, Symbolic Discovery of Optimization Algorithms: lr (1e-4), betas (0.9, 0.99),
/// weight_decay (0), which is decoupled. U13
template <class... Options>
constexpr Optimizer lion(const Options&... options) {
  return building::optimizer(
      {.kind = Optimizer::Kind::lion, .learning_rate = 1e-4, .beta2 = 0.99},
      building::kTakes<Betas>, options...);
}

/// You et al. 2020, Large Batch Optimization for Deep Learning, as NVIDIA Apex's FusedLAMB: adamw's
/// update, times the norm of the parameter over the norm of its update: lr (1e-3), betas (0.9,
/// 0.999), epsilon (1e-6), weight_decay (1e-2), max_trust, decayed_only. U16
template <class... Options>
constexpr Optimizer lamb(const Options&... options) {
  return building::optimizer(
      {.kind = Optimizer::Kind::lamb, .weight_decay = 1e-2, .epsilon = 1e-6},
      building::kTakes<Betas, Epsilon, MaxTrust, DecayedOnly>, options...);
}

/// torch.optim.Adafactor, after Shazeer and Stern 2018: second moments of a matrix are a row and a
/// column, so that they take hardly any memory: lr (1e-2), decay_rate (0.8), epsilons (2^-23, 1e-3),
/// clip_threshold (1), weight_decay (0). U18
template <class... Options>
constexpr Optimizer adafactor(const Options&... options) {
  return building::optimizer({.kind = Optimizer::Kind::adafactor, .learning_rate = 1e-2},
                             building::kTakes<DecayRate, Epsilons, ClipThreshold>, options...);
}

/// What the lambda of own_optimizer() is given of an element: U14.
struct Updating {
  Scalar parameter, gradient, learning_rate, weight_decay;
  Scalar step;  ///< how many updates were applied before
};
/// The element's new value and those of its states.
template <int N>
struct Updated {
  Scalar values[N];
};
template <class Parameter, class... States>
  requires(std::is_convertible_v<Parameter, Scalar> &&
           (std::is_convertible_v<States, Scalar> && ...))
constexpr Updated<1 + static_cast<int>(sizeof...(States))> updated(const Parameter& parameter,
                                                                   const States&... states) {
  return {{parameter, states...}};
}

template <int N>
struct OptimizerStates {
  const char* names[N];
};
/// Names of states that an optimizer keeps of every trained element; each begins at 0.
template <int... N>
  requires(sizeof...(N) >= 1 && sizeof...(N) <= Optimizer::kMostStates)
constexpr auto own_states(const char (&... names)[N]) {
  return OptimizerStates<static_cast<int>(sizeof...(N))>{{names...}};
}

namespace building {
/// Value `Which` of what the user's function returns: 0 is the parameter's, then the states'.
template <class F, int Which, int States>
struct OneOfUpdated {
  F function;

  template <class... S>
    requires(sizeof...(S) == States &&
             requires(const F& f, Updating of, const S&... more) { f(of, more...); })
  constexpr auto operator()(const Scalar& parameter, const Scalar& gradient,
                            const Scalar& learning_rate, const Scalar& weight_decay,
                            const Scalar& step, const S&... states) const {
    const auto all =
        function(Updating{parameter, gradient, learning_rate, weight_decay, step}, states...);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(all)>, Updated<States + 1>>)
      return all.values[Which];
    else
      return Condition{};  // no number
  }
};

template <class F, bool Accepted, class... Options, int... Which>
constexpr Optimizer custom(std::integer_sequence<int, Which...>, const char* const* names,
                           const Options&... options) {
  constexpr int states = sizeof...(Which) - 1;
  Optimizer result =
      optimizer(Optimizer{.kind = Optimizer::Kind::custom}, kTakes<>, options...);
  result.state_count = states;
  for (int i = 0; i < states; ++i) result.states[i] = names[i];
  ((result.values[Which] =
        &tracing::expression_of<OneOfUpdated<F, Which, states>, Accepted, 5 + states>),
   ...);
  return result;
}
}  // namespace building

/// A user's own: the lambda is given what it updates of one element, and its states, and returns
/// updated() with the new value and the states' new ones; lr (1e-3), weight_decay (0). It is
/// computed in f32 by the fused update, operation by operation; its vocabulary is that of
/// pointwise(), and it captures nothing. U14
///   own_optimizer(
///       [](auto of, auto momentum) {
///         const auto next = 0.9 * momentum + of.gradient;
///         return updated(of.parameter - of.learning_rate * next, next);
///       },
///       own_states("momentum"), lr(0.1))
template <class F, int States, class... Options>
constexpr Optimizer own_optimizer(F, const OptimizerStates<States>& states,
                                  const Options&... options) {
  constexpr bool accepted = []<int... I>(std::integer_sequence<int, I...>) {
    return requires(const F& f, Updating of, tracing::ScalarAt<I>... more) { f(of, more...); };
  }(std::make_integer_sequence<int, States>{});
  return building::custom<F, accepted>(std::make_integer_sequence<int, States + 1>{}, states.names,
                                       options...);
}
template <class F, class... Options>
constexpr Optimizer own_optimizer(F, const Options&... options) {
  constexpr bool accepted = requires(const F& f, Updating of) { f(of); };
  return building::custom<F, accepted>(std::make_integer_sequence<int, 1>{}, nullptr, options...);
}

}  // namespace halftone::dsl
