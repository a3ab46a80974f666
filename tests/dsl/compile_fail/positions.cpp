// SPDX-License-Identifier: Apache-2.0
// Layers that speak of positions, and gated ones.
#include <cases.hpp>

constexpr auto times = symbol("time");

// EXPECT rotary_without_heads: rotary takes a name, a whole number of heads, the name of the
// positions, and base(), interleaved, rotated() and linear_scaling() or llama3_scaling(), each
// once: write rotary("rope", 8)
namespace rotary_without_heads {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | either(rotary("rope"), rotary("rope", 2)) | output("z"));
MODEL(net, rules)
}  // namespace rotary_without_heads

// EXPECT rotary_scaled_twice: rotary takes a name, a whole number of heads, the name of the
// positions, and base(), interleaved, rotated() and linear_scaling() or llama3_scaling(), each
// once: write rotary("rope", 8)
namespace rotary_scaled_twice {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") |
                               either(rotary("rope", 2, linear_scaling(2), linear_scaling(2)),
                                      rotary("rope", 2, linear_scaling(2)) | relu) |
                               output("z"));
MODEL(net, rules)
}  // namespace rotary_scaled_twice

// EXPECT rotary_no_times: layer 'rope' reads [8] but works on sequences: give its input a dimension
// of times before the last one
namespace rotary_no_times {
constexpr auto net = model("net", inputs(either(tensor("x", 8), tensor("x", times, 8))),
                           from("x") | rotary("rope", 2) | output("z"));
MODEL(net, rules)
}  // namespace rotary_no_times

// EXPECT rotary_heads: layer 'rope' has 3 heads in rows of 8: make the last dimension of input 'x'
// a multiple of them
namespace rotary_heads {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | rotary("rope", either(3, 2)) | output("z"));
MODEL(net, rules)
}  // namespace rotary_heads

// EXPECT rotary_odd: layer 'rope' rotates 3 of the 4 elements of a head: rotate an even number of
// them
namespace rotary_odd {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | rotary("rope", 2, rotated(either(3, 2))) | output("z"));
MODEL(net, rules)
}  // namespace rotary_odd

// EXPECT rotary_too_many: layer 'rope' rotates 6 of the 4 elements of a head: rotate an even number
// of them
namespace rotary_too_many {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | rotary("rope", 2, rotated(either(6, 4))) | output("z"));
MODEL(net, rules)
}  // namespace rotary_too_many

// EXPECT rotary_base: layer 'rope' has a base that is not positive and finite in f32: write
// base(10000)
namespace rotary_base {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | rotary("rope", 2, base(either(0, 500))) | output("z"));
MODEL(net, rules)
}  // namespace rotary_base

// EXPECT rotary_waves: layer 'rope' has a low_factor that is not below its high_factor: make it
// less, such as 1 and 4
namespace rotary_waves {
constexpr auto net =
    model("net", inputs(tensor("x", batch, times, 8)),
          from("x") | rotary("rope", 2, llama3_scaling(8, either(4, 1), 4, 8192)) | output("z"));
MODEL(net, rules)
}  // namespace rotary_waves

// EXPECT rotary_positions: layer 'rope' reads [batch, time, 8] at the positions [batch] of input
// 'place': make them [batch, time]
namespace rotary_positions {
constexpr auto net =
    model("net",
          inputs(tensor("x", batch, times, 8),
                 either(positions("place", batch), positions("place", batch, times))),
          from("x") | rotary("rope", 2, "place") | output("z"));
MODEL(net, rules)
}  // namespace rotary_positions

// EXPECT rotary_at_values: layer 'rope' takes input 'place' as its position: declare an input with
// positions() for it
namespace rotary_at_values {
constexpr auto net =
    model("net",
          inputs(tensor("x", batch, times, 8),
                 either(tensor("place", batch, times), positions("place", batch, times))),
          from("x") | rotary("rope", 2, "place") | output("z"));
MODEL(net, rules)
}  // namespace rotary_at_values

// EXPECT positions_without_number: position_embedding takes a name and a whole number of times:
// write position_embedding("places", 1024)
namespace positions_without_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, times, 8)),
          from("x") | either(position_embedding("places"), position_embedding("places", 16)) |
              output("z"));
