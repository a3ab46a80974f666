// SPDX-License-Identifier: Apache-2.0
// States and what is assigned to them.
#include <cases.hpp>

// EXPECT assigned_shape: state 'kept' of [batch, 8] is assigned layer 'fc' of [batch, 6]: make the
// shapes equal
namespace assigned_shape {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | add("kept") | linear("fc", either(6, 8)) | output("z"),
                           states(state("kept", batch, 8)), assignments(assign("kept", "fc")));
MODEL(net, rules)
}  // namespace assigned_shape

// EXPECT assigned_twice: state 'kept' is assigned to twice: keep one assign()
namespace assigned_twice {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | add("kept") | add("other") | as("sum") | output("z"),
          states(state("kept", batch, 8), state("other", batch, 8)),
          assignments(assign("kept", "sum"), assign(either("kept", "other"), "x")));
MODEL(net, rules)
}  // namespace assigned_twice

// EXPECT bad_initial: state 'kept' has an initial value that is not finite in f32: write initial(0)
namespace bad_initial {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | output("z"),
          states(state("kept", initial(either(1e39, 3.4028235e38)), batch, 8)));
MODEL(net, rules)
}  // namespace bad_initial

// EXPECT not_a_state: input 'x' is assigned to but is no state: declare it with state()
namespace not_a_state {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | as("sum") | output("z"),
          states(state("kept", batch, 8)), assignments(assign(either("x", "kept"), "sum")));
MODEL(net, rules)
}  // namespace not_a_state

// EXPECT unknown_assigned: an assignment reads 'kep', but no input, layer, as() or output that it
// can see has that name
namespace unknown_assigned {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add("kept") | as("sum") | output("z"),
          states(state("kept", batch, 8)), assignments(assign(either("kep", "kept"), "sum")));
MODEL(net, rules)
}  // namespace unknown_assigned

// EXPECT unused_state: state 'kept' is read by nothing: use it with from(), or remove it
namespace unused_state {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)), from("x") | add(either("x", "kept")) | output("z"),
          states(state("kept", batch, 8)));
MODEL(net, rules)
}  // namespace unused_state

// EXPECT near_state: (did you mean 'average'?)
namespace near_state {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)), from("x") | add("average") | as("sum") | output("z"),
    states(state("average", batch, 8)), assignments(assign(either("averge", "average"), "sum")));
MODEL(net, rules)
}  // namespace near_state

// EXPECT near_assigned_value: (did you mean 'moved'?)
namespace near_assigned_value {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8)), from("x") | add("average") | as("moved") | output("z"),
    states(state("average", batch, 8)), assignments(assign("average", either("move", "moved"))));
MODEL(net, rules)
}  // namespace near_assigned_value
