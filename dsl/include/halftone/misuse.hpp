// SPDX-License-Identifier: Apache-2.0
// The calls that fit no function of the dsl: a forgotten size, a std::string, a loss in a chain.
// Each becomes a token, so that HALFTONE_MODEL says one sentence at the user's line, where the
// compiler would list candidates.
#pragma once

#include "halftone/attention.hpp"
#include "halftone/convolutions.hpp"
#include "halftone/gated.hpp"
#include "halftone/loss_scale.hpp"
#include "halftone/losses.hpp"
#include "halftone/model.hpp"
#include "halftone/pointwise.hpp"
#include "halftone/positions.hpp"
#include "halftone/resampling.hpp"
#include "halftone/segments.hpp"
#include "halftone/training.hpp"

namespace halftone::dsl {

namespace building {
constexpr Section<1> misused_section(const char* sentence) { return {misused(sentence)}; }

template <int N>
constexpr void take_chain(const Spec<N>&) {}
/// Also of what is derived from Spec, to which an overload for everything would be preferred.
template <class T>
concept Chain = requires(const T& layers) { take_chain(layers); };

/// What a function of the dsl becomes that stands without its parentheses: of its overloads only
/// the one for misuse takes a Nothing, and it says the sentence. All else has no sentence.
struct Nothing {};
struct Argument {
  const char* sentence = nullptr;
  constexpr Argument() = default;
  constexpr Argument(const auto&) {}
  constexpr Argument(Spec<1> (*bare)(const Nothing&)) : sentence(bare({})[0].name) {}
  constexpr Argument(Section<1> (*bare)(const Nothing&)) : sentence(bare({}).spec[0].name) {}
  constexpr Argument(Model<1> (*bare)(const Nothing&)) : sentence(bare({}).spec[0].name) {}
  constexpr Argument(LinearOption (*bare)(const Nothing&)) : sentence(bare({}).token.name) {}
  constexpr Argument(SharedOption (*bare)(const Nothing&)) : sentence(bare({}).token.name) {}
};
/// A call that is no part of a lambda.
template <class... T>
concept Outside = !(std::is_same_v<T, Scalar> || ...);
/// Says the sentence of the first that has one, otherwise `sentence`.
template <int N>
constexpr Spec<1> misused(const Argument (&arguments)[N], const char* sentence) {
  for (const Argument& argument : arguments)
    if (argument.sentence != nullptr) return misused(argument.sentence);
  return misused(sentence);
}
}  // namespace building

// ---- layers ----

constexpr Spec<1> linear(const auto&...) {
  return building::misused(
      "linear takes a name and a whole number of outputs: write linear(\"fc\", 64)");
}
constexpr Spec<1> causal_conv1d(const auto&...) {
  return building::misused(
      "causal_conv1d takes a name and a whole number of taps: write causal_conv1d(\"conv\", 4)");
}
constexpr Spec<1> conv1d(const auto&...) {
  return building::misused(
      "conv1d takes a name, whole numbers of outputs and of the kernel, and stride(), dilation(), "
      "padding() or same, with these reflect, replicate or circular, and groups(), each at most "
      "once and with a number or as many as dimensions: write conv1d(\"conv\", 64, 3)");
}
constexpr Spec<1> conv2d(const auto&...) {
  return building::misused(
      "conv2d takes a name, whole numbers of outputs and of the kernel, and stride(), dilation(), "
      "padding() or same, with these reflect, replicate or circular, and groups(), each at most "
      "once and with a number or as many as dimensions: write conv2d(\"conv\", 64, 3)");
}
constexpr Spec<1> conv3d(const auto&...) {
  return building::misused(
      "conv3d takes a name, whole numbers of outputs and of the kernel, and stride(), dilation(), "
      "padding() or same, with these reflect, replicate or circular, and groups(), each at most "
      "once and with a number or as many as dimensions: write conv3d(\"conv\", 64, 3)");
}
constexpr Spec<1> long_convolution(const auto&...) {
  return building::misused(
      "long_convolution takes a name and the name of a filter: write "
      "long_convolution(\"long\", \"filter\")");
}
constexpr Spec<1> conv_transpose1d(const auto&...) {
  return building::misused(
      "conv_transpose1d takes a name, whole numbers of outputs and of the kernel, and stride(), "
      "dilation(), padding() or same, output_padding() and groups(), each at most once and with a "
      "number or as many as dimensions: write conv_transpose1d(\"up\", 32, 4, stride(2))");
}
constexpr Spec<1> conv_transpose2d(const auto&...) {
  return building::misused(
      "conv_transpose2d takes a name, whole numbers of outputs and of the kernel, and stride(), "
      "dilation(), padding() or same, output_padding() and groups(), each at most once and with a "
      "number or as many as dimensions: write conv_transpose2d(\"up\", 32, 4, stride(2))");
}
constexpr Spec<1> conv_transpose3d(const auto&...) {
  return building::misused(
      "conv_transpose3d takes a name, whole numbers of outputs and of the kernel, and stride(), "
      "dilation(), padding() or same, output_padding() and groups(), each at most once and with a "
      "number or as many as dimensions: write conv_transpose3d(\"up\", 32, 4, stride(2))");
}
constexpr Spec<1> max_pool1d(const auto&...) {
  return building::misused(
      "max_pool1d takes a name, whole numbers of the kernel, and stride(), dilation() and "
      "padding() "
      "or same, each at most once and with a number or as many as dimensions: write "
      "max_pool1d(\"pool\", 2)");
}
constexpr Spec<1> max_pool2d(const auto&...) {
  return building::misused(
      "max_pool2d takes a name, whole numbers of the kernel, and stride(), dilation() and "
      "padding() "
      "or same, each at most once and with a number or as many as dimensions: write "
      "max_pool2d(\"pool\", 2)");
}
constexpr Spec<1> max_pool3d(const auto&...) {
  return building::misused(
      "max_pool3d takes a name, whole numbers of the kernel, and stride(), dilation() and "
      "padding() "
      "or same, each at most once and with a number or as many as dimensions: write "
      "max_pool3d(\"pool\", 2)");
}
constexpr Spec<1> avg_pool1d(const auto&...) {
  return building::misused(
      "avg_pool1d takes a name, whole numbers of the kernel, and stride(), padding() or same, and "
      "exclude_padding, each at most once and with a number or as many as dimensions: write "
      "avg_pool1d(\"pool\", 2)");
}
constexpr Spec<1> avg_pool2d(const auto&...) {
  return building::misused(
      "avg_pool2d takes a name, whole numbers of the kernel, and stride(), padding() or same, and "
      "exclude_padding, each at most once and with a number or as many as dimensions: write "
      "avg_pool2d(\"pool\", 2)");
}
constexpr Spec<1> avg_pool3d(const auto&...) {
  return building::misused(
      "avg_pool3d takes a name, whole numbers of the kernel, and stride(), padding() or same, and "
      "exclude_padding, each at most once and with a number or as many as dimensions: write "
      "avg_pool3d(\"pool\", 2)");
}
constexpr Spec<1> adaptive_max_pool1d(const auto&...) {
  return building::misused(
      "adaptive_max_pool1d takes a name and a whole number of windows: write "
      "adaptive_max_pool1d(\"pool\", 7)");
}
constexpr Spec<1> adaptive_max_pool2d(const auto&...) {
  return building::misused(
      "adaptive_max_pool2d takes a name and one or two whole numbers of windows: write "
      "adaptive_max_pool2d(\"pool\", 7)");
}
constexpr Spec<1> adaptive_max_pool3d(const auto&...) {
  return building::misused(
      "adaptive_max_pool3d takes a name and one or three whole numbers of windows: write "
      "adaptive_max_pool3d(\"pool\", 7)");
}
constexpr Spec<1> adaptive_avg_pool1d(const auto&...) {
  return building::misused(
      "adaptive_avg_pool1d takes a name and a whole number of windows: write "
      "adaptive_avg_pool1d(\"pool\", 7)");
}
constexpr Spec<1> adaptive_avg_pool2d(const auto&...) {
  return building::misused(
      "adaptive_avg_pool2d takes a name and one or two whole numbers of windows: write "
      "adaptive_avg_pool2d(\"pool\", 7)");
}
constexpr Spec<1> adaptive_avg_pool3d(const auto&...) {
  return building::misused(
      "adaptive_avg_pool3d takes a name and one or three whole numbers of windows: write "
      "adaptive_avg_pool3d(\"pool\", 7)");
}
constexpr Spec<1> global_avg_pool(const auto&...) {
  return building::misused("global_avg_pool takes a name: write global_avg_pool(\"pooled\")");
}
constexpr Spec<1> upsample1d(const auto&...) {
  return building::misused(
      "upsample1d takes a name, a whole number or factor() of as many as dimensions, and linearly: "
      "write upsample1d(\"up\", 2)");
}
constexpr Spec<1> upsample2d(const auto&...) {
  return building::misused(
      "upsample2d takes a name, a whole number or factor() of as many as dimensions, and bilinear: "
      "write upsample2d(\"up\", 2)");
}
constexpr Spec<1> upsample3d(const auto&...) {
  return building::misused(
      "upsample3d takes a name, a whole number or factor() of as many as dimensions, and "
      "trilinear: "
      "write upsample3d(\"up\", 2)");
}
constexpr Spec<1> pad1d(const auto&...) {
  return building::misused(
      "pad1d takes a name, padding() of one or two numbers, and one of reflect, replicate, "
      "circular and pad_value(): write pad1d(\"pad\", padding(1), reflect)");
}
constexpr Spec<1> pad2d(const auto&...) {
  return building::misused(
      "pad2d takes a name, padding() of one, two or four numbers, and one of reflect, replicate, "
      "circular and pad_value(): write pad2d(\"pad\", padding(1), reflect)");
}
constexpr Spec<1> pad3d(const auto&...) {
  return building::misused(
      "pad3d takes a name, padding() of one, three or six numbers, and one of reflect, replicate, "
      "circular and pad_value(): write pad3d(\"pad\", padding(1), reflect)");
}
constexpr Spec<1> pixel_shuffle(const auto&...) {
  return building::misused(
      "pixel_shuffle takes a name and a whole number, or factor() of as many as dimensions: write "
      "pixel_shuffle(\"up\", 2)");
}
constexpr Spec<1> pixel_unshuffle(const auto&...) {
  return building::misused(
      "pixel_unshuffle takes a name and a whole number, or factor() of as many as dimensions: "
      "write pixel_unshuffle(\"down\", 2)");
}
constexpr Spec<1> embedding(const auto&...) {
  return building::misused(
      "embedding takes a name and whole numbers of rows and columns: write embedding(\"embed\", "
      "50257, 768)");
}
constexpr Spec<1> segment_sum(const auto&...) {
  return building::misused(
      "segment_sum takes a name, a whole number of segments and the name of an input of "
      "segments(): write segment_sum(\"patches\", 64, \"patch\")");
}
constexpr Spec<1> segment_mean(const auto&...) {
  return building::misused(
      "segment_mean takes a name, a whole number of segments and the name of an input of "
      "segments(): write segment_mean(\"patches\", 64, \"patch\")");
}
constexpr Spec<1> segment_broadcast(const auto&...) {
  return building::misused(
      "segment_broadcast takes a name and the name of an input of segments(): write "
      "segment_broadcast(\"to_bytes\", \"patch\")");
}
constexpr Spec<1> layer_norm(const auto&...) {
  return building::misused(
      "layer_norm takes a name, epsilon() and options of parameters: write layer_norm(\"norm\")");
}
constexpr Spec<1> rms_norm(const auto&...) {
  return building::misused(
      "rms_norm takes a name, epsilon() and options of parameters: write rms_norm(\"norm\")");
}
constexpr Spec<1> batch_norm(const auto&...) {
  return building::misused(
      "batch_norm takes a name, epsilon(), momentum(), shared() and options of parameters: write "
      "batch_norm(\"norm\")");
}
constexpr Spec<1> group_norm(const auto&...) {
  return building::misused(
      "group_norm takes a name, a whole number of groups, epsilon(), shared() and options of "
      "parameters: write group_norm(\"norm\", 8)");
}
constexpr Spec<1> instance_norm(const auto&...) {
  return building::misused(
      "instance_norm takes a name, epsilon(), shared() and options of parameters: write "
      "instance_norm(\"norm\")");
}
constexpr Spec<1> dropout(const auto&...) {
  return building::misused("dropout takes a name and a rate: write dropout(\"drop\", 0.1)");
}
constexpr Spec<1> rotary(const auto&...) {
  return building::misused(
      "rotary takes a name, a whole number of heads, the name of the positions, and base(), "
      "interleaved, rotated() and linear_scaling() or llama3_scaling(), each once: write "
      "rotary(\"rope\", 8)");
}
constexpr Spec<1> position_embedding(const auto&...) {
  return building::misused(
      "position_embedding takes a name and a whole number of times: write "
      "position_embedding(\"places\", 1024)");
}
constexpr Spec<1> sinusoidal_embedding(const auto&...) {
  return building::misused(
      "sinusoidal_embedding takes a name, the name of the positions and base(): write "
      "sinusoidal_embedding(\"places\")");
}
constexpr Spec<1> swiglu(const auto&...) {
  return building::misused(
      "swiglu takes a name, whole numbers of hidden values and of outputs, no_bias and options of "
      "parameters: write swiglu(\"mlp\", 1024, 384)");
}
constexpr Spec<1> geglu(const auto&...) {
  return building::misused(
      "geglu takes a name, whole numbers of hidden values and of outputs, no_bias and options of "
      "parameters: write geglu(\"mlp\", 1024, 384)");
}
constexpr Spec<1> reglu(const auto&...) {
  return building::misused(
      "reglu takes a name, whole numbers of hidden values and of outputs, no_bias and options of "
      "parameters: write reglu(\"mlp\", 1024, 384)");
}
constexpr Spec<1> glu(const auto&...) {
  return building::misused(
      "glu takes a name, whole numbers of hidden values and of outputs, no_bias and options of "
      "parameters: write glu(\"mlp\", 1024, 384)");
}
template <class... T>
  requires(building::Outside<T...> && !(std::is_arithmetic_v<T> || ...))
constexpr Spec<1> tanh(const T&...) {
  return building::misused("tanh takes a name: write tanh(\"act\")");
}
template <class... T>
  requires(building::Outside<T...> && !(std::is_arithmetic_v<T> || ...))
constexpr Spec<1> sigmoid(const T&...) {
  return building::misused("sigmoid takes a name: write sigmoid(\"gate\")");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Spec<1> leaky_relu(const T&...) {
  return building::misused("leaky_relu takes a name and a slope: write leaky_relu(\"act\", 0.01)");
}
template <class... T>
  requires(building::Outside<T...>)
constexpr Spec<1> elu(const T&...) {
  return building::misused("elu takes a name and alpha: write elu(\"act\", 1.0)");
}
constexpr Spec<1> pointwise(const auto&...) {
  return building::misused(
      "pointwise takes a name, a lambda and names of values: write pointwise(\"gate\", "
      "[](auto x, auto y) { return x * y; }, \"other\")");
}
constexpr Spec<1> add(const auto&...) {
  return building::misused("add takes the name of a value: write add(\"x\")");
}
template <class... Parts>
  requires(!(building::Chain<Parts> && ...))
constexpr Spec<1> concat(const Parts&...) {
  return building::misused(
      "concat takes names of values, or chains that each begin at the current value: write "
      "concat(\"a\", \"b\")");
}
constexpr Spec<1> slice(const auto&...) {
  return building::misused(
      "slice takes a name and two whole numbers, the first column and the one behind the last: "
      "write slice(\"q\", 0, 64)");
}
constexpr Spec<1> matmul(const auto&...) {
  return building::misused(
      "matmul takes a name, the name of a value, transpose_a and transpose_b: write "
      "matmul(\"scores\", \"keys\", transpose_b)");
}
constexpr Spec<1> attention(const auto&...) {
  return building::misused(
      "attention takes a name, the names of keys and of values, heads(), and each at most once "
      "key_heads(), causal, window(), score_scale(), soft_cap(), alibi, dropout_rate(), "
      "length(), key_mask() and segment(): write attention(\"mix\", \"k\", \"v\", heads(8), "
      "causal)");
}
constexpr Spec<1> reshape(const auto&...) {
  return building::misused(
      "reshape takes a name and dimensions that are whole numbers or symbols: write "
      "reshape(\"heads\", batch, 12, 64)");
}
constexpr Spec<1> expand(const auto&...) {
  return building::misused(
      "expand takes a name and dimensions that are whole numbers or symbols: write "
      "expand(\"everywhere\", batch, 32, 32, 64)");
}
constexpr Spec<1> transpose(const auto&...) {
  return building::misused(
      "transpose takes a name and the numbers of all dimensions in their new order: write "
      "transpose(\"swap\", 0, 2, 1)");
}
constexpr LinearOption tied(const auto&...) {
  return LinearOption{
      building::misused("tied takes the name of a layer: write "
                        "linear(\"head\", 64, tied(\"embed\"))")[0]};
}
constexpr SharedOption shared(const auto&...) {
  return SharedOption{
      building::misused("shared takes the name of a layer: write "
                        "linear(\"right\", 64, shared(\"left\"))")[0]};
}
constexpr LinearOption padding_index(const auto&...) {
  return {
      building::misused("padding_index takes the number of a row: write embedding(\"embed\", "
                        "64, 16, padding_index(0))")[0]};
}
constexpr LinearOption kernel(const auto&...) { return {}; }  // the layer's sentence names it
constexpr LinearOption factor(const auto&...) { return {}; }  // likewise
constexpr LinearOption stride(const auto&...) {
  return {building::misused("stride takes whole numbers: write stride(2)")[0]};
}
constexpr LinearOption dilation(const auto&...) {
  return {building::misused("dilation takes whole numbers: write dilation(2)")[0]};
}
constexpr LinearOption padding(const auto&...) {
  return {
      building::misused("padding takes whole numbers, or write same in its place: write "
                        "padding(1)")[0]};
}
constexpr LinearOption output_padding(const auto&...) {
  return {building::misused("output_padding takes whole numbers: write output_padding(1)")[0]};
}
constexpr LinearOption groups(const auto&...) {
  return {building::misused("groups takes a whole number: write groups(4)")[0]};
}
constexpr LinearOption on_weight(const auto&...) {
  return {building::misused("on_weight takes options of parameters: write on_weight(no_decay)")[0]};
}
constexpr LinearOption on_bias(const auto&...) {
  return {building::misused("on_bias takes options of parameters: write on_bias(no_decay)")[0]};
}

// ---- sources and sections ----

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

// ---- chains ----

constexpr Spec<1> from(const auto&...) {
  return building::misused("from takes the name of a value: write from(\"x\")");
}
constexpr Spec<1> as(const auto&...) {
  return building::misused("as takes a name: write as(\"sum\")");
}
constexpr Spec<1> output(const auto&...) {
  return building::misused("output takes a name: write output(\"logits\")");
}
template <class... Parts>
  requires(sizeof...(Parts) != 1 || !(building::Chain<Parts> && ...))
constexpr Spec<1> residual(const Parts&...) {
  return building::misused(
      "residual takes one chain of layers: write residual(linear(\"fc\", 64) | relu)");
}
constexpr Spec<1> named(const auto&...) {
  return building::misused(
      "named takes a name and a chain of layers: write named(\"mlp\", linear(\"fc\", 64) | relu)");
}
constexpr Spec<1> repeat(const auto&...) {
  return building::misused(
      "repeat takes its number in <>, a name and a chain of layers: write repeat<3>(\"h\", "
      "linear(\"fc\", 64) | relu)");
}
template <long long Count>
constexpr Spec<1> repeat(const auto& name_or_body) {
  return repeat(name_or_body);
}
template <long long Count, class Body>
  requires(!building::Chain<Body>)
constexpr Spec<1> repeat(const auto& name, const Body& body, const auto&... more) {
  return repeat(name, body, more...);
}
template <int A, int B>
constexpr auto operator|(const Spec<A>&, const Section<B>&) {
  return building::misused(
      "a loss, input, state or section stands in a chain: write it beside the chain, as in "
      "model(\"net\", inputs(...), from(\"x\") | linear(\"fc\", 64), losses(...))");
}
template <int A, int B>
constexpr auto operator|(const Section<A>&, const Spec<B>&) {
  return building::misused(
      "a chain begins with an input, state or section: begin it with from(\"x\")");
}
template <int B>
constexpr auto operator|(const char*, const Spec<B>&) {
  return building::misused("a chain begins with a text: begin it with from(\"x\")");
}

/// In the place of a model: it says the sentence, whatever the arguments are.
constexpr Model<1> model(const auto&...) {
  return building::whole(building::misused(
      "model takes a name, sections and chains: write model(\"net\", inputs(...), from(\"x\") | "
      "linear(\"fc\", 64), losses(...)), and give rules and optimizer to HALFTONE_MODEL"));
}

// ---- functions without their parentheses, where one of any type fits no template ----

template <int A>
constexpr auto operator|(const Spec<A>&, building::Argument part) {
  return building::misused({part},
                           "a chain holds what is no layer: write it as in from(\"x\") | "
                           "linear(\"fc\", 64) | relu");
}
template <int B>
constexpr auto operator|(building::Argument part, const Spec<B>&) {
  return building::misused({part}, "a chain begins with no layer: begin it with from(\"x\")");
}
constexpr Spec<1> layer_norm(const char*, building::Argument a, building::Argument b = {},
                             building::Argument c = {}) {
  return building::misused({a, b, c}, layer_norm(0)[0].name);
}
constexpr Spec<1> rms_norm(const char*, building::Argument a, building::Argument b = {},
                           building::Argument c = {}) {
  return building::misused({a, b, c}, rms_norm(0)[0].name);
}
constexpr Spec<1> batch_norm(const char*, building::Argument a, building::Argument b = {},
                             building::Argument c = {}) {
  return building::misused({a, b, c}, batch_norm(0)[0].name);
}
constexpr Spec<1> residual(building::Argument body) {
  return building::misused({body}, residual(0)[0].name);
}
constexpr Spec<1> named(const char*, building::Argument body) {
  return building::misused({body}, named(0)[0].name);
}
template <long long Count>
constexpr Spec<1> repeat(const char*, building::Argument body) {
  return building::misused({body}, repeat(0)[0].name);
}
constexpr Spec<1> concat(building::Argument a, building::Argument b = {}, building::Argument c = {},
                         building::Argument d = {}) {
  return building::misused({a, b, c, d}, concat(0)[0].name);
}
constexpr Section<1> inputs(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, inputs(0).spec[0].name)};
}
constexpr Section<1> states(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, states(0).spec[0].name)};
}
constexpr Section<1> assignments(building::Argument a, building::Argument b = {},
                                 building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, assignments(0).spec[0].name)};
}
constexpr Section<1> losses(building::Argument a, building::Argument b = {},
                            building::Argument c = {}, building::Argument d = {}) {
  return {building::misused({a, b, c, d}, losses(0).spec[0].name)};
}
constexpr Model<1> model(const char*, building::Argument a, building::Argument b = {},
                         building::Argument c = {}, building::Argument d = {},
                         building::Argument e = {}, building::Argument f = {}) {
  return {building::misused({a, b, c, d, e, f}, model().spec[0].name)};
}

