// SPDX-License-Identifier: Apache-2.0
// What fits no function of the dsl, and what only C++ can say.
#include <algorithm>
#include <cases.hpp>
#include <cmath>
#include <string>
#include <string_view>

constexpr std::string_view viewed = "fc";

// EXPECT size_missing: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace size_missing {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear("fc"), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace size_missing

// EXPECT size_as_text: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace size_as_text {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear("fc", "4"), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace size_as_text

// EXPECT size_with_fraction: linear takes a name and a whole number of outputs: write linear("fc",
// 64)
namespace size_with_fraction {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear("fc", 4.5), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace size_with_fraction

// EXPECT name_missing: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace name_missing {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear(4), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace name_missing

// EXPECT name_as_view: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace name_as_view {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear(viewed, 4), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace name_as_view

// EXPECT name_as_string: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace name_as_string {
const std::string name = "fc";
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | either(linear(name, 4), linear("fc", 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace name_as_string

// EXPECT layer_norm_number: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace layer_norm_number {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") |
                               either(layer_norm("norm", 1e-5) | linear("fc", 4),
                                      layer_norm("norm", epsilon(1e-5)) | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace layer_norm_number

// EXPECT causal_conv1d_without_taps: causal_conv1d takes a name and a whole number of taps: write
// causal_conv1d("conv", 4)
namespace causal_conv1d_without_taps {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") |
                               either(causal_conv1d("conv", no_bias) | linear("fc", 4),
                                      causal_conv1d("conv", 4, no_bias) | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace causal_conv1d_without_taps

// EXPECT batch_norm_momenta: batch_norm takes a name, epsilon(), momentum(), shared() and options
// of parameters: write batch_norm("norm")
namespace batch_norm_momenta {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") |
        either(batch_norm("norm", momentum(0.1), epsilon(1e-3), momentum(0.1)) | linear("fc", 4),
               batch_norm("norm", momentum(0.1), epsilon(1e-3)) | linear("fc", 4)) |
        output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace batch_norm_momenta

// EXPECT turned_twice: layer 'down' names 'back', which uses another layer's weight transposed:
// name the layer that owns it
namespace turned_twice {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 8)),
                           from("x") | linear("in", 8) | linear("back", 8, tied("in", transposed)) |
                               linear("down", 8, shared(either("back", "in"))) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace turned_twice

// EXPECT batch_norm_without_rows: layer 'norm' reads [8], which has no rows to normalize over: give
// it a dimension in front of its columns
namespace batch_norm_without_rows {
constexpr auto net =
    model("net",
          inputs(either(tensor("x", 8), tensor("x", batch, 8)),
                 either(tensor("y", 8), tensor("y", batch, 8))),
          from("x") | batch_norm("norm") | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace batch_norm_without_rows

// EXPECT batch_norm_without_name: batch_norm takes a name, epsilon(), momentum(), shared() and
// options of parameters: write batch_norm("norm")
namespace batch_norm_without_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") |
                               either(batch_norm(momentum(0.1)) | linear("fc", 4),
                                      batch_norm("norm", momentum(0.1)) | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace batch_norm_without_name

// EXPECT batch_norm_bad_momentum: layer 'norm' has a momentum that is not in [0, 1]: write
// momentum(0.1)
namespace batch_norm_bad_momentum {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | batch_norm("norm", momentum(either(1.5, 0.5))) | linear("fc", 4) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace batch_norm_bad_momentum

// EXPECT global_avg_pool_of_a_size: global_avg_pool takes a name: write global_avg_pool("pooled")
namespace global_avg_pool_of_a_size {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") | either(global_avg_pool("pooled", 2), global_avg_pool("pooled")) | output("z"));
MODEL(net, rules)
}  // namespace global_avg_pool_of_a_size

// EXPECT global_avg_pool_without_images: layer 'pooled' reads [8], which has no images: give it a
// dimension in front of its channels
namespace global_avg_pool_without_images {
constexpr auto net = model("net", inputs(either(tensor("x", 8), tensor("x", batch, 8))),
                           from("x") | global_avg_pool("pooled") | as("mean") | output("z"));
MODEL(net, rules)
}  // namespace global_avg_pool_without_images

// EXPECT group_norm_without_groups: group_norm takes a name, a whole number of groups, epsilon(),
// shared() and options of parameters: write group_norm("norm", 8)
namespace group_norm_without_groups {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), tensor("y", batch, 9, 8)),
          from("x") | either(group_norm("norm"), group_norm("norm", 4)) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace group_norm_without_groups

// EXPECT group_norm_of_a_part: layer 'norm' cuts 8 channels into 3 groups: make them a multiple of
// the groups
namespace group_norm_of_a_part {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8), tensor("y", batch, 9, 8)),
                           from("x") | group_norm("norm", either(3, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace group_norm_of_a_part

// EXPECT group_norm_of_none: layer 'norm' has a number of groups that is not in [1, 65536]: write
// groups(8)
namespace group_norm_of_none {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8), tensor("y", batch, 9, 8)),
                           from("x") | group_norm("norm", either(0, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace group_norm_of_none

// EXPECT group_norm_without_images: layer 'norm' reads [8], which has no images to normalize: give
// it a dimension in front of its channels
namespace group_norm_without_images {
constexpr auto net =
    model("net",
          inputs(either(tensor("x", 8), tensor("x", batch, 8)),
                 either(tensor("y", 8), tensor("y", batch, 8))),
          from("x") | group_norm("norm", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace group_norm_without_images

// EXPECT group_norm_of_a_symbol: layer 'norm' reads [batch, 9, channels], whose channels are the
// symbol 'channels': give them a number
namespace group_norm_of_a_symbol {
constexpr auto net =
    model("net",
          inputs(either(tensor("x", batch, 9, symbol("channels")), tensor("x", batch, 9, 8)),
                 either(tensor("y", batch, 9, symbol("channels")), tensor("y", batch, 9, 8))),
          from("x") | instance_norm("norm") | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace group_norm_of_a_symbol

// EXPECT instance_norm_of_groups: instance_norm takes a name, epsilon(), shared() and options of
// parameters: write instance_norm("norm")
namespace instance_norm_of_groups {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), tensor("y", batch, 9, 8)),
          from("x") | either(instance_norm(4), instance_norm("norm")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace instance_norm_of_groups

// EXPECT expand_to_a_half: expand takes a name and dimensions that are whole numbers or symbols:
// write expand("everywhere", batch, 32, 32, 64)
namespace expand_to_a_half {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | expand("everywhere", batch, either(2.5, 2), 8) | output("z"));
MODEL(net, rules)
}  // namespace expand_to_a_half

// EXPECT expand_other_columns: layer 'everywhere' makes [batch, 5, 4] of [batch, 8] of input 'x',
// which has other rows or columns: write its dimensions, and those to repeat it over before the
// last one
namespace expand_other_columns {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | expand("everywhere", batch, 5, either(4, 8)) | output("z"));
MODEL(net, rules)
}  // namespace expand_other_columns

// EXPECT rms_norm_without_name: rms_norm takes a name, epsilon() and options of parameters: write
// rms_norm("norm")
namespace rms_norm_without_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") |
                               either(rms_norm(epsilon(1e-6)) | linear("fc", 4),
                                      rms_norm("norm", epsilon(1e-6)) | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace rms_norm_without_name

// EXPECT reshape_without_name: reshape takes a name and dimensions that are whole numbers or
// symbols: write reshape("heads", batch, 12, 64)
namespace reshape_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | either(reshape(batch, 2, 4), reshape("heads", batch, 2, 4)) | output("z"));
MODEL(net, rules)
}  // namespace reshape_without_name

// EXPECT reshape_to_a_half: reshape takes a name and dimensions that are whole numbers or symbols:
// write reshape("heads", batch, 12, 64)
namespace reshape_to_a_half {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | reshape("heads", batch, either(2.5, 2), 4) | output("z"));
MODEL(net, rules)
}  // namespace reshape_to_a_half

// EXPECT transpose_of_symbols: transpose takes a name and the numbers of all dimensions in their
// new order: write transpose("swap", 0, 2, 1)
namespace transpose_of_symbols {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | transpose("swap", 1, either(batch, 0)) | output("z"));
MODEL(net, rules)
}  // namespace transpose_of_symbols

// EXPECT dropout_without_rate: dropout takes a name and a rate: write dropout("drop", 0.1)
namespace dropout_without_rate {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | MISSPELT(dropout("drop"), dropout("drop", 0.1)) | linear("fc", 4) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace dropout_without_rate

// EXPECT relu_with_parentheses: relu, gelu, gelu_tanh, silu, softmax, log_softmax, softplus, mish,
// softsign, hard_sigmoid, hard_swish and selu take a name, or stand without parentheses: write
// relu, or relu("act")
namespace relu_with_parentheses {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | either(linear("fc", 4) | relu(), linear("fc", 4) | relu) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace relu_with_parentheses

// EXPECT relu_with_size: relu, gelu, gelu_tanh, silu, softmax, log_softmax, softplus, mish,
// softsign, hard_sigmoid, hard_swish and selu take a name, or stand without parentheses: write
// relu, or relu("act")
namespace relu_with_size {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | either(linear("fc", 4) | relu(4), linear("fc", 4) | relu("act")) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace relu_with_size

// EXPECT softmax_of_a_number: relu, gelu, gelu_tanh, silu, softmax, log_softmax, softplus, mish,
// softsign, hard_sigmoid, hard_swish and selu take a name, or stand without parentheses: write
// relu, or relu("act")
namespace softmax_of_a_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(softmax(4), softmax("share")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace softmax_of_a_number

// EXPECT softmax_of_a_scalar: layer 'share' reads a scalar but works on rows: give its input a
// dimension
namespace softmax_of_a_scalar {
constexpr auto net = model("net", inputs(either(tensor("x"), tensor("x", batch, 8))),
                           from("x") | log_softmax("share") | output("guess"));
MODEL(net, rules)
}  // namespace softmax_of_a_scalar

// EXPECT tanh_without_name: tanh takes a name: write tanh("act")
namespace tanh_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(tanh, tanh("act")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace tanh_without_name

// EXPECT sigmoid_without_name: sigmoid takes a name: write sigmoid("gate")
namespace sigmoid_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(sigmoid(), sigmoid("gate")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace sigmoid_without_name

// EXPECT leaky_relu_without_name: leaky_relu takes a name and a slope: write leaky_relu("act",
// 0.01)
namespace leaky_relu_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(leaky_relu(0.01), leaky_relu("act", 0.01)) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace leaky_relu_without_name

// EXPECT leaky_relu_of_infinity: leaky_relu takes a finite slope: write leaky_relu("act", 0.01)
namespace leaky_relu_of_infinity {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) |
              MISSPELT(leaky_relu("act", __builtin_inf()), leaky_relu("act", 1)) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace leaky_relu_of_infinity

// EXPECT elu_without_name: elu takes a name and alpha: write elu("act", 1.0)
namespace elu_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(elu(1.0), elu("act", 1.0)) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace elu_without_name

// EXPECT elu_of_nan: elu takes a finite alpha: write elu("act", 1.0)
namespace elu_of_nan {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | MISSPELT(elu("act", __builtin_nan("")), elu("act", 1)) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace elu_of_nan

// EXPECT added_layer: add takes the name of a value: write add("x")
namespace added_layer {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | either(linear("fc", 4) | add(relu), linear("fc", 4) | add("y")) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace added_layer

// EXPECT matmul_flag: matmul takes a name, the name of a value, transpose_a and transpose_b: write
// matmul("scores", "keys", transpose_b)
namespace matmul_flag {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", 5, 8)),
          from("x") | either(matmul("product", "w", true), matmul("product", "w", transpose_b)) |
              output("z"));
MODEL(net, rules)
}  // namespace matmul_flag

// EXPECT long_convolution_length: long_convolution takes a name and the name of a filter: write
// long_convolution("long", "filter")
namespace long_convolution_length {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8), tensor("w", 9, 8)),
    from("x") | either(long_convolution("long", 9), long_convolution("long", "w")) | output("z"));
MODEL(net, rules)
}  // namespace long_convolution_length

// EXPECT concatenated_number: concat takes names of values, or chains that each begin at the
// current value: write
namespace concatenated_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") |
              either(linear("fc", 2) | concat(2), linear("fc", 2) | concat(relu("a"), relu("b"))) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace concatenated_number

// EXPECT tied_to_number: tied takes the name of a layer: write linear("head", 64,
// tied("embed"))
namespace tied_to_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") |
              either(linear("fa", 8) | linear("fb", 8, tied(4)) | linear("fc", 4),
                     linear("fa", 8) | linear("fb", 8, tied("fa")) | linear("fc", 4)) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace tied_to_number

// EXPECT pointwise_without_lambda: pointwise takes a name, a lambda and names of values: write
namespace pointwise_without_lambda {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") |
              either(linear("fc", 4) | pointwise("act"),
                     linear("fc", 4) | pointwise("act", [](auto x) { return 2 * x; })) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace pointwise_without_lambda

// EXPECT output_number: output takes a name: write output("logits")
namespace output_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | either(linear("fc", 4) | output(4), linear("fc", 4) | output("z")) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace output_number

// EXPECT as_number: as takes a name: write as("sum")
namespace as_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | either(linear("fc", 4) | as(4), linear("fc", 4) | as("z")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace as_number

// EXPECT residual_of_many: residual takes one chain of layers: write residual(linear("fc", 64) |
// relu)
namespace residual_of_many {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") |
                               either(residual(relu("a"), relu("b")) | linear("fc", 4),
                                      residual(relu("a") | relu("b")) | linear("fc", 4)) |
                               output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace residual_of_many

// EXPECT repeat_number_as_argument: repeat takes its number in <>, a name and a chain of layers:
// write repeat<3>("h", linear("fc", 64) | relu)
namespace repeat_number_as_argument {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") |
        either(repeat("h", 3, relu) | linear("fc", 4), repeat<3>("h", relu) | linear("fc", 4)) |
        output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace repeat_number_as_argument

// EXPECT repeat_without_name: repeat takes its number in <>, a name and a chain of layers: write
namespace repeat_without_name {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | either(repeat<3>(relu) | linear("fc", 4), repeat<3>("h", relu) | linear("fc", 4)) |
        output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace repeat_without_name

// EXPECT input_before_chain: a chain begins with an input, state or section: begin it with
// from("x")
namespace input_before_chain {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    either(tensor("x", batch, 8) | linear("fc", 4), from("x") | linear("fc", 4)) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace input_before_chain

// EXPECT text_before_chain: a chain begins with a text: begin it with from("x")
namespace text_before_chain {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          either("x" | linear("fc", 4), from("x") | linear("fc", 4)) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace text_before_chain

// EXPECT from_number: from takes the name of a value: write from("x")
namespace from_number {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           either(from(viewed), from("x")) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace from_number

// EXPECT tensor_of_text: tensor takes a name and dimensions that are whole numbers or symbols:
// write tensor("x", batch, 64)
namespace tensor_of_text {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either("8", 8)), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace tensor_of_text

// EXPECT tensor_of_fraction: tensor takes a name and dimensions that are whole numbers or symbols:
// write
namespace tensor_of_fraction {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either(8.5, 8)), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace tensor_of_fraction

// EXPECT labels_of_text: labels takes a name and dimensions that are whole numbers or symbols:
// write labels("digit", batch)
namespace labels_of_text {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), labels("y", either("batch", batch))),
    from("x") | linear("fc", 4) | output("guess"), losses(cross_entropy("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace labels_of_text

// EXPECT tokens_of_text: tokens takes a name and dimensions that are whole numbers or symbols:
// write tokens("word", batch, 64)
namespace tokens_of_text {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tokens("next", either("batch", batch))),
    from("x") | linear("fc", 4) | output("guess"), losses(cross_entropy("loss", "guess", "next")));
MODEL(net, rules, adamw())
}  // namespace tokens_of_text

// EXPECT embedding_without_columns: embedding takes a name and whole numbers of rows and columns:
// write embedding("embed", 50257, 768)
namespace embedding_without_columns {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | either(embedding("embed", 64), embedding("embed", 64, 16)) | output("z"));
MODEL(net, rules)
}  // namespace embedding_without_columns

// EXPECT padding_of_text: padding_index takes the number of a row: write embedding("embed", 64, 16,
// padding_index(0))
namespace padding_of_text {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | embedding("embed", 64, 16, padding_index(either("0", 0))) | output("z"));
MODEL(net, rules)
}  // namespace padding_of_text

// EXPECT state_of_text: state takes a name, initial() and dimensions: write state("mean",
// initial(0), batch, 8)
namespace state_of_text {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | add("s") | output("z"),
                           states(state("s", batch, either("8", 8))));
MODEL(net, rules)
}  // namespace state_of_text

// EXPECT assign_of_one: assign takes the names of a state and of a value: write assign("mean",
// "fc1")
namespace assign_of_one {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("s") | as("t") | output("z"),
          states(state("s", batch, 8)), assignments(either(assign("s"), assign("s", "t"))));
MODEL(net, rules)
}  // namespace assign_of_one

// EXPECT inputs_of_text: inputs takes tensor(), labels() and tokens(): write inputs(tensor("x",
// batch, 64))
namespace inputs_of_text {
constexpr auto net =
    model("net", either(inputs("x", "y"), inputs(tensor("x", batch, 8), tensor("y", batch, 4))),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace inputs_of_text

// EXPECT rules_in_model: model takes a name, sections and chains: write model("net", inputs(...),
// from("x") | linear("fc", 64), losses(...)), and give rules and optimizer to HALFTONE_MODEL
namespace rules_in_model {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")),
          either(rules, from("x") | relu | output("z")));
MODEL(net, rules, adamw())
}  // namespace rules_in_model

// EXPECT model_of_view: model takes a name, sections and chains: write
namespace model_of_view {
constexpr auto net =
    model(either(viewed, "net"), inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace model_of_view

// EXPECT misspelt_layer: 'liner'
namespace misspelt_layer {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(liner, linear)("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace misspelt_layer

// EXPECT misspelt_activation: 'rellu'
namespace misspelt_activation {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | MISSPELT(rellu, relu) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace misspelt_activation

// EXPECT misspelt_model: 'nett'
namespace misspelt_model {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
#ifdef BROKEN
MODEL(nett, rules, adamw())
#else
MODEL(net, rules, adamw())
#endif
}  // namespace misspelt_model

// EXPECT misspelt_format: 'f8'
namespace misspelt_format {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, precision(everywhere(store(MISSPELT(f8, f16)))), adamw())
}  // namespace misspelt_format

// EXPECT condition_in_if: join with & and |, and write where(...)(fields)
namespace condition_in_if {
constexpr int chosen() {
  if (MISSPELT(layer("fc"), true)) return 1;
  return 2;
}
}  // namespace condition_in_if

// EXPECT model_in_function: HALFTONE_MODEL stands in a namespace, class or function
namespace model_in_function {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
#ifdef BROKEN
[[maybe_unused]] void train(){HALFTONE_MODEL(net, rules, adamw())}
#else
MODEL(net, rules, adamw())
#endif
}  // namespace model_in_function

// EXPECT local_model: HALFTONE_MODEL stands in a namespace, class or function
// AND local variable
namespace local_model {
#ifdef BROKEN
[[maybe_unused]] void train() {
  constexpr auto net =
      model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
            from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
  HALFTONE_MODEL(net, rules, adamw())
}
#endif
}  // namespace local_model
