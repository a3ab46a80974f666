// SPDX-License-Identifier: Apache-2.0
// Segments: how many there are, whose they are, and what their layers read.
#include <cases.hpp>

// EXPECT segment_sum_number: segment_sum takes a name, a whole number of segments and the name of
// an input of segments(): write segment_sum("patches", 64, "patch")
namespace segment_sum_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), segments("s", batch, 9)),
          from("x") | either(segment_sum("sums", "s"), segment_sum("sums", 4, "s")) | output("z"));
MODEL(net, rules)
}  // namespace segment_sum_number

// EXPECT segment_mean_number: segment_mean takes a name, a whole number of segments and the name of
// an input of segments(): write segment_mean("patches", 64, "patch")
namespace segment_mean_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), segments("s", batch, 9)),
          from("x") | either(segment_mean("means", 1.5, "s"), segment_mean("means", 2, "s")) |
              output("z"));
MODEL(net, rules)
}  // namespace segment_mean_number

// EXPECT segment_max_number: segment_max takes a name, a whole number of segments and the name of
// an input of segments(): write segment_max("largest", 64, "patch")
namespace segment_max_number {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), segments("s", batch, 9)),
          from("x") | either(segment_max("most", "s"), segment_max("most", 2, "s")) | output("z"));
MODEL(net, rules)
}  // namespace segment_max_number

// EXPECT bare_segment_broadcast: segment_broadcast takes a name and the name of an input of
// segments(): write segment_broadcast("to_bytes", "patch")
namespace bare_segment_broadcast {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 4, 8), segments("s", batch, 9)),
          from("x") | MISSPELT(segment_broadcast, segment_broadcast("spread", "s")) | output("z"));
MODEL(net, rules)
}  // namespace bare_segment_broadcast

// EXPECT segment_count: layer 'sums' has a number of segments that is below 1 or no i32: write 16
namespace segment_count {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8), segments("s", batch, 9)),
                           from("x") | segment_sum("sums", either(0, 1), "s") | output("z"));
MODEL(net, rules)
}  // namespace segment_count

// EXPECT segment_values: layer 'sums' takes input 'y' as its segment: declare an input with
// segments() for it
namespace segment_values {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8), either(tensor("y", batch, 9), segments("y", batch, 9))),
    from("x") | segment_sum("sums", 4, "y") | output("z"));
MODEL(net, rules)
}  // namespace segment_values

// EXPECT segment_times: layer 'sums' reads [batch, 9, 8] by the segments [batch, 8] of input 's':
// make them [batch, 9]
namespace segment_times {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8), segments("s", batch, either(8, 9))),
          from("x") | segment_sum("sums", 4, "s") | output("z"));
MODEL(net, rules)
}  // namespace segment_times

// EXPECT segment_rows: layer 'sums' reads [8] but works on sequences: give its input a dimension of
// times before the last one
namespace segment_rows {
constexpr auto net =
    model("net", inputs(either(tensor("x", 8), tensor("x", 9, 8)), segments("s", 9)),
          from("x") | segment_sum("sums", 4, "s") | output("z"));
MODEL(net, rules)
}  // namespace segment_rows

// EXPECT segment_columns: layer 'sums' reads [batch, 9, time], whose columns are the symbol 'time':
// give it a number
namespace segment_columns {
constexpr auto net =
    model("net",
          inputs(either(tensor("x", batch, 9, symbol("time")), tensor("x", batch, 9, 8)),
                 segments("s", batch, 9)),
          from("x") | segment_sum("sums", 4, "s") | output("z"));
MODEL(net, rules)
}  // namespace segment_columns

// EXPECT broadcast_rows: layer 'spread' reads [8] but works on segments: give its input a dimension
// of segments before the last one
namespace broadcast_rows {
constexpr auto net =
    model("net", inputs(either(tensor("x", 8), tensor("x", 4, 8)), segments("s", 9)),
          from("x") | segment_broadcast("spread", "s") | output("z"));
MODEL(net, rules)
}  // namespace broadcast_rows

// EXPECT broadcast_batch: layer 'spread' reads segments of [batch, 4, 8] for the times [9] of input
// 's': make them [batch] with a dimension of times behind
namespace broadcast_batch {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 4, 8), either(segments("s", 9), segments("s", batch, 9))),
    from("x") | segment_broadcast("spread", "s") | output("z"));
MODEL(net, rules)
}  // namespace broadcast_batch

// EXPECT broadcast_count: layer 'spread' reads [batch, time, 8] of input 'x': give its segments and
// its columns a number
namespace broadcast_count {
constexpr auto net =
    model("net",
          inputs(either(tensor("x", batch, symbol("time"), 8), tensor("x", batch, 4, 8)),
                 segments("s", batch, 9)),
          from("x") | segment_broadcast("spread", "s") | output("z"));
MODEL(net, rules)
}  // namespace broadcast_count