// ---- rules ----

constexpr Selector layer(const auto&...) { return selecting::unnamed(); }
constexpr Selector op(const auto&...) { return selecting::unnamed(); }
constexpr Selector on(const auto&...) { return selecting::unnamed(); }
template <class T>
  requires(!std::is_base_of_v<Selector, T> && !building::Chain<T>)
constexpr Selector operator|(const Selector&, const T&) {
  return selecting::unnamed();
}
template <class T>
  requires(!std::is_base_of_v<Selector, T> && !building::Chain<T>)
constexpr Selector operator&(const Selector&, const T&) {
  return selecting::unnamed();
}
constexpr Selection where(const auto&, const auto&, const auto&...) { return where(0); }
constexpr Scaled scaled(const auto&...) { return {f32, false}; }
constexpr FieldOfRule store(const auto&...) {
  return stating::stranger(description::rules::Field::store);
}
constexpr FieldOfRule compute(const auto&...) {
  return stating::stranger(description::rules::Field::compute);
}
constexpr FieldOfRule result(const auto&...) {
  return stating::stranger(description::rules::Field::result);
}
constexpr FieldOfRule accumulate(const auto&...) {
  return stating::stranger(description::rules::Field::accumulate);
}
constexpr FieldOfRule master(const auto&...) {
  return stating::stranger(description::rules::Field::master);
}
constexpr FieldOfRule rounding(const auto&...) {
  return stating::stranger(description::rules::Field::rounding);
}
constexpr FieldOfRule recompute(const auto&...) {
  return stating::stranger(description::rules::Field::recompute);
}

}  // namespace halftone::dsl
