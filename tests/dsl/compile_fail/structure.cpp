// SPDX-License-Identifier: Apache-2.0
// The form of a model: chains, repeats, what is used by what.
#include <cases.hpp>

// EXPECT bad_extent: input 'x' has a dimension of 0: write a positive number or a symbol
namespace bad_extent {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either(0, 8))), from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace bad_extent

// EXPECT bad_outputs: layer 'fc' has -4 outputs: write linear(name, outputs) with 1 or more
namespace bad_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", either(-4, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_outputs

// EXPECT bad_repeat: repeat 'h' has 0 copies of its body: write a number of 1 or more
namespace bad_repeat {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | repeat<is_broken ? 0 : 3>("h", relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_repeat

// EXPECT negative_repeat: repeat 'h' has -2 copies of its body: write a number of 1 or more
namespace negative_repeat {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | repeat<is_broken ? -2 : 2>("h", relu) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace negative_repeat

// EXPECT cycle: layer 'a' and layer 'b' wait for each other in a cycle: keep last step's value in a
// state, or cut one of the two
namespace cycle {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add(either("b", "x")) | as("a"),
          from("a") | relu("b") | output("z"));
MODEL(net, rules)
}  // namespace cycle

// EXPECT no_input: the model has no input: add inputs(tensor("x", batch, 8))
namespace no_input {
#ifdef BROKEN
constexpr auto net = model("net", states(state("kept", 8)), from("kept") | relu | output("z"));
#else
constexpr auto net = model("net", inputs(tensor("x", 8)), from("x") | relu | output("z"));
#endif
MODEL(net, rules)
}  // namespace no_input

// EXPECT no_source: the chain has no value at layer 'fc': begin it with from("name")
namespace no_source {
constexpr auto layers = linear("fc", 4) | output("guess");
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          either(layers, from("x") | layers), losses(mse("loss", either("x", "guess"), "y")));
MODEL(net, rules, adamw())
}  // namespace no_source

// EXPECT not_constant: the model is not known while compiling: declare it constexpr
namespace not_constant {
constexpr auto sound =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
#ifdef BROKEN
auto net = sound;
#else
constexpr auto net = sound;
#endif
MODEL(net, rules, adamw())
}  // namespace not_constant

// EXPECT too_many_dimensions: input 'x' has more than 6 dimensions: join some of them
namespace too_many_dimensions {
constexpr auto net =
    model("net", inputs(either(tensor("x", 2, 2, 2, 2, 2, 2, 2), tensor("x", 2, 2, 2, 2, 2, 4))),
          from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace too_many_dimensions

// EXPECT unused_input: input 'w' is read by nothing: use it with from() or in a loss, or remove it
namespace unused_input {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("w", batch, 8)),
                           from("x") | add(either("x", "w")) | output("z"));
MODEL(net, rules)
}  // namespace unused_input

// EXPECT unused_layer: layer 'side' has a result that nothing uses: continue from it, make it an
// output, or remove it
namespace unused_layer {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           from("x") | relu("side") | either(as("other"), output("other")),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace unused_layer

// EXPECT gradient_of_integers: input 'k' wants a gradient but holds integers, which have none:
// declare it with tensor(), or leave with_gradient out
namespace gradient_of_integers {
constexpr auto net = model(
    "net",
    inputs(tensor("x", batch, 8), either(labels("k", batch, with_gradient), labels("k", batch))),
    from("x") | linear("fc", 4) | output("guess"), losses(cross_entropy("loss", "guess", "k")));
MODEL(net, rules, adamw())
}  // namespace gradient_of_integers

// EXPECT gradient_without_loss: input 'x' wants a gradient but the model has no loss: add
// losses(...), or leave with_gradient out
namespace gradient_without_loss {
constexpr auto net =
    model("net", inputs(either(tensor("x", batch, 8, with_gradient), tensor("x", batch, 8))),
          from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace gradient_without_loss

// EXPECT two_elements: input 'x' is given an element or an option twice: keep one
namespace two_elements {
constexpr auto net =
    model("net", inputs(either(tensor("x", u8, i8, batch, 8), tensor("x", u8, batch, 8))),
          from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace two_elements

// EXPECT values_of_i64: input 'x' has values of i64: let them be f32, f16, bf16, u8, i8, u16 or
// i16, and declare what losses or embeddings count with labels() or tokens()
namespace values_of_i64 {
constexpr auto net = model("net", inputs(either(tensor("x", i64, batch, 8), tensor("x", batch, 8))),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace values_of_i64

// EXPECT labels_of_bf16: input 'k' has labels or tokens of bf16: let them be u8, i8, u16, i16, i32
// or i64, or declare values with tensor()
namespace labels_of_bf16 {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), either(labels("k", bf16, batch), labels("k", i64, batch))),
    from("x") | linear("fc", 4) | output("guess"), losses(cross_entropy("e", "guess", "k")));
MODEL(net, rules, adamw())
}  // namespace labels_of_bf16

// EXPECT scaled_floats: input 'x' has a scale or an offset, but only values of u8, i8, u16 or i16
// have: write tensor("x", u8, batch, 64, scale(1.0 / 255)), or leave it out
namespace scaled_floats {
constexpr auto net = model(
    "net",
    inputs(either(tensor("x", f16, batch, 8, offset(1)), tensor("x", u8, batch, 8, offset(1)))),
    from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace scaled_floats

// EXPECT infinite_scale: input 'x' has a scale or an offset that is not finite in f32: write
// scale(1.0 / 255)
namespace infinite_scale {
constexpr auto net = model("net", inputs(tensor("x", u8, batch, 8, scale(either(1e39, 1e38)))),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace infinite_scale