MODEL(net, rules)
}  // namespace positions_without_number

// EXPECT positions_of_nothing: layer 'places' has a weight of 0 times: write
// position_embedding(name, times) with 1 to 2147483647
namespace positions_of_nothing {
constexpr auto net = model("net", inputs(tensor("x", batch, times, 8)),
                           from("x") | position_embedding("places", either(0, 4)) | output("z"));
MODEL(net, rules)
}  // namespace positions_of_nothing

// EXPECT positions_too_few: layer 'places' has a weight of 9 times and reads [batch, 10, 8]: give
// it as many as there are
namespace positions_too_few {
constexpr auto net = model("net", inputs(tensor("x", batch, 10, 8)),
                           from("x") | position_embedding("places", either(9, 10)) | output("z"));
MODEL(net, rules)
}  // namespace positions_too_few

// EXPECT waves_of_odd_rows: layer 'waves' adds pairs to rows of 7: make the last dimension of input
// 'x' an even number
namespace waves_of_odd_rows {
constexpr auto net = model("net", inputs(tensor("x", batch, times, either(7, 8))),
                           from("x") | sinusoidal_embedding("waves") | output("z"));
MODEL(net, rules)
}  // namespace waves_of_odd_rows

// EXPECT waves_without_name: sinusoidal_embedding takes a name, the name of the positions and
// base(): write sinusoidal_embedding("places")
namespace waves_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, times, 8)),
          from("x") |
              either(sinusoidal_embedding(base(10)) | relu, sinusoidal_embedding("waves") | relu) |
              output("z"));
MODEL(net, rules)
}  // namespace waves_without_name

// EXPECT swiglu_without_outputs: swiglu takes a name, whole numbers of hidden values and of
// outputs, no_bias and options of parameters: write swiglu("mlp", 1024, 384)
namespace swiglu_without_outputs {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | either(swiglu("mlp", 16), swiglu("mlp", 16, 8)) | output("z"));
MODEL(net, rules)
}  // namespace swiglu_without_outputs

// EXPECT geglu_without_outputs: geglu takes a name, whole numbers of hidden values and of outputs,
// no_bias and options of parameters: write geglu("mlp", 1024, 384)
namespace geglu_without_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | either(geglu("mlp", 16), geglu("mlp", 16, 8)) | output("z"));
MODEL(net, rules)
}  // namespace geglu_without_outputs

// EXPECT reglu_without_outputs: reglu takes a name, whole numbers of hidden values and of outputs,
// no_bias and options of parameters: write reglu("mlp", 1024, 384)
namespace reglu_without_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | either(reglu("mlp", 16), reglu("mlp", 16, 8)) | output("z"));
MODEL(net, rules)
}  // namespace reglu_without_outputs

// EXPECT glu_without_outputs: glu takes a name, whole numbers of hidden values and of outputs,
// no_bias and options of parameters: write glu("mlp", 1024, 384)
namespace glu_without_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | either(glu("mlp", 16), glu("mlp", 16, 8)) | output("z"));
MODEL(net, rules)
}  // namespace glu_without_outputs

// EXPECT named_without_name: named takes a name and a chain of layers: write named("mlp",
// linear("fc", 64) | relu)
namespace named_without_name {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | either(named(relu("act")), named("a", relu("act"))) | output("z"));
MODEL(net, rules)
}  // namespace named_without_name

// EXPECT named_twice: 'mlp/fc'
namespace named_twice {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | linear(either("mlp/fc", "mlp/other"), 8) |
                               named("mlp", linear("fc", 8)) | output("z"));
MODEL(net, rules)
}  // namespace named_twice

// EXPECT positions_of_no_name: positions takes a name and dimensions that are whole numbers or
// symbols: write positions("place", batch, 64)
namespace positions_of_no_name {
constexpr auto net = model(
    "net",
    inputs(tensor("x", batch, 4, 8), either(positions(batch, 4), positions("place", batch, 4))),
    from("x") | rotary("rope", 2, "place") | output("z"));
MODEL(net, rules)
}  // namespace positions_of_no_name
