// SPDX-License-Identifier: Apache-2.0
// Optimizers, clipping, and the whole that HALFTONE_MODEL puts together from a model and its
// settings.
#pragma once

#include <iterator>

#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl {

/// One type for every optimizer, so that a program is one type too. Formulas:
/// docs/spec/description.md, U3 to U6.
struct Optimizer {
  enum class Kind : unsigned char { none, sgd, adamw };
  Kind kind = Kind::none;
  double learning_rate = 1e-3;
  double weight_decay = 0;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  bool stranger = false;        ///< it was given an option that it does not take
  const char* twice = nullptr;  ///< an option that it was given more than once
};

struct LearningRate {
  double value;
};
struct WeightDecay {
  double value;
};
struct Momentum {
  double value;
};
struct Nesterov {};
struct Betas {
  double first, second;
};
constexpr LearningRate lr(double value) { return {value}; }
constexpr WeightDecay weight_decay(double value) { return {value}; }
constexpr Momentum momentum(double value) { return {value}; }
constexpr Betas betas(double first, double second) { return {first, second}; }
inline constexpr Nesterov nesterov{};

namespace building {
constexpr void set_sgd(Optimizer& optimizer, const auto&) { optimizer.stranger = true; }
constexpr void set_sgd(Optimizer& optimizer, LearningRate option) {
  optimizer.learning_rate = option.value;
}
constexpr void set_sgd(Optimizer& optimizer, WeightDecay option) {
  optimizer.weight_decay = option.value;
}
constexpr void set_sgd(Optimizer& optimizer, Momentum option) { optimizer.momentum = option.value; }
constexpr void set_sgd(Optimizer& optimizer, Nesterov) { optimizer.nesterov = true; }
constexpr void set_adamw(Optimizer& optimizer, const auto&) { optimizer.stranger = true; }
constexpr void set_adamw(Optimizer& optimizer, LearningRate option) {
  optimizer.learning_rate = option.value;
}
constexpr void set_adamw(Optimizer& optimizer, WeightDecay option) {
  optimizer.weight_decay = option.value;
}
constexpr void set_adamw(Optimizer& optimizer, Epsilon option) { optimizer.epsilon = option.value; }
constexpr void set_adamw(Optimizer& optimizer, Betas option) {
  optimizer.beta1 = option.first;
  optimizer.beta2 = option.second;
}

inline constexpr const char* kOptionWords[] = {"",         "lr",    "weight_decay", "momentum",
                                               "nesterov", "betas", "epsilon"};
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
inline constexpr int kOption<Nesterov> = 4;
template <>
inline constexpr int kOption<Betas> = 5;
template <>
inline constexpr int kOption<Epsilon> = 6;

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
}  // namespace building

/// torch.optim.SGD: lr (1e-2), momentum (0), nesterov, weight_decay (0).
template <class... Options>
constexpr Optimizer sgd(const Options&... options) {
  Optimizer result{.kind = Optimizer::Kind::sgd, .learning_rate = 1e-2};
  result.twice = building::repeated<Options...>();
  (building::set_sgd(result, options), ...);
  return result;
}

/// torch.optim.AdamW: lr (1e-3), betas (0.9, 0.999), epsilon (1e-8), weight_decay (1e-2).
template <class... Options>
constexpr Optimizer adamw(const Options&... options) {
  Optimizer result{.kind = Optimizer::Kind::adamw, .weight_decay = 1e-2};
  result.twice = building::repeated<Options...>();
  (building::set_adamw(result, options), ...);
  return result;
}

struct Clip {
  double norm;
};
/// Scales all gradients down together when their norm exceeds `norm` (U2).
constexpr Clip clip(double norm) { return {norm}; }

/// What HALFTONE_MODEL takes after the model, gathered; at most one of each.
template <int N>
struct Settings {
  Rule rules[N > 0 ? N : 1]{};
  int rule_count = N;
  Optimizer optimizer;
  double clip = 0;
  int precisions = 0, optimizers = 0, clips = 0, strangers = 0;
};

namespace building {
template <int N>
constexpr void set(Settings<N>& settings, const auto&) {
  ++settings.strangers;
}
template <int N, int M>
constexpr void set(Settings<N>& settings, const Precision<M>& precision) {
  for (int i = 0; i < M && i < N; ++i) settings.rules[i] = precision.rules[i];
  ++settings.precisions;
}
template <int N>
constexpr void set(Settings<N>& settings, const Optimizer& optimizer) {
  settings.optimizer = optimizer;
  ++settings.optimizers;
}
template <int N>
constexpr void set(Settings<N>& settings, const Clip& clip) {
  settings.clip = clip.norm;
  ++settings.clips;
}
template <class Part>
inline constexpr int rules_of = 0;
template <int N>
inline constexpr int rules_of<Precision<N>> = N;
}  // namespace building

template <class... Parts>
constexpr auto gather(const Parts&... parts) {
  Settings<(building::rules_of<Parts> + ... + 0)> result;
  (building::set(result, parts), ...);
  return result;
}

/// A checked model with its settings: views of constants that live as long as the program.
struct Program {
  const Chunk* chunks = nullptr;
  int size = 0;
  const Rule* rules = nullptr;
  int rule_count = 0;
  Optimizer optimizer;
  double clip = 0;
  int precisions = 0, optimizers = 0, clips = 0, strangers = 0;

  constexpr const Token& operator[](int i) const { return chunks[i / kChunk].tokens[i % kChunk]; }
};

template <int N, int M>
constexpr Program assemble(const Model<N>& model, const Settings<M>& settings) {
  return {model.spec.chunks,   N,
          settings.rules,      settings.rule_count,
          settings.optimizer,  settings.clip,
          settings.precisions, settings.optimizers,
          settings.clips,      settings.strangers};
}

}  // namespace halftone::dsl
