// SPDX-License-Identifier: Apache-2.0
// Calls that fit none of the sources, losses and sections of a model (misuse.hpp).
#pragma once

#include "halftone/loss_scale.hpp"
#include "halftone/losses.hpp"
#include "halftone/misused.hpp"
#include "halftone/pointwise.hpp"
#include "halftone/segments.hpp"
#include "halftone/training.hpp"

namespace halftone::dsl {

constexpr Section<1> tensor(const auto&...) {
  return building::misused_section(
      "tensor takes a name and dimensions that are whole numbers or symbols: write tensor(\"x\", "
      "batch, 64), or with an element and options tensor(\"x\", u8, batch, 64, scale(0.5))");
}
constexpr Section<1> labels(const auto&...) {
  return building::misused_section(
      "labels takes a name and dimensions that are whole numbers or symbols: write "
      "labels(\"digit\", batch)");
}
constexpr Section<1> tokens(const auto&...) {
  return building::misused_section(
      "tokens takes a name and dimensions that are whole numbers or symbols: write "
      "tokens(\"word\", batch, 64)");
}
constexpr Section<1> positions(const auto&...) {
  return building::misused_section(
      "positions takes a name and dimensions that are whole numbers or symbols: write "
      "positions(\"place\", batch, 64)");
}
constexpr Section<1> lengths(const auto&...) {
  return building::misused_section(
      "lengths takes a name and dimensions that are whole numbers or symbols: write "
      "lengths(\"length\", batch)");
}
constexpr Section<1> key_masks(const auto&...) {
  return building::misused_section(
      "key_masks takes a name and dimensions that are whole numbers or symbols: write "
      "key_masks(\"kept\", batch, 64)");
}
constexpr Section<1> segments(const auto&...) {
  return building::misused_section(
      "segments takes a name and dimensions that are whole numbers or symbols: write "
      "segments(\"document\", batch, 64)");
}
constexpr Section<1> state(const auto&...) {
  return building::misused_section(
      "state takes a name, initial() and dimensions: write state(\"mean\", initial(0), batch, 8)");
}
constexpr Section<1> assign(const auto&...) {
  return building::misused_section(
      "assign takes the names of a state and of a value: write assign(\"mean\", \"fc1\")");
}
constexpr Section<1> inputs(const auto&...) {
  return building::misused_section(
      "inputs takes tensor(), labels() and tokens(): write inputs(tensor(\"x\", batch, 64))");
}
constexpr Section<1> states(const auto&...) {
  return building::misused_section("states takes state(): write states(state(\"mean\", batch, 8))");
}
constexpr Section<1> assignments(const auto&...) {
  return building::misused_section(
      "assignments takes assign(): write assignments(assign(\"mean\", \"fc1\"))");
}
constexpr Section<1> losses(const auto&...) {
  return building::misused_section(
      "losses takes one loss or more: write losses(mse(\"loss\", \"guess\", \"y\"))");
}
constexpr Section<1> cross_entropy(const auto&...) {
  return building::misused_section(
      "cross_entropy takes the names of the loss, the logits and the label, and weight(), "
      "sample_weight(), class_weights, ignore_index(), label_smoothing(), z_loss(), soft_cap(), "
      "chunk_rows() and summed, each once: write cross_entropy(\"loss\", \"logits\", \"digit\")");
}
constexpr Section<1> mse(const auto&...) {
  return building::misused_section(
      "mse takes the names of the loss, the value and the target, and weight(), sample_weight() "
      "and summed, each once: write mse(\"loss\", \"guess\", \"y\")");
}
constexpr Section<1> soft_cross_entropy(const auto&...) {
  return building::misused_section(
      "soft_cross_entropy takes the names of the loss, the logits and the target, and weight(), "
      "sample_weight() and summed, each once: write soft_cross_entropy(\"loss\", \"logits\", "
      "\"shares\")");
}
constexpr Section<1> cosine_embedding(const auto&...) {
  return building::misused_section(
      "cosine_embedding takes the names of the loss, of two values and of the target, a margin, "
      "weight(), sample_weight() and summed, each once: write cosine_embedding(\"loss\", "
      "\"left\", \"right\", \"y\", 0.5)");
}
constexpr SampleWeight sample_weight(const auto&...) {
  return {nullptr,
          "sample_weight takes the name of an input: write cross_entropy(\"loss\", \"logits\", "
          "\"digit\", sample_weight(\"importance\"))"};
}
constexpr IgnoreIndex ignore_index(const auto&...) {
  return {0,
          "ignore_index takes a label, a whole number: write cross_entropy(\"loss\", \"logits\", "
          "\"digit\", ignore_index(-100))"};
}
constexpr LabelSmoothing label_smoothing(const auto&...) {
  return {0,
          "label_smoothing takes a number: write cross_entropy(\"loss\", \"logits\", \"digit\", "
          "label_smoothing(0.1))"};
}
constexpr ZLoss z_loss(const auto&...) {
  return {0,
          "z_loss takes a number: write cross_entropy(\"loss\", \"logits\", \"digit\", "
          "z_loss(1e-4))"};
}
constexpr SoftCap soft_cap(const auto&...) {
  return {0,
          "soft_cap takes a number: write cross_entropy(\"loss\", \"logits\", \"digit\", "
          "soft_cap(30))"};
}
constexpr ChunkRows chunk_rows(const auto&...) {
  return {0,
          "chunk_rows takes a whole number: write cross_entropy(\"loss\", \"logits\", \"digit\", "
          "chunk_rows(1024))"};
}
constexpr Section<1> l1(const auto&...) {
  return building::misused_section(
      "l1 takes the names of the loss, the value and the target, weight() and "
      "sample_weight(): write "
      "l1(\"loss\", \"guess\", \"y\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> huber(const T&...) {
  return building::misused_section(
      "huber takes the names of the loss, the value and the target, delta, weight() and "
      "sample_weight(): write "
      "huber(\"loss\", \"guess\", \"y\", 1.0)");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> smooth_l1(const T&...) {
  return building::misused_section(
      "smooth_l1 takes the names of the loss, the value and the target, beta, weight() and "
      "sample_weight(): write "
      "smooth_l1(\"loss\", \"guess\", \"y\", 1.0)");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> binary_cross_entropy_with_logits(const T&...) {
  return building::misused_section(
      "binary_cross_entropy_with_logits takes the names of the loss, the logits and the target, "
      "weight() and sample_weight(): write binary_cross_entropy_with_logits(\"loss\", \"logits\", "
      "\"y\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> poisson_nll(const T&...) {
  return building::misused_section(
      "poisson_nll takes the names of the loss, the logarithm of the rate and the count, "
      "weight() and sample_weight(): write poisson_nll(\"loss\", \"log_rate\", \"count\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> log_cosh(const T&...) {
  return building::misused_section(
      "log_cosh takes the names of the loss, the value and the target, weight() and "
      "sample_weight(): write log_cosh(\"loss\", \"guess\", \"y\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> hinge(const T&...) {
  return building::misused_section(
      "hinge takes the names of the loss, the value and the target, weight() and "
      "sample_weight(): write hinge(\"loss\", \"score\", \"y\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> hinge_embedding(const T&...) {
  return building::misused_section(
      "hinge_embedding takes the names of the loss, the value and the target, a margin, weight() "
      "and sample_weight(): write hinge_embedding(\"loss\", \"distance\", \"y\", 1.0)");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> soft_margin(const T&...) {
  return building::misused_section(
      "soft_margin takes the names of the loss, the value and the target, weight() and "
      "sample_weight(): write soft_margin(\"loss\", \"score\", \"y\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> margin_ranking(const T&...) {
  return building::misused_section(
      "margin_ranking takes the names of the loss, of two values and of the target, a margin, "
      "weight() and sample_weight(): write margin_ranking(\"loss\", \"better\", \"worse\", \"y\", "
      "0.5)");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Section<1> kl_div(const T&...) {
  return building::misused_section(
      "kl_div takes the names of the loss, the logarithm of a probability and the target, "
      "weight() and sample_weight(): write kl_div(\"loss\", \"log_p\", \"y\")");
}
constexpr Section<1> pointwise_loss(const auto&...) {
  return building::misused_section(
      "pointwise_loss takes a name, a lambda, weight(), sample_weight() and names of values: write "
      "pointwise_loss(\"loss\", [](auto x, auto y) { return abs(x - y); }, \"guess\", \"y\")");
}

constexpr OptimizerStates<1> own_states(const auto&...) { return {{""}}; }
constexpr Spec<1> standardize(const auto&...) {
  return building::misused("standardize takes a name: write standardize(\"norm\")");
}
constexpr ParameterOptions<1> init_truncated_normal(const auto&...) {
  return {building::misused(
      "init_truncated_normal takes a mean, a standard deviation and two ends: write "
      "init_truncated_normal(0, 0.02, -2, 2)")};
}
constexpr ParameterOptions<1> init_orthogonal(const auto&...) {
  return {building::misused(
      "init_orthogonal takes a gain: write init_orthogonal(), or init_orthogonal(gain_relu)")};
}
constexpr ParameterOptions<1> init_xavier_uniform(const auto&...) {
  return {building::misused(
      "init_xavier_uniform takes a gain: write init_xavier_uniform(), or "
      "init_xavier_uniform(gain_tanh)")};
}
constexpr ParameterOptions<1> init_xavier_normal(const auto&...) {
  return {building::misused(
      "init_xavier_normal takes a gain: write init_xavier_normal(), or "
      "init_xavier_normal(gain_tanh)")};
}
constexpr ParameterOptions<1> init_kaiming_uniform(const auto&...) {
  return {building::misused(
      "init_kaiming_uniform takes a gain and a fan: write init_kaiming_uniform(), or "
      "init_kaiming_uniform(gain_relu, fan_out)")};
}
constexpr ParameterOptions<1> init_kaiming_normal(const auto&...) {
  return {building::misused(
      "init_kaiming_normal takes a gain and a fan: write init_kaiming_normal(), or "
      "init_kaiming_normal(gain_relu, fan_out)")};
}

}  // namespace halftone::dsl
