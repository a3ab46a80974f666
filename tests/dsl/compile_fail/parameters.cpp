// SPDX-License-Identifier: Apache-2.0
// Options of layers with parameters.
#include <cases.hpp>

// EXPECT bad_epsilon: layer 'norm' has an epsilon that is negative or not finite in f32: write
// epsilon(1e-5)
namespace bad_epsilon {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | layer_norm("norm", epsilon(either(-1e-5, 1e-5))) |
                               linear("fc", 4) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_epsilon

// EXPECT bad_rate: layer 'drop' has a rate that is negative or not below 1: write 0.1
namespace bad_rate {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | dropout("drop", either(1, 0)) | linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_rate

// EXPECT bad_initializer: layer 'fc' has an initializer out of range: write numbers finite in f32,
// low before high, no negative deviation
namespace bad_initializer {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, init_uniform(either(0.5, -0.5), 0.25)) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_initializer

// EXPECT bad_scale: layer 'fc' has a learning_rate_scale that is negative or not finite in f32:
// write 0 or a positive number
namespace bad_scale {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, learning_rate_scale(either(1e39, 0.5))) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace bad_scale

// EXPECT large_initializer: layer 'fc' has an initializer out of range: write numbers finite in
// f32, low before high, no negative deviation
namespace large_initializer {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, init_constant(either(1e39, 1e38))) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace large_initializer

// EXPECT negative_deviation: layer 'fc' has an initializer out of range
namespace negative_deviation {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, on_bias(init_normal(0, either(-1, 1)))) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace negative_deviation

// EXPECT no_bias_options: layer 'fc' has options for a bias but no bias: remove them or no_bias
namespace no_bias_options {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, no_bias, either(on_bias(no_decay), on_weight(no_decay))) |
              output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace no_bias_options

// EXPECT kind_without_bias: layer 'norm' has options for a bias but no bias: remove them or no_bias
namespace kind_without_bias {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | rms_norm("norm", either(on_bias(no_decay), on_weight(no_decay))) |
              linear("fc", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace kind_without_bias

// EXPECT not_an_option: layer 'fc' is given what is no option of linear: it takes no_bias, tied(),
// shared(), and options of parameters such as frozen, no_decay or init_normal()
namespace not_an_option {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, no_decay, either(relu, frozen), on_bias(no_decay)) |
              linear("fc2", 4) | output("guess"),
          losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace not_an_option

// EXPECT tied_cycle: layer 'a' is tied to itself through 'a': let one layer own the weight
namespace tied_cycle {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("own", 8) | linear("a", 8, tied(either("b", "own"))) |
                               linear("b", 8, tied("a")) | output("z"));
MODEL(net, rules)
}  // namespace tied_cycle

// EXPECT tied_to_weightless: layer 'back' is tied to 'act', which has no weight to share: tie it to
// a linear or causal_conv1d or convolution or transposed_convolution or embedding or
// position_embedding layer
namespace tied_to_weightless {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("to", 8) | relu("act") |
                               linear("back", 8, tied(either("act", "to"))) | output("z"));
MODEL(net, rules)
}  // namespace tied_to_weightless

// EXPECT tied_to_embedding: layer 'head' needs a weight of [64, 8] but is tied to parameter
// 'embed.weight' of [65, 8]
namespace tied_to_embedding {
constexpr auto net = model("net", inputs(tokens("word", batch)),
                           from("word") | embedding("embed", either(65, 64), 8) |
                               linear("head", 64, no_bias, tied("embed")) | output("z"));
MODEL(net, rules)
}  // namespace tied_to_embedding

// EXPECT embedding_tied: layer 'embed' needs a weight of [65, 8] but is tied to parameter
// 'head.weight' of [64, 8]
namespace embedding_tied {
constexpr auto net = model("net", inputs(tokens("word", batch)),
                           from("word") | embedding("embed", either(65, 64), 8, tied("head")) |
                               linear("head", 64) | output("z"));
MODEL(net, rules)
}  // namespace embedding_tied

// EXPECT negative_padding: layer 'embed' has a padding_index that is negative: write
// padding_index(0)
namespace negative_padding {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | embedding("embed", 64, 16, padding_index(either(-1, 0))) | output("z"));
MODEL(net, rules)
}  // namespace negative_padding

// EXPECT ignored_past_i32: loss 'loss' has an ignore_index that is no i32: write ignore_index(-100)
namespace ignored_past_i32 {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), labels("y", batch)),
    from("x") | linear("fc", 4) | output("guess"),
    losses(cross_entropy("loss", "guess", "y", ignore_index(either(2147483648, 2147483647)))));
MODEL(net, rules, adamw())
}  // namespace ignored_past_i32

