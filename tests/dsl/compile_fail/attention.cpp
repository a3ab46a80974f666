// SPDX-License-Identifier: Apache-2.0
// Heads and masks of attention.
#include <cases.hpp>

// EXPECT attention_heads: layer 'mix' has 6 heads for 4 key heads: make the heads a multiple of the
// key heads
namespace attention_heads {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24)),
          from("x") | attention("mix", "x", "x", heads(6), key_heads(either(4, 6))) | output("z"));
MODEL(net, rules)
}  // namespace attention_heads

// EXPECT attention_cut: layer 'mix' cuts 24 columns of input 'x' into 5 heads: make the columns a
// multiple of the heads
namespace attention_cut {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24)),
          from("x") | attention("mix", "x", "x", heads(either(5, 6))) | output("z"));
MODEL(net, rules)
}  // namespace attention_cut

// EXPECT attention_columns: layer 'mix' has 6 columns of the query in a head but 4 of input 'k':
// make them equal
namespace attention_columns {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24), tensor("k", batch, 7, either(16, 24))),
          from("x") | attention("mix", "k", "k", heads(4)) | output("z"));
MODEL(net, rules)
}  // namespace attention_columns

// EXPECT attention_values: layer 'mix' reads keys [batch, 7, 24] and values [batch, 5, 24] of input
// 'x': give every key one value: make all dimensions but the last equal
namespace attention_values {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24), tensor("k", batch, 7, 24)),
          from("x") | attention("mix", "k", either("x", "k"), heads(4)) | output("z"));
MODEL(net, rules)
}  // namespace attention_values

// EXPECT attention_length: layer 'mix' reads the length [batch, 5] of input 'n': make it [batch]
namespace attention_length {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 5, 24), either(lengths("n", batch, 5), lengths("n", batch))),
    from("x") | attention("mix", "x", "x", heads(4), length("n")) | output("z"));
MODEL(net, rules)
}  // namespace attention_length

// EXPECT attention_values_as_length: layer 'mix' takes input 'n' as its length: declare an input
// with lengths() for it
namespace attention_values_as_length {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24), either(tensor("n", batch), lengths("n", batch))),
          from("x") | attention("mix", "x", "x", heads(4), length("n")) | output("z"));
MODEL(net, rules)
}  // namespace attention_values_as_length

// EXPECT attention_segments: layer 'mix' has segments of one sequence, but queries [batch, 5, 24]
// and keys [batch, 7, 24] of input 'k': make all dimensions but the last equal
namespace attention_segments {
constexpr auto net =
    model("net",
          inputs(tensor("x", batch, 5, 24), tensor("k", batch, either(7, 5), 24),
                 segments("s", batch, 5)),
          from("x") | attention("mix", "k", "k", heads(4), segment("s")) | output("z"));
MODEL(net, rules)
}  // namespace attention_segments

// EXPECT attention_dropout_rate: layer 'mix' has a dropout_rate that is negative or not below 1:
// write dropout_rate(0.1)
namespace attention_dropout_rate {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 5, 24)),
    from("x") | attention("mix", "x", "x", heads(4), dropout_rate(either(1.0, 0.5))) | output("z"));
MODEL(net, rules)
}  // namespace attention_dropout_rate

// EXPECT attention_without_heads: attention takes a name, the names of keys and of values, heads(),
// and each at most once key_heads(), causal, window(), score_scale(), soft_cap(), alibi,
// dropout_rate(), length(), key_mask() and segment(): write attention("mix", "k", "v",
// heads(8), causal)
namespace attention_without_heads {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24)),
          from("x") | attention("mix", "x", "x", either(causal, heads(4))) | output("z"));
MODEL(net, rules)
}  // namespace attention_without_heads

// EXPECT attention_twice: attention takes a name, the names of keys and of values, heads(), and
// each at most once key_heads(), causal, window(), score_scale(), soft_cap(), alibi,
// dropout_rate(), length(), key_mask() and segment(): write attention("mix", "k", "v",
// heads(8), causal)
namespace attention_twice {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 5, 24)),
    from("x") | attention("mix", "x", "x", heads(4), causal, either(causal, alibi)) | output("z"));
MODEL(net, rules)
}  // namespace attention_twice

// EXPECT attention_symbol: layer 'mix' cuts columns into heads, but those of input 'x' are the
// symbol 'time': give it a number
namespace attention_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, either(symbol("time"), Dimension(24)))),
          from("x") | attention("mix", "x", "x", heads(4)) | output("z"));
MODEL(net, rules)
}  // namespace attention_symbol

// EXPECT attention_soft_cap: layer 'mix' has a soft_cap that is, in f32, not positive and finite or
// has a reciprocal that is not: write soft_cap(50)
namespace attention_soft_cap {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 5, 24)),
          from("x") | attention("mix", "x", "x", heads(4), soft_cap(either(0, 30))) | output("z"));
MODEL(net, rules)
}  // namespace attention_soft_cap
