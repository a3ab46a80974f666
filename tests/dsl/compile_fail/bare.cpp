// SPDX-License-Identifier: Apache-2.0
// Functions of the dsl that stand without their parentheses.
#include <cases.hpp>

// EXPECT bare_linear: linear takes a name and a whole number of outputs: write linear("fc", 64)
namespace bare_linear {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(linear, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_linear

// EXPECT bare_layer_norm: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace bare_layer_norm {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(layer_norm, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_norm

// EXPECT bare_causal_conv1d: causal_conv1d takes a name and a whole number of taps: write
// causal_conv1d("conv", 4)
namespace bare_causal_conv1d {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(causal_conv1d, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_causal_conv1d

// EXPECT bare_embedding: embedding takes a name and whole numbers of rows and columns: write
// embedding("embed", 50257, 768)
namespace bare_embedding {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | MISSPELT(embedding, embedding("embed", 64, 16)) | output("guess"));
MODEL(net, rules)
}  // namespace bare_embedding

// EXPECT bare_batch_norm: batch_norm takes a name, epsilon(), momentum(), shared() and options of
// parameters: write batch_norm("norm")
namespace bare_batch_norm {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(batch_norm, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_batch_norm

// EXPECT bare_rms_norm: rms_norm takes a name, epsilon() and options of parameters: write
// rms_norm("norm")
namespace bare_rms_norm {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(rms_norm, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_rms_norm

// EXPECT rms_norm_bare_option: rms_norm takes a name, epsilon() and options of parameters: write
// rms_norm("norm")
namespace rms_norm_bare_option {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(rms_norm("norm", epsilon), rms_norm("norm", epsilon(1e-6))) |
              linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace rms_norm_bare_option

// EXPECT bare_reshape: reshape takes a name and dimensions that are whole numbers or symbols: write
// reshape("heads", batch, 12, 64)
namespace bare_reshape {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | MISSPELT(reshape, relu) | as("act") | output("z"));
MODEL(net, rules)
}  // namespace bare_reshape

// EXPECT bare_slice: slice takes a name and two whole numbers, the first column and the one behind
// the last: write slice("q", 0, 64)
namespace bare_slice {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | MISSPELT(slice, relu) | as("act") | output("z"));
MODEL(net, rules)
}  // namespace bare_slice

// EXPECT bare_transpose: transpose takes a name and the numbers of all dimensions in their new
// order: write transpose("swap", 0, 2, 1)
namespace bare_transpose {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | MISSPELT(transpose, relu) | as("act") | output("z"));
MODEL(net, rules)
}  // namespace bare_transpose

// EXPECT bare_dropout: dropout takes a name and a rate: write dropout("drop", 0.1)
namespace bare_dropout {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(dropout, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_dropout

// EXPECT bare_pointwise: pointwise takes a name, a lambda and names of values: write
// pointwise("gate",
namespace bare_pointwise {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(pointwise, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_pointwise

// EXPECT bare_add: add takes the name of a value: write add("x")
namespace bare_add {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(add, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_add

// EXPECT bare_matmul: matmul takes a name, the name of a value, transpose_a and transpose_b: write
// matmul("scores", "keys", transpose_b)
namespace bare_matmul {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(matmul, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_matmul

// EXPECT bare_concat: concat takes names of values, or chains that each begin at the current value:
// write
namespace bare_concat {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(concat, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_concat

// EXPECT bare_tied: tied takes the name of a layer: write linear("head", 64, tied("embed"))
namespace bare_tied {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(tied, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_tied

// EXPECT bare_on_weight: on_weight takes options of parameters: write on_weight(no_decay)
namespace bare_on_weight {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(on_weight, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_on_weight

// EXPECT bare_on_bias: on_bias takes options of parameters: write on_bias(no_decay)
namespace bare_on_bias {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(on_bias, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_on_bias

// EXPECT bare_cross_entropy: cross_entropy takes the names of the loss, the logits and the label,
// and weight(), sample_weight(), class_weights, ignore_index(), label_smoothing(), z_loss(),
// soft_cap(), chunk_rows() and summed, each once: write
namespace bare_cross_entropy {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(cross_entropy, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_cross_entropy

// EXPECT bare_mse: mse takes the names of the loss, the value and the target, and weight(),
// sample_weight() and summed, each once: write mse("loss", "guess", "y")
namespace bare_mse {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(mse, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_mse

// EXPECT bare_pointwise_loss: pointwise_loss takes a name, a lambda, weight(), sample_weight() and
// names of values: write
namespace bare_pointwise_loss {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(pointwise_loss, relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_pointwise_loss

// EXPECT bare_residual: residual takes one chain of layers: write residual(linear("fc", 64) | relu)
namespace bare_residual {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(residual, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_residual

// EXPECT bare_repeat: repeat takes its number in <>, a name and a chain of layers: write
// repeat<3>("h",
namespace bare_repeat {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(repeat, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_repeat

// EXPECT bare_output: output takes a name: write output("logits")
namespace bare_output {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(output, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_output

// EXPECT bare_from: from takes the name of a value: write from("x")
namespace bare_from {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(from, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_from

// EXPECT bare_model: model takes a name, sections and chains: write
namespace bare_model {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(model, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_model

// EXPECT bare_option: a chain holds what is no layer: write it as in from("x") | linear("fc", 64) |
// relu
namespace bare_option {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(epsilon, relu) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_option

// EXPECT bare_layer_in_residual: layer_norm takes a name, epsilon() and options of parameters:
// write layer_norm("norm")
namespace bare_layer_in_residual {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | MISSPELT(residual(layer_norm), residual(relu)) | linear("fc", 4) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_in_residual

// EXPECT bare_layer_in_repeat: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace bare_layer_in_repeat {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | MISSPELT(repeat<3>("h", layer_norm), repeat<3>("h", relu)) |
                               linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_in_repeat

// EXPECT bare_layer_in_branch: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace bare_layer_in_branch {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(concat(relu("a"), layer_norm), concat(relu("a"), relu("b"))) |
              linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_in_branch

// EXPECT bare_option_of_layer: tied takes the name of a layer: write linear("head", 64,
// tied("embed"))
namespace bare_option_of_layer {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | MISSPELT(layer_norm("norm", tied), layer_norm("norm", frozen)) |
              linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_option_of_layer

// EXPECT bare_layer_first: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace bare_layer_first {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           MISSPELT(layer_norm, from("x")) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_first

// EXPECT bare_layer_alone: layer_norm takes a name, epsilon() and options of parameters: write
// layer_norm("norm")
namespace bare_layer_alone {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           MISSPELT(layer_norm, from("x") | linear("fc", 4) | output("guess")),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bare_layer_alone

// EXPECT bare_loss: mse takes the names of the loss, the value and the target, and weight(),
// sample_weight() and summed, each once: write mse("loss", "guess", "y")
namespace bare_loss {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y"), MISSPELT(mse, mse("b", "guess", "y"))));
MODEL(net, rules, adamw())
}  // namespace bare_loss

// EXPECT bare_input: tensor takes a name and dimensions that are whole numbers or symbols: write
// tensor("x", batch, 64)
namespace bare_input {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), MISSPELT(tensor, tensor("y", batch, 8))),
          from("x") | add("y") | output("z"));
MODEL(net, rules)
}  // namespace bare_input
