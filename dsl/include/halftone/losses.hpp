// SPDX-License-Identifier: Apache-2.0
// The losses, of values by name; the objective is the sum of weight * loss. Formulas:
// docs/spec/description.md, D29 to D31, D70 to D74, D105 and D107.
#pragma once

#include "halftone/layers.hpp"

namespace halftone::dsl {

struct LossWeight {
  double value = 1;
  const char* misuse = nullptr;
};
/// 0 makes the loss a metric: computed and read like the others, without a part in training, so
/// that it may be NaN (D6).
constexpr LossWeight weight(double factor) { return {factor}; }

struct SampleWeight {
  const char* input = nullptr;
  const char* misuse = nullptr;
};
/// What every row, or of mse and pointwise_loss every element, counts within the loss, which is
/// then a weighted mean: sum(w * l) / sum(w). An input of floats: for each label one; or of the
/// shape of what mse and pointwise_loss read, with or without its last dimension. What has weight 0
/// is left out, be it NaN. D70 to D73
constexpr SampleWeight sample_weight(const char* input) { return {input}; }

struct Summed {
  const char* misuse = nullptr;
};
/// The loss is the sum over its summands, not their mean: torch's reduction="sum". D71
inline constexpr Summed summed{};

struct ClassWeights {
  const char* misuse = nullptr;
};
/// Every row of a cross_entropy counts what the class of its label does: torch's weight=. The state
/// NAME.class_weight (classes) holds it, 1 until set_state() says more; no step moves it, and it
/// goes with the parameters. Not with label_smoothing(). D71
inline constexpr ClassWeights class_weights{};

struct IgnoreIndex {
  long long label = 0;
  const char* misuse = nullptr;
};
/// The label of rows that cross_entropy leaves out: they have weight 0. D70 to D73
template <Whole Label>
constexpr IgnoreIndex ignore_index(Label label) {
  return {whole_number(label)};
}

struct LabelSmoothing {
  double share = 0;
  const char* misuse = nullptr;
};
/// The share of cross_entropy's target that all classes have in equal parts, the label among them:
/// above 0 and at most 1, as torch's. D29
template <class Share>
  requires(std::is_arithmetic_v<Share>)
constexpr LabelSmoothing label_smoothing(Share share) {
  return {static_cast<double>(share)};
}

struct ZLoss {
  double weight = 0;
  const char* misuse = nullptr;
};
/// Adds weight * log(sum of exp(logits))^2 to cross_entropy in every row, so that logits stay near
/// 0; PaLM takes 1e-4. D29
template <class Weight>
  requires(std::is_arithmetic_v<Weight>)
constexpr ZLoss z_loss(Weight weight) {
  return {static_cast<double>(weight)};
}

struct ChunkRows {
  long long rows = 0;
  const char* misuse = nullptr;
};
/// How many rows of its logits cross_entropy may have in memory at a time, be they as many as a
/// batch has. The linear that they come from has no bias and no other reader. No bit depends on it,
/// but for the order in which a GPU sums that linear's weight gradient. D74
template <Whole Rows>
constexpr ChunkRows chunk_rows(Rows rows) {
  return {whole_number(rows)};
}

namespace building {
template <class... Options>
concept LossOptions = kFits<void(LossWeight, SampleWeight, Summed), Options...>;

constexpr Token setting_token(const IgnoreIndex& ignored) {
  return setting<CrossEntropy>("ignore_index", static_cast<double>(ignored.label));
}
constexpr Token setting_token(const LabelSmoothing& smoothing) {
  return setting<CrossEntropy>("label_smoothing", smoothing.share);
}
constexpr Token setting_token(const ZLoss& added) {
  return setting<CrossEntropy>("z_loss", added.weight);
}
constexpr Token setting_token(const SoftCap& bound) {
  return setting<CrossEntropy>("soft_cap", bound.cap);
}
constexpr Token setting_token(const ChunkRows& chunk) {
  return setting<CrossEntropy>("chunk_rows", static_cast<double>(chunk.rows));
}
constexpr Token setting_token(const ClassWeights&) { return {.part = Part::with}; }

/// A loss, then those of its options that are settings.
template <int N>
constexpr auto with_settings(const Spec<N>& loss) {
  return loss;
}
template <int N, class Option, class... Options>
constexpr auto with_settings(const Spec<N>& loss, const Option& option, const Options&... options) {
  if constexpr (requires { building::setting_token(option); })
    return with_settings(loss | one(building::setting_token(option)), options...);
  else
    return with_settings(loss, options...);
}

/// Takes the option of its type.
template <class Option>
constexpr void take(Option& to, const Option& option) {
  to = option;
}
constexpr void take(auto&, const auto&) {}

/// What states that a loss of the kind is a sum.
constexpr Token summed_token(description::Kind kind) {
  const auto& settings = description::form_of(kind).settings;
  unsigned char i = 0;
  while (i < settings.size && !same_text(settings[i].name, description::kSummed.name)) ++i;
  return {.part = Part::setting, .detail = i, .x = 1};
}
/// A loss as a sum, where an option says so.
template <class... Options, int N>
constexpr auto summed_if(const Spec<N>& loss) {
  if constexpr (kTimes<Summed, Options...> == 0) {
    return loss;
  } else {
    Spec<N + 1> result;
    result[0] = loss[0];
    result[1] = summed_token(loss[0].kind());
    for (int i = 1; i < N; ++i) result[i + 1] = loss[i];
    return result;
  }
}

/// A loss with its operands, then with what stands behind them.
template <int N, class... Options>
constexpr auto weighed(const Spec<N>& of, const Options&... options) {
  auto loss = summed_if<Options...>(of);
  LossWeight factor;
  SampleWeight samples;
  (take(factor, options), ...);
  (take(samples, options), ...);
  const char* misuse = nullptr;
  ((misuse = options.misuse != nullptr ? options.misuse : misuse), ...);
  if (misuse != nullptr) loss[0] = misused(misuse)[0];
  const Spec<1> ends = one({.part = Part::loss_weight, .x = factor.value});
  if constexpr (kTimes<SampleWeight, Options...> == 0) {
    return Section{loss | ends};
  } else {
    return Section{loss | one({.part = Part::weights, .name = samples.input}) | ends};
  }
}
template <int N, class... Options>
constexpr auto loss(const Spec<N>& of, const char* first, const char* second,
                    const Options&... options) {
  return weighed(join(of, one({.part = Part::operand, .name = first}),
                      one({.part = Part::operand, .name = second})),
                 options...);
}
template <class... Options>
constexpr auto loss(const Token& of, const char* first, const char* second,
                    const Options&... options) {
  return loss(one(of), first, second, options...);
}
template <class F, int... N>
constexpr auto of_function(const char* name, const char (&... values)[N]) {
  constexpr bool accepted = requires(const F& f, tracing::ScalarAt<N>... of) { f(of...); };
  const Expression* expression = &tracing::expression_of<F, accepted, sizeof...(N)>;
  return join(one(function<PointwiseLoss>(name, expression)), one(operand_token(values))...);
}
}  // namespace building

/// Softmax and cross-entropy of logits (rows..., classes) and labels (rows...), mean over the rows,
/// with sample_weight(), class_weights or ignore_index() weighted, `summed` their sum; with
/// label_smoothing(), z_loss(), soft_cap() and chunk_rows() as they say. D29
///   cross_entropy("error", "logits", "letter", sample_weight("importance"), ignore_index(-100))
template <class... Options>
  requires(building::kFits<void(LossWeight, SampleWeight, ClassWeights, IgnoreIndex, LabelSmoothing,
                                ZLoss, SoftCap, ChunkRows, Summed),
                           Options...>)
constexpr auto cross_entropy(const char* name, const char* logits, const char* label,
                             const Options&... options) {
  return building::loss(
      building::with_settings(one(building::node<building::CrossEntropy>(name)), options...),
      logits, label, options...);
}

/// Softmax and cross-entropy of logits (rows..., classes) and a target of the same shape, the share
/// of every class, as torch's CrossEntropyLoss has it of probabilities; mean over the rows, with
/// sample_weight() weighted, `summed` their sum. The target is an input, or computed, and then has
/// a gradient, too. D105
///   soft_cross_entropy("distilled", "logits", "teacher")
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto soft_cross_entropy(const char* name, const char* logits, const char* target,
                                  const Options&... options) {
  return building::loss(building::node<building::SoftCrossEntropy>(name), logits, target,
                        options...);
}

/// Of two values (rows..., columns) 1 - cosine in rows whose target is 1, and what the cosine is
/// above `margin` where it is -1; mean over the rows, with sample_weight() weighted, `summed` their
/// sum. torch.nn.CosineEmbeddingLoss. D107
template <class Margin, class... Options>
  requires(std::is_arithmetic_v<Margin> && building::LossOptions<Options...>)
constexpr auto cosine_embedding(const char* name, const char* first, const char* second,
                                const char* target, Margin margin, const Options&... options) {
  return building::weighed(
      join(one(building::node_with<building::CosineEmbedding>(name, static_cast<double>(margin))),
           one({.part = Part::operand, .name = first}),
           one({.part = Part::operand, .name = second}),
           one({.part = Part::operand, .name = target})),
      options...);
}
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto cosine_embedding(const char* name, const char* first, const char* second,
                                const char* target, const Options&... options) {
  return cosine_embedding(name, first, second, target, 0, options...);
}

/// Mean of the squared differences of two values of one shape, with sample_weight() weighted,
/// `summed` their sum. D30
template <class... Options>
  requires(building::LossOptions<Options...>)
constexpr auto mse(const char* name, const char* value, const char* target,
                   const Options&... options) {
  return building::loss(building::node<building::Mse>(name), value, target, options...);
}

/// Mean of the user's function of values of one shape, with sample_weight() weighted. D31
///   pointwise_loss("charbonnier", [](auto x, auto y) { return sqrt((x - y) * (x - y) + 1e-6); },
///   "y", "target")
/// summed, weight() and sample_weight(), in this order, stand before the values.
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F, LossWeight factor, const char (&... values)[N]) {
  return building::weighed(building::of_function<F>(name, values...), factor);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F, LossWeight factor, SampleWeight samples,
                              const char (&... values)[N]) {
  return building::weighed(building::of_function<F>(name, values...), factor, samples);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F function, const char (&... values)[N]) {
  return pointwise_loss(name, function, weight(1.0), values...);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F function, SampleWeight samples,
                              const char (&... values)[N]) {
  return pointwise_loss(name, function, weight(1.0), samples, values...);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F, Summed sum, LossWeight factor,
                              const char (&... values)[N]) {
  return building::weighed(building::of_function<F>(name, values...), sum, factor);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F, Summed sum, LossWeight factor,
                              SampleWeight samples, const char (&... values)[N]) {
  return building::weighed(building::of_function<F>(name, values...), sum, factor, samples);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F function, Summed sum,
                              const char (&... values)[N]) {
  return pointwise_loss(name, function, sum, weight(1.0), values...);
}
template <class F, int... N>
constexpr auto pointwise_loss(const char* name, F function, Summed sum, SampleWeight samples,
                              const char (&... values)[N]) {
  return pointwise_loss(name, function, sum, weight(1.0), samples, values...);
}

}  // namespace halftone::dsl