// EXPECT smoothed_away: loss 'loss' has a label_smoothing that is not above 0 and at most 1: write
// label_smoothing(0.1)
namespace smoothed_away {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", label_smoothing(either(1.5, 1)))));
MODEL(net, rules, adamw())
}  // namespace smoothed_away

// EXPECT negative_z_loss: loss 'loss' has a z_loss that is not positive or not finite in f32 when
// doubled: write z_loss(1e-4)
namespace negative_z_loss {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", z_loss(either(-1e-4, 1e-4)))));
MODEL(net, rules, adamw())
}  // namespace negative_z_loss

// EXPECT capped_at_nothing: loss 'loss' has a soft_cap that is not positive or not finite in f32,
// or its reciprocal is not: write soft_cap(30)
namespace capped_at_nothing {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
          from("x") | linear("fc", 4) | output("guess"),
          losses(cross_entropy("loss", "guess", "y", ignore_index(0), soft_cap(either(0, 30)))));
MODEL(net, rules, adamw())
}  // namespace capped_at_nothing

// EXPECT chunks_of_nothing: loss 'loss' has a chunk_rows that is not positive or no i32: write
// chunk_rows(1024)
namespace chunks_of_nothing {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), labels("y", batch)),
                           from("x") | linear("fc", 4) | output("guess"),
                           losses(cross_entropy("loss", "guess", "y", chunk_rows(either(0, 1)))));
MODEL(net, rules, adamw())
}  // namespace chunks_of_nothing

// EXPECT embedding_without_bias: layer 'embed' is given what is no option of embedding: it takes
// padding_index(), tied(), shared(), and options of parameters such as frozen, no_decay or
// init_normal()
namespace embedding_without_bias {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | embedding("embed", 64, 16, either(no_bias, tied("head"))) |
              linear("head", 64) | output("z"));
MODEL(net, rules)
}  // namespace embedding_without_bias

// EXPECT linear_with_padding: layer 'fc' is given what is no option of linear: it takes no_bias,
// tied(), shared(), and options of parameters such as frozen, no_decay or init_normal()
namespace linear_with_padding {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("fc", 4, either(padding_index(3), frozen)) | output("z"));
MODEL(net, rules)
}  // namespace linear_with_padding

// EXPECT tied_frozen: layer 'back' is tied and cannot have options for a weight of its own: give
// them to the layer that owns the weight, or put them inside on_bias()
namespace tied_frozen {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) |
              linear("back", 8, tied("to"), either(frozen, on_bias(frozen))) | output("z"));
MODEL(net, rules)
}  // namespace tied_frozen

// EXPECT tied_options: layer 'back' is tied and cannot have options for a weight of its own: give
// them to the layer that owns the weight, or put them inside on_bias()
namespace tied_options {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) |
              linear("back", 8, tied("to"), either(init_constant(1), on_bias(init_constant(1)))) |
              output("z"));
MODEL(net, rules)
}  // namespace tied_options

// EXPECT tied_shape: layer 'back' needs a weight of [6, 8] but is tied to parameter 'to.weight' of
// [8, 8]: make outputs and inputs of both layers equal
namespace tied_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) | linear("back", either(6, 8), tied("to")) | output("z"));
MODEL(net, rules)
}  // namespace tied_shape

// EXPECT tied_unknown: layer 'back' is tied to 'fo', but no layer that it can see has that name:
// correct the name in tied()
namespace tied_unknown {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("to", 8) | linear("back", 8, tied(either("fo", "to"))) | output("z"));
MODEL(net, rules)
}  // namespace tied_unknown

// EXPECT tied_near: that it can see has that name: correct the name in tied() (did you mean
// 'embed'?)
namespace tied_near {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("embed", 8) | relu("act") |
                               linear("head", 8, tied(either("embde", "embed"))) | output("z"));
MODEL(net, rules)
}  // namespace tied_near

// EXPECT tied_the_other_way: layer 'decode' needs a weight of [8, 6] but is tied to parameter
// 'encode.weight' of [6, 8]: write tied("...", transposed)
namespace tied_the_other_way {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") | linear("encode", 6) |
        linear("decode", 8, either(tied("encode"), tied("encode", transposed))) | output("z"));
MODEL(net, rules)
}  // namespace tied_the_other_way

// EXPECT transposed_shape: layer 'decode' needs a weight of [6, 9] but is tied to parameter
// 'encode.weight' of [6, 8]: make the outputs of each the inputs of the other
namespace transposed_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("encode", 6) |
              linear("decode", either(9, 8), tied("encode", transposed)) | output("z"));
MODEL(net, rules)
}  // namespace transposed_shape

