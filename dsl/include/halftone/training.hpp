// SPDX-License-Identifier: Apache-2.0
// Clipping, schedules, and the whole that HALFTONE_MODEL puts together from a model and its
// settings.
#pragma once

#include <type_traits>

#include "halftone/description/stages.hpp"
#include "halftone/layers.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/model.hpp"
#include "halftone/optimizers.hpp"
#include "halftone/precision.hpp"

namespace halftone::dsl {

struct Clip {
  double norm;
};
/// Scales all gradients down together when their norm exceeds `norm` (U2).
constexpr Clip clip(double norm) { return {norm}; }

struct ClipValue {
  double size;
};
/// Takes every element of the gradient into [-size, size] (U2), behind a clip of the norm: torch's
/// clip_grad_value_.
constexpr ClipValue clip_value(double size) { return {size}; }

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

struct Stages {
  const char* names[description::kMostStages]{};
  int count = 0;  ///< more than there is room for is refused
};
/// The parts of a run that rules tell apart by during(...) (P66), the first one first; a trainer
/// goes from one to another by enter(...). Names are letters, digits, '_' and '-'.
///   stages("warmup", "full", "predict", "correct")
template <class... Names>
  requires(std::is_convertible_v<const Names&, const char*> && ...)
constexpr Stages stages(const Names&... names) {
  Stages result;
  const auto add = [&](const char* name) {
    if (result.count < description::kMostStages) result.names[result.count] = name;
    ++result.count;
  };
  (add(names), ...);
  return result;
}

template <int N>
struct Group {
  Token tokens[N];
};
namespace building {
template <int N>
constexpr const Spec<N>& group_option(const ParameterOptions<N>& option) {
  return option.tokens;
}
constexpr Spec<1> group_option(Clip clip) {
  return one({.part = Part::group_clip, .x = clip.norm});
}

template <class Option>
inline constexpr bool kOfGroups = requires(const Option& option) { group_option(option); };

template <int... N>
constexpr auto group(const char* names, const Spec<N>&... options) {
  Group<(N + ... + 1)> result{{{.part = Part::group, .name = names}}};
  int at = 0;
  const auto add = [&]<int M>(const Spec<M>& option) {
    for (int i = 0; i < M; ++i) result.tokens[++at] = option[i];
  };
  (add(options), ...);
  return result;
}
}  // namespace building

/// Options of all parameters whose names match the glob, such as "**.bias" or "encoder/**" (P3's
/// globs): frozen, no_decay, learning_rate_scale(), init_constant() and its like, and clip(), which
/// scales the gradients of the group down together when their norm exceeds it: torch's
/// clip_grad_norm_ of the group's parameters (U2). Of several groups the last one that matches
/// wins, option by option; what a layer states itself wins over groups. A group that names no
/// parameter is refused when the model is described.
///   group("**.bias", no_decay), group("embed.*", learning_rate_scale(0.1), init_normal(0, 0.02)),
///   group("**", clip(1.0)), group("encoder/**", clip(0.1))
template <class... Options>
  requires(building::kOfGroups<Options> && ...)
constexpr auto group(const char* names, const Options&... options) {
  return building::group(names, building::group_option(options)...);
}

/// How often HALFTONE_MODEL is given each setting, and what is none.
struct Counts {
  int precisions = 0, optimizers = 0, clips = 0, value_clips = 0, schedules = 0, averages = 0,
      stages = 0, strangers = 0;
};

/// What HALFTONE_MODEL takes after the model, gathered; at most one of each.
template <int N, int G>
struct Settings {
  Rule rules[N > 0 ? N : 1]{};
  int rule_count = N;
  Token groups[G > 0 ? G : 1]{};  ///< each group's, one after another
  int group_tokens = 0;
  Optimizer optimizer;
  double clip = 0, clip_value = 0;
  const Expression* schedule = nullptr;
  double average = 0;
  Stages stages;
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
constexpr void set(Settings<N, G>& settings, const ClipValue& clip) {
  settings.clip_value = clip.size;
  ++settings.given.value_clips;
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
template <int N, int G>
constexpr void set(Settings<N, G>& settings, const Stages& stages) {
  settings.stages = stages;
  ++settings.given.stages;
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
  double clip = 0, clip_value = 0;
  const Expression* schedule = nullptr;
  double average = 0;
  Stages stages;
  Counts given;

  constexpr const Token& operator[](int i) const { return chunks[i / kChunk].tokens[i % kChunk]; }
};

template <int N, int M, int G>
constexpr Program assemble(const Model<N>& model, const Settings<M, G>& settings) {
  return {model.spec.chunks,   N,
          settings.rules,      settings.rule_count,
          settings.groups,     settings.group_tokens,
          settings.optimizer,  settings.clip,
          settings.clip_value, settings.schedule,
          settings.average,    settings.stages,
          settings.given};
}

}  // namespace halftone::dsl
