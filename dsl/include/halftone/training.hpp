// SPDX-License-Identifier: Apache-2.0
// Optimizers, clipping, and the whole that HALFTONE_MODEL puts together from a model and its
// settings.
#pragma once

#include <iterator>

#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl {

/// One type for every optimizer, so that a program is one type too. Formulas:
/// docs/spec/description.md, U3 to U6, U9.
struct Optimizer {
  enum class Kind : unsigned char { none, sgd, adamw, adam };
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
struct Nesterov {};
struct Betas {
  double first, second;
};
constexpr LearningRate lr(double value) { return {value}; }
constexpr WeightDecay weight_decay(double value) { return {value}; }
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
constexpr void set_adam(Optimizer& optimizer, const auto&) { optimizer.stranger = true; }
constexpr void set_adam(Optimizer& optimizer, LearningRate option) {
  optimizer.learning_rate = option.value;
}
constexpr void set_adam(Optimizer& optimizer, WeightDecay option) {
  optimizer.weight_decay = option.value;
}
constexpr void set_adam(Optimizer& optimizer, Epsilon option) { optimizer.epsilon = option.value; }
constexpr void set_adam(Optimizer& optimizer, Betas option) {
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
  (building::set_adam(result, options), ...);
  return result;
}

/// torch.optim.Adam, whose weight decay is part of the gradient: lr (1e-3), betas (0.9, 0.999),
/// epsilon (1e-8), weight_decay (0).
template <class... Options>
constexpr Optimizer adam(const Options&... options) {
  Optimizer result{.kind = Optimizer::Kind::adam};
  result.twice = building::repeated<Options...>();
  (building::set_adam(result, options), ...);
  return result;
}

struct Clip {
  double norm;
};
/// Scales all gradients down together when their norm exceeds `norm` (U2).
constexpr Clip clip(double norm) { return {norm}; }

struct Schedule {
  const Expression* expression;
};
/// Multiplies the learning rate by a function of the number of updates that were applied before, 0
/// at the first; a skipped step is none. It is computed on the device, in f32 (U3):
///   schedule([](auto step) { return linear_warmup(step, 500) * cosine(step, 20000); })
/// The lambda captures nothing; its vocabulary is that of pointwise() and of schedules.hpp.
template <class F>
constexpr Schedule schedule(F) {
  constexpr bool accepted = requires(const F& f, Scalar step) { f(step); };
  return {&tracing::expression_of<F, accepted, 1>};
}

struct Average {
  double kept;
};
/// Keeps averages of all trained parameters beside them: the first update's values, then at every
/// update `kept` of the average and the rest of the new values (U8), as torch's AveragedModel with
/// get_ema_avg_fn(kept). Trainer::average() and Predictor::copy_averages() read them.
constexpr Average average(double kept) { return {kept}; }

template <int N>
struct Group {
  Token tokens[N];
};
/// Options of all parameters whose names match the glob, such as "**.bias" or "encoder/**" (P3's
/// globs): frozen, no_decay, learning_rate_scale(), init_constant() and its like. Of several groups
/// the last one that matches wins, option by option; what a layer states itself wins over groups. A
/// group that names no parameter is refused when the model is described.
///   group("**.bias", no_decay), group("embed.*", learning_rate_scale(0.1), init_normal(0, 0.02))
template <int... N>
constexpr auto group(const char* names, const ParameterOptions<N>&... options) {
  Group<(N + ... + 1)> result{{{.part = Part::group, .name = names}}};
  int at = 0;
  const auto add = [&]<int M>(const ParameterOptions<M>& option) {
    for (int i = 0; i < M; ++i) result.tokens[++at] = option.tokens[i];
  };
  (add(options), ...);
  return result;
}

/// How often HALFTONE_MODEL is given each setting, and what is none.
struct Counts {
  int precisions = 0, optimizers = 0, clips = 0, schedules = 0, averages = 0, strangers = 0;
};

/// What HALFTONE_MODEL takes after the model, gathered; at most one of each.
template <int N, int G>
struct Settings {
  Rule rules[N > 0 ? N : 1]{};
  int rule_count = N;
  Token groups[G > 0 ? G : 1]{};  ///< each group's, one after another
  int group_tokens = 0;
  Optimizer optimizer;
  double clip = 0;
  const Expression* schedule = nullptr;
  double average = 0;
  Counts given;
};

namespace building {
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const auto&) {
  ++settings.given.strangers;
}
template <int N, int G, int M>
constexpr void set(Settings<N, G>& settings, const Precision<M>& precision) {
  for (int i = 0; i < M && i < N; ++i) settings.rules[i] = precision.rules[i];
  ++settings.given.precisions;
}
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const Optimizer& optimizer) {
  settings.optimizer = optimizer;
  ++settings.given.optimizers;
}
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const Clip& clip) {
  settings.clip = clip.norm;
  ++settings.given.clips;
}
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const Schedule& schedule) {
  settings.schedule = schedule.expression;
  ++settings.given.schedules;
}
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const Average& average) {
  settings.average = average.kept;
  ++settings.given.averages;
}
template <int N, int G, int M>
constexpr void set(Settings<N, G>& settings, const Group<M>& group) {
  for (const Token& token : group.tokens) settings.groups[settings.group_tokens++] = token;
}
template <class Part>
inline constexpr int group_tokens_of = 0;
template <int N>
inline constexpr int group_tokens_of<Group<N>> = N;
template <class Part>
inline constexpr int rules_of = 0;
template <int N>
inline constexpr int rules_of<Precision<N>> = N;
}  // namespace building

template <class... Parts>
constexpr auto gather(const Parts&... parts) {
  Settings<(building::rules_of<Parts> + ... + 0), (building::group_tokens_of<Parts> + ... + 0)>
      result;
  (building::set(result, parts), ...);
  return result;
}

/// A checked model with its settings: views of constants that live as long as the program.
struct Program {
  const Chunk* chunks = nullptr;
  int size = 0;
  const Rule* rules = nullptr;
  int rule_count = 0;
  const Token* groups = nullptr;
  int group_tokens = 0;
  Optimizer optimizer;
  double clip = 0;
  const Expression* schedule = nullptr;
  double average = 0;
  Counts given;

  constexpr const Token& operator[](int i) const { return chunks[i / kChunk].tokens[i % kChunk]; }
};

template <int N, int M, int G>
constexpr Program assemble(const Model<N>& model, const Settings<M, G>& settings) {
  return {model.spec.chunks,  N,
          settings.rules,     settings.rule_count,
          settings.groups,    settings.group_tokens,
          settings.optimizer, settings.clip,
          settings.schedule,  settings.average,
          settings.given};
}

}  // namespace halftone::dsl