// EXPECT transposed_embedding: layer 'embed' is given what is no option of embedding: it takes
// padding_index(), tied(), shared(), and options of parameters
namespace transposed_embedding {
constexpr auto net = model(
    "net", inputs(tokens("word", batch)),
    from("word") | embedding("embed", 64, 64, either(tied("head", transposed), tied("head"))) |
        linear("head", 64) | output("z"));
MODEL(net, rules)
}  // namespace transposed_embedding

// EXPECT shared_unknown: layer 'right' shares the parameters of 'lef', but no layer that it can see
// has that name: correct the name in shared()
namespace shared_unknown {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("left", 8) |
                               linear("right", 8, shared(either("lef", "left"))) | output("z"));
MODEL(net, rules)
}  // namespace shared_unknown

// EXPECT shared_kind: layer 'right' shares the parameters of 'left', which is no rms_norm: name a
// rms_norm layer
namespace shared_kind {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | either(layer_norm("left"), rms_norm("left")) |
                               rms_norm("right", shared("left")) | output("z"));
MODEL(net, rules)
}  // namespace shared_kind

// EXPECT shared_input: layer 'right' shares the parameters of 'x', which is no linear: name a
// linear layer
namespace shared_input {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") | linear("left", 8) | linear("right", 8, shared(either("x", "left"))) | output("z"));
MODEL(net, rules)
}  // namespace shared_input

// EXPECT shared_cycle: layer 'a' shares its own parameters through 'a': let one layer own them
namespace shared_cycle {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("own", 8) | linear("a", 8, shared(either("b", "own"))) |
              linear("b", 8, shared("a")) | output("z"));
MODEL(net, rules)
}  // namespace shared_cycle

// EXPECT shared_shape: layer 'right' needs parameters of [9, 8] but shares parameter 'left.weight'
// of [8, 8]: make outputs and inputs of both layers equal
namespace shared_shape {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)),
    from("x") | linear("left", 8) | linear("right", either(9, 8), shared("left")) | output("z"));
MODEL(net, rules)
}  // namespace shared_shape

// EXPECT shared_norm_shape: layer 'right' needs parameters of [6] but shares parameter
// 'left.weight' of [8]: make outputs and inputs of both layers equal
namespace shared_norm_shape {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | layer_norm("left") | linear("fc", either(6, 8)) |
                               layer_norm("right", shared("left")) | output("z"));
MODEL(net, rules)
}  // namespace shared_norm_shape

// EXPECT shared_options: layer 'right' shares its parameters and cannot have options for its own:
// give them to the layer that owns the parameters
namespace shared_options {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("left", 8, frozen) |
                               MISSPELT((linear("right", 8, shared("left"), on_bias(frozen))),
                                        (linear("right", 8, shared("left")))) |
                               output("z"));
MODEL(net, rules)
}  // namespace shared_options

// EXPECT shared_without_bias: layer 'right' shares its parameters and cannot have options for its
// own: give them to the layer that owns the parameters
namespace shared_without_bias {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("left", 8, no_bias) |
                               MISSPELT((linear("right", 8, shared("left"), no_bias)),
                                        (linear("right", 8, shared("left")))) |
                               output("z"));
MODEL(net, rules)
}  // namespace shared_without_bias

// EXPECT shared_and_tied: layer 'right' is given more than one of tied() and shared(): keep one
namespace shared_and_tied {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear("left", 8) |
                               MISSPELT((linear("right", 8, tied("left"), shared("left"))),
                                        (linear("right", 8, tied("left")))) |
                               output("z"));
MODEL(net, rules)
}  // namespace shared_and_tied

// EXPECT misused_shared: shared takes the name of a layer: write linear("right", 64,
// shared("left"))
namespace misused_shared {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("left", 8) | linear("right", 8, MISSPELT(shared(3), shared("left"))) |
              output("z"));
MODEL(net, rules)
}  // namespace misused_shared

// EXPECT kaiming_of_a_fan: init_kaiming_normal takes a gain and a fan: write init_kaiming_normal(),
// or init_kaiming_normal(gain_relu, fan_out)
namespace kaiming_of_a_fan {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") |
              linear("fc", 4, MISSPELT(init_kaiming_normal(fan_out), init_kaiming_normal())) |
              output("guess"),
          losses(mse("error", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace kaiming_of_a_fan

// EXPECT truncated_wrong_way: layer 'fc' has an initializer out of range: write numbers finite in
// f32, low before high, no negative deviation
namespace truncated_wrong_way {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
          from("x") | linear("fc", 4, init_truncated_normal(0, 1, either(2.0, -2.0), 1.0)) |
              output("guess"),
          losses(mse("error", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace truncated_wrong_way
