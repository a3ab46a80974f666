// SPDX-License-Identifier: Apache-2.0
// What things are called and what names mean.
#include <cases.hpp>

// EXPECT bad_name: the name 'fc.1' is not usable: write letters, digits, '_' and '-', with '/'
// between parts that are not digits alone
namespace bad_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("fc.1", "fc/a1"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_name

// EXPECT bad_model_name: the model's name '2nd-net' is not a C++ identifier: write letters, digits
// and '_'
namespace bad_model_name {
constexpr auto net =
    model(either("2nd-net", "net_2"), inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_model_name

// EXPECT bad_symbol: the symbol '2d' of input 'x' is not a C++ identifier: write letters, digits
// and '_'
namespace bad_symbol {
constexpr auto net = model("net", inputs(tensor("x", symbol(either("2d", "d2")), 8)),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace bad_symbol

// EXPECT digits_as_name: the name 'h/0/fc' is not usable
namespace digits_as_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("h/0/fc", "h0/fc"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace digits_as_name

// EXPECT duplicate_derived_name: two layers without names of their own would both be called
// 'x.relu': name one of them with as()
namespace duplicate_derived_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)), from("x") | relu | output("a"),
                           from("x") | either(relu, relu("b")) | output("c"));
MODEL(net, rules)
}  // namespace duplicate_derived_name

// EXPECT duplicate_input: the name 'x' is given twice, to input 'x' and then to layer 'x': rename
// one of them
namespace duplicate_input {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("x", "fc"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace duplicate_input

// EXPECT duplicate_name: the name 'fc' is given twice, to layer 'fc' and then to layer 'fc': rename
// one of them
namespace duplicate_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 8) | linear(either("fc", "fc2"), 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace duplicate_name

// EXPECT empty_name: a name is empty: give every input, layer, value, output and loss a name
namespace empty_name {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("", "fc"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace empty_name

// EXPECT hidden_in_repeat: layer 'after' reads 'inside', but no input, layer, as() or output that
// it can see has that name
namespace hidden_in_repeat {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<2>("h", relu("inside")) | add(either("inside", "h")) |
                               as("after") | output("z"));
MODEL(net, rules)
}  // namespace hidden_in_repeat

// EXPECT missing_input: loss 'loss' reads 'y', but no input, layer, as() or output that it can see
// has that name
namespace missing_input {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor(either("z", "y"), batch, 4)),
          from("x") | linear("fc", 4) | output("guess"), losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace missing_input

// EXPECT unknown_first_value: layer 'fc' reads 'pixels', but no input, layer, as() or output that
// it can see has that name
namespace unknown_first_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from(either("pixels", "x")) | linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace unknown_first_value

// EXPECT unknown_value: layer 'sum' reads 'fc2', but no input, layer, as() or output that it can
// see has that name: add it or correct the name
namespace unknown_value {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | add(either("fc2", "y")) | as("sum") | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace unknown_value

// EXPECT self_alias: the name 'a' stands for itself: name a layer's result with as()
namespace self_alias {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", batch, 8)),
          from(either("a", "x")) | as("a") | relu("act") | add("x") | add("w") | output("z"));
MODEL(net, rules)
}  // namespace self_alias

// EXPECT keyword_as_model: the model's name 'class' is a C++ keyword, and the generated header
// makes a C++ name of it: rename it
namespace keyword_as_model {
constexpr auto net = model(either("class", "Class"), inputs(tensor("class", batch, 8)),
                           from("class") | relu | output("new"));
MODEL(net, rules)
}  // namespace keyword_as_model

// EXPECT std_as_model: the model's name 'std' would hide a namespace that its generated header
// needs: rename it
namespace std_as_model {
constexpr auto net =
    model(either("std", "stdx"), inputs(tensor("x", batch, 8)), from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace std_as_model

// EXPECT halftone_as_model: the model's name 'halftone' would hide a namespace
namespace halftone_as_model {
constexpr auto net = model(either("halftone", "halftones"), inputs(tensor("x", batch, 8)),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace halftone_as_model

// EXPECT macro_as_output: output 'NULL' is a macro of the standard library, and the generated
// header makes a C++ name of it: rename it
namespace macro_as_output {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("errno", 8) | relu("EOF") | output(either("NULL", "null")));
MODEL(net, rules)
}  // namespace macro_as_output

// EXPECT macro_as_input: input 'errno' is a macro of the standard library,
namespace macro_as_input {
constexpr auto net = model("net", inputs(tensor(either("errno", "error"), batch, 8)),
                           from(either("errno", "error")) | relu | output("z"));
MODEL(net, rules)
}  // namespace macro_as_input

// EXPECT buffer_as_layer: the name 'gradients' is kept for buffers that halftonec makes: choose
// another
namespace buffer_as_layer {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | relu(either("gradients", "gradient")) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace buffer_as_layer

// EXPECT buffer_as_alias: the name 'parameters' is kept for buffers that halftonec makes: choose
// another
namespace buffer_as_alias {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
    from("x") | linear("fc", 4) | relu | as(either("parameters", "parameter")) | output("guess"),
    losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace buffer_as_alias

// EXPECT buffer_before_parameter: the name 'adamw' is kept for buffers that halftonec makes: choose
// another
namespace buffer_before_parameter {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear(either("adamw", "adamax"), 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace buffer_before_parameter

// EXPECT buffer_before_derived_name: the name 'sgd' is kept for buffers that halftonec makes:
// choose another
namespace buffer_before_derived_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4) | gelu(either("sgd", "act")) | relu | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace buffer_before_derived_name

// EXPECT reserved_labels: input 'a__b' is reserved for the compiler by C++,
namespace reserved_labels {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels(either("a__b", "a_b"), batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", either("a__b", "a_b"))));
MODEL(net, rules, adamw())
}  // namespace reserved_labels

// EXPECT reserved_symbol: the symbol '_Time' is reserved for the compiler by C++,
namespace reserved_symbol {
constexpr auto net = model("net", inputs(tensor("x", symbol(either("_Time", "_time")), 8)),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace reserved_symbol

// EXPECT seed_as_symbol: the symbol 'seed' is an option of every trainer: choose another
namespace seed_as_symbol {
constexpr auto net = model("net", inputs(tensor("x", symbol(either("seed", "seeds")), 8)),
                           from("x") | relu | output("z"));
MODEL(net, rules)
}  // namespace seed_as_symbol

// EXPECT alike_inputs: input 'a/b' and input 'a-b' would have one name in C++, which writes '/' and
// '-' as '_': rename one
namespace alike_inputs {
constexpr auto net =
    model("net", inputs(tensor("a/b", batch, 8), tensor(either("a-b", "a-c"), batch, 8)),
          from("a/b") | add(either("a-b", "a-c")) | output("a_b"));
MODEL(net, rules)
}  // namespace alike_inputs

// EXPECT alike_outputs: output 'a/b' and output 'a_b' would have one name in C++,
namespace alike_outputs {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | relu("a") | output("a/b"),
          from("a") | relu("b") | output(either("a_b", "a/c")));
MODEL(net, rules)
}  // namespace alike_outputs

// EXPECT near_input: reads 'pixel', but no input, layer, as() or output that it can see has that
// name: add it or correct the name (did you mean 'pixels'?)
namespace near_input {
constexpr auto net = model("net", inputs(tensor("pixels", batch, 8), tensor("target", batch, 4)),
                           from(either("pixel", "pixels")) | linear("first", 4) | relu("act") |
                               add("first") | as("sum") | output("guess"),
                           losses(mse("loss", "guess", "target")));
MODEL(net, rules, adamw())
}  // namespace near_input

// EXPECT near_layer: add it or correct the name (did you mean 'first'?)
namespace near_layer {
constexpr auto net = model("net", inputs(tensor("pixels", batch, 8), tensor("target", batch, 4)),
                           from("pixels") | linear("first", 4) | relu("act") |
                               add(either("frist", "first")) | as("sum") | output("guess"),
                           losses(mse("loss", "guess", "target")));
MODEL(net, rules, adamw())
}  // namespace near_layer

// EXPECT near_output: loss 'loss' reads 'gues', but no input, layer, as() or output that it can see
// has that name: add it or correct the name (did you mean 'guess'?)
namespace near_output {
constexpr auto net = model(
    "net", inputs(tensor("pixels", batch, 8), tensor("target", batch, 4)),
    from("pixels") | linear("first", 4) | relu("act") | add("first") | as("sum") | output("guess"),
    losses(mse("loss", either("gues", "guess"), "target")));
MODEL(net, rules, adamw())
}  // namespace near_output

// EXPECT near_target: (did you mean 'target'?)
namespace near_target {
constexpr auto net = model(
    "net", inputs(tensor("pixels", batch, 8), tensor("target", batch, 4)),
    from("pixels") | linear("first", 4) | relu("act") | add("first") | as("sum") | output("guess"),
    losses(mse("loss", "guess", either("targets", "target"))));
MODEL(net, rules, adamw())
}  // namespace near_target

// EXPECT far_of_few: add it or correct the name (known here: 'x', 'y', 'fc', 'guess' and 'error')
namespace far_of_few {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(mse("error", "guess", either("label", "y"))));
MODEL(net, rules, adamw())
}  // namespace far_of_few

// EXPECT near_inside_repeat: (did you mean 'inner'?)
namespace near_inside_repeat {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") | repeat<2>("h", relu("inner") | linear("fc", 8) | add(either("iner", "inner"))) |
        output("z"));
MODEL(net, rules)
}  // namespace near_inside_repeat

// EXPECT buffer_as_input: the name 'finite' is kept for buffers that halftonec makes: choose
// another
namespace buffer_as_input {
constexpr auto net = model("net", inputs(tensor(either("finite", "x"), batch, 8)),
                           from(either("finite", "x")) | relu | output("z"));
MODEL(net, rules)
}  // namespace buffer_as_input

// EXPECT buffer_as_loss: the name 'grad_norm' is kept for buffers that halftonec makes: choose
// another
namespace buffer_as_loss {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(mse(either("grad_norm", "loss"), "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace buffer_as_loss
