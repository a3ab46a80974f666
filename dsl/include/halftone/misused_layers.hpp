// SPDX-License-Identifier: Apache-2.0
// Calls that fit none of the layers (misuse.hpp).
#pragma once

#include "halftone/attention.hpp"
#include "halftone/convolutions.hpp"
#include "halftone/gated.hpp"
#include "halftone/misused.hpp"
#include "halftone/pointwise.hpp"
#include "halftone/positions.hpp"
#include "halftone/resampling.hpp"
#include "halftone/segments.hpp"

namespace halftone::dsl {

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
constexpr Spec<1> segment_max(const auto&...) {
  return building::misused(
      "segment_max takes a name, a whole number of segments and the name of an input of "
      "segments(): write segment_max(\"largest\", 64, \"patch\")");
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

}  // namespace halftone::dsl
