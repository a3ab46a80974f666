// SPDX-License-Identifier: Apache-2.0
// Shapes, and what each layer may read.
#include <cases.hpp>

// EXPECT concat_shape: layer 'both' puts [batch, 8] beside [time, 8] of input 'w': make all
// dimensions but the last equal
namespace concat_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", either(symbol("time"), batch), 8)),
          from("x") | concat("w") | as("both") | output("z"));
MODEL(net, rules)
}  // namespace concat_shape

// EXPECT concat_symbol: layer 'both' adds up last dimensions, but that of input 'w' is the symbol
// 'time': give it a number
namespace concat_symbol {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("w", batch, either(symbol("time"), Dimension(5)))),
    from("x") | concat("w") | as("both") | output("z"));
MODEL(net, rules)
}  // namespace concat_symbol

// EXPECT label_shape: loss 'loss' reads logits [batch, 10] and [time] of input 'digit': make the
// label [batch]
namespace label_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), labels("digit", either(symbol("time"), batch))),
          from("x") | linear("fc", 10) | output("logits"),
          losses(cross_entropy("loss", "logits", "digit")));
MODEL(net, rules, adamw())
}  // namespace label_shape

// EXPECT weight_shape: loss 'loss' weighs rows of [batch, 10] by [batch, 10] of input 'v': make the
// sample_weight [batch]
namespace weight_shape {
constexpr auto net =
    model("net",
          inputs(tensor("x", batch, 8), labels("digit", batch), tensor("w", batch),
                 tensor("v", batch, 10)),
          from("x") | linear("fc", 10) | output("logits"),
          losses(mse("other", "logits", "v", sample_weight("v")),
                 mse("third", "logits", "v", sample_weight("w")),
                 cross_entropy("loss", "logits", "digit", sample_weight(either("v", "w")))));
MODEL(net, rules, adamw())
}  // namespace weight_shape

// EXPECT weight_of_columns: loss 'loss' weighs [batch, 10] by [10] of input 'w': make the
// sample_weight [batch], a weight for every row, or [batch, 10], one for every element
namespace weight_of_columns {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 10), tensor("w", either(10, batch))),
    from("x") | linear("fc", 10) | output("guess"),
    losses(pointwise_loss(
        "loss", [](auto x, auto y) { return abs(x - y); }, sample_weight("w"), "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace weight_of_columns

// EXPECT weight_of_scalars: loss 'loss' weighs [batch] by [batch, 1] of input 'w': make the
// sample_weight [batch]
namespace weight_of_scalars {
constexpr auto net = model(
    "net",
    inputs(tensor("x", batch, 8), tensor("y", batch, 1), tensor("z", batch), tensor("w", batch, 1)),
    from("x") | linear("fc", 1) | output("guess"), from("guess") | reshape("flat", batch),
    losses(mse("loss", either("flat", "guess"), either("z", "y"), sample_weight("w")),
           mse("more", "flat", "z"), mse("rest", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace weight_of_scalars

// EXPECT computed_weight: loss 'loss' takes layer 'weigh' as its sample_weight, which is no input:
// declare one with tensor() for it
namespace computed_weight {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("y", batch, 10), tensor("w", batch)),
    from("x") | linear("fc", 10) | output("guess"), from("w") | relu("weigh") | output("weights"),
    losses(mse("loss", "guess", "y", sample_weight(either("weigh", "w")))));
MODEL(net, rules, adamw())
}  // namespace computed_weight

// EXPECT integer_weight: loss 'loss' reads input 'w' as a value, but it holds integers: declare it
// with tensor(), or use it as the label of a loss, the token of an embedding or what masks keys of
// an attention
namespace integer_weight {
constexpr auto net = model("net",
                           inputs(tensor("x", batch, 8), tensor("y", batch, 10),
                                  either(labels("w", batch), tensor("w", batch))),
                           from("x") | linear("fc", 10) | output("guess"),
                           losses(mse("loss", "guess", "y", sample_weight("w"))));
MODEL(net, rules, adamw())
}  // namespace integer_weight

// EXPECT unknown_weight: 'wieght'
namespace unknown_weight {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 10), tensor("weight", batch)),
          from("x") | linear("fc", 10) | output("guess"), from("weight") | relu("r") | output("z"),
          losses(mse("loss", "guess", "y", sample_weight(either("wieght", "weight")))));
MODEL(net, rules, adamw())
}  // namespace unknown_weight

// EXPECT integers_as_values: layer 'sum' reads input 'digit' as a value, but it holds integers:
// declare it with tensor(), or use it as the label of a loss, the token of an embedding or what
// masks keys of an attention
namespace integers_as_values {
constexpr auto net =
    model("net", inputs(tensor("x", batch), either(labels("digit", batch), tensor("digit", batch))),
          from("x") | add("digit") | as("sum") | output("z"));
MODEL(net, rules)
}  // namespace integers_as_values

// EXPECT loss_as_value: loss 'loss' is a loss and cannot be read as a value: read the value that
// the loss is computed from
namespace loss_as_value {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", 4) | output("guess"),
                           from(either("loss", "guess")) | relu("act") | output("z"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace loss_as_value
// EXPECT matmul_of_a_vector: layer 'product' multiplies matrices, but input 'w' is [8]: give it two
// dimensions or more
namespace matmul_of_a_vector {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), either(tensor("w", 8), tensor("w", 8, 5))),
          from("x") | matmul("product", "w") | output("z"));
MODEL(net, rules)
}  // namespace matmul_of_a_vector

// EXPECT matmul_batch: layer 'product' multiplies [batch, 3, 4] by [3, 4, 5] of input 'w': make all
// dimensions but the last two equal
namespace matmul_batch {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 3, 4), tensor("w", either(Dimension(3), batch), 4, 5)),
          from("x") | matmul("product", "w") | output("z"));
MODEL(net, rules)
}  // namespace matmul_batch

// EXPECT matmul_inner: layer 'product' sums over 8 of input 'x' but 5 of input 'w': make them
// equal, or transpose one of the two
namespace matmul_inner {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), tensor("w", 5, 8)),
    from("x") | either(matmul("product", "w"), matmul("product", "w", transpose_b)) | output("z"));
MODEL(net, rules)
}  // namespace matmul_inner

// EXPECT matmul_of_transposed: layer 'product' sums over batch of input 'x' but 8 of input 'w':
// make them equal, or transpose one of the two
namespace matmul_of_transposed {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", either(Dimension(8), batch), 5)),
          from("x") | matmul("product", "w", transpose_a) | output("z"));
MODEL(net, rules)
}  // namespace matmul_of_transposed

// EXPECT long_convolution_of_a_vector: layer 'long' reads [8] but works on sequences: give its
// input a dimension of places before the last one
namespace long_convolution_of_a_vector {
constexpr auto net =
    model("net", inputs(either(tensor("x", 8), tensor("x", 9, 8)), tensor("w", 9, 8)),
          from("x") | long_convolution("long", "w") | output("z"));
MODEL(net, rules)
}  // namespace long_convolution_of_a_vector

// EXPECT long_convolution_of_a_symbol: layer 'long' transforms [batch, 8], whose length or channels
// are a symbol: give its last two dimensions numbers
namespace long_convolution_of_a_symbol {
constexpr auto net = model("net",
                           inputs(either(tensor("x", batch, 8), tensor("x", batch, 9, 8)),
                                  either(tensor("w", batch, 8), tensor("w", 9, 8))),
                           from("x") | long_convolution("long", "w") | output("z"));
MODEL(net, rules)
}  // namespace long_convolution_of_a_symbol

// EXPECT long_convolution_filter: layer 'long' convolves [batch, 9, 8] with [8, 8] of input 'w':
// make the filter [9, 8], a value for every place and channel
namespace long_convolution_filter {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8), tensor("w", either(8, 9), 8)),
                           from("x") | long_convolution("long", "w") | output("z"));
MODEL(net, rules)
}  // namespace long_convolution_filter

// EXPECT long_convolution_places: layer 'long' transforms sequences of 1048577 places and 1
// channels: make them 1048576 places at most, and 536870912 elements
namespace long_convolution_places {
constexpr int places = either((1 << 20) + 1, 1 << 20);
constexpr auto net = model("net", inputs(tensor("x", batch, places, 1), tensor("w", places, 1)),
                           from("x") | long_convolution("long", "w") | output("z"));
MODEL(net, rules)
}  // namespace long_convolution_places

// EXPECT mse_shape: loss 'loss' compares [batch, 3] with [batch, 4] of input 'y': make the shapes
// equal
namespace mse_shape {
constexpr auto net = model("net", inputs(tensor("x", batch, 8), tensor("y", batch, 4)),
                           from("x") | linear("fc", either(3, 4)) | output("guess"),
                           losses(mse("loss", "guess", "y")));
MODEL(net, rules, adamw())
}  // namespace mse_shape

// EXPECT many_taps: layer 'conv' has 17 taps: write causal_conv1d(name, taps) with 1 to 16
namespace many_taps {
constexpr auto net = model("net", inputs(tensor("x", batch, symbol("time"), 8)),
                           from("x") | causal_conv1d("conv", either(17, 16)) | output("z"));
MODEL(net, rules)
}  // namespace many_taps

// EXPECT no_taps: layer 'conv' has 0 taps: write causal_conv1d(name, taps) with 1 to 16
namespace no_taps {
constexpr auto net = model("net", inputs(tensor("x", batch, symbol("time"), 8)),
                           from("x") | causal_conv1d("conv", either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace no_taps

// EXPECT no_times: layer 'conv' reads [8] but works on sequences: give its input a dimension of
// times before the last one
namespace no_times {
constexpr auto net = model("net", inputs(either(tensor("x", 8), tensor("x", symbol("time"), 8))),
                           from("x") | causal_conv1d("conv", 4) | output("z"));
MODEL(net, rules)
}  // namespace no_times

// EXPECT no_columns: layer 'norm' reads a scalar but works on rows: give its input a dimension
namespace no_columns {
constexpr auto net = model("net", inputs(either(tensor("x"), tensor("x", 8))),
                           from("x") | layer_norm("norm") | output("z"));
MODEL(net, rules)
}  // namespace no_columns

// EXPECT pointwise_shape: layer 'gate' works on equal shapes but reads [batch, 8] and [batch, 5] of
// input 'w': make the shapes equal
namespace pointwise_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8), tensor("w", batch, either(5, 8))),
          from("x") | pointwise("gate", [](auto a, auto b) { return a * b; }, "w") | output("z"));
MODEL(net, rules)
}  // namespace pointwise_shape

// EXPECT repeat_shape: repeat 'h' gives its body [batch, 8] but the body returns [batch, 6]: make
// its last layer return [batch, 8]
namespace repeat_shape {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | repeat<3>("h", linear("fc", either(6, 8))) | output("z"));
MODEL(net, rules)
}  // namespace repeat_shape

// EXPECT residual_shape: adds [batch, 8] and its residual body's [batch, 6]: make the body's last
// layer return [batch, 8]
namespace residual_shape {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | residual(linear("fc", either(6, 8)) | relu("act")) | output("z"));
MODEL(net, rules)
}  // namespace residual_shape

// EXPECT symbolic_columns: layer 'fc' has weights and reads rows whose length is the symbol
// 'batch': give the last dimension a number
namespace symbolic_columns {
constexpr auto net = model("net", inputs(either(tensor("x", batch), tensor("x", 8))),
                           from("x") | linear("fc", 4) | output("z"));
MODEL(net, rules)
}  // namespace symbolic_columns

// EXPECT values_as_integers: loss 'loss' takes input 'digit' as its label: declare an input with
// labels() for it
namespace values_as_integers {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 8), either(tensor("digit", batch), labels("digit", batch))),
    from("x") | linear("fc", 10) | output("logits"),
    losses(cross_entropy("loss", "logits", "digit")));
MODEL(net, rules, adamw())
}  // namespace values_as_integers

// EXPECT values_as_tokens: layer 'embed' takes input 'word' as its token: declare an input with
// tokens() for it
namespace values_as_tokens {
constexpr auto net = model("net", inputs(either(tensor("word", batch), tokens("word", batch))),
                           from("word") | embedding("embed", 64, 16) | output("z"));
MODEL(net, rules)
}  // namespace values_as_tokens

// EXPECT padding_behind_rows: layer 'embed' has the padding_index 64 and 64 rows: write the number
// of one of them, from 0 on
namespace padding_behind_rows {
constexpr auto net =
    model("net", inputs(tokens("word", batch)),
          from("word") | embedding("embed", 64, 16, padding_index(either(64, 63))) | output("z"));
MODEL(net, rules)
}  // namespace padding_behind_rows

// EXPECT embedding_of_nothing: layer 'embed' has a weight of 64 rows and 0 columns: write
// embedding(name, rows, columns) with 1 or more of both
namespace embedding_of_nothing {
constexpr auto net = model("net", inputs(tokens("word", batch)),
                           from("word") | embedding("embed", 64, either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace embedding_of_nothing

// EXPECT most_dimensions: layer 'embed' adds a dimension to [1, 2, 3, 4, 5, 6], which has the most
// that there can be: join some of its dimensions
namespace most_dimensions {
constexpr auto net =
    model("net", inputs(either(tokens("word", 1, 2, 3, 4, 5, 6), tokens("word", 1, 2, 3, 4, 30))),
          from("word") | embedding("embed", 64, 16) | output("z"));
MODEL(net, rules)
}  // namespace most_dimensions

// EXPECT wrong_width: layer 'sum' adds [batch, 6] and [batch, 8] of input 'x': make the shapes
// equal
namespace wrong_width {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("fc", either(6, 8)) | add("x") | as("sum") | output("z"));
MODEL(net, rules)
}  // namespace wrong_width

// EXPECT reshape_elements: layer 'heads' makes [batch, 12, 5] of [batch, 48] of layer 'fc', which
// has another number of elements: keep every symbol and the product of the numbers
namespace reshape_elements {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 8)),
          from("x") | linear("fc", 48) | reshape("heads", batch, 12, either(5, 4)) | output("z"));
MODEL(net, rules)
}  // namespace reshape_elements

// EXPECT reshape_symbols: layer 'flat' makes [batch, batch, 8] of [batch, time, 8] of input 'x',
// which has another number of elements: keep every symbol and the product of the numbers
namespace reshape_symbols {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 8)),
          from("x") | reshape("flat", batch, either(batch, symbol("time")), 8) | output("z"));
MODEL(net, rules)
}  // namespace reshape_symbols

// EXPECT reshape_factors: layer 'flat' makes [batch, 2*time, 8] of [batch, time, 8] of input 'x',
// which has another number of elements: keep every symbol and the product of the numbers
namespace reshape_factors {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 8)),
          from("x") | reshape("flat", batch, 2 * symbol("time"), either(8, 4)) | output("z"));
MODEL(net, rules)
}  // namespace reshape_factors

// EXPECT symbol_factor: input 'x' has a dimension of 65537 times the symbol 'time': write a factor
// from 1 to 65536
namespace symbol_factor {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 256 * (symbol("time") * either(257, 256)), 8)),
          from("x") | relu("act") | output("z"));
MODEL(net, rules)
}  // namespace symbol_factor

// EXPECT symbol_no_factor: input 'x' has a dimension of 0 times the symbol 'time': write a factor
// from 1 to 65536
namespace symbol_no_factor {
constexpr auto net = model("net", inputs(tensor("x", batch, either(-2, 2) * symbol("time"), 8)),
                           from("x") | relu("act") | output("z"));
MODEL(net, rules)
}  // namespace symbol_no_factor

// EXPECT part_of_symbol: input 'x' has a part of the symbol 'time' as a dimension: give the input a
// multiple of it, as 2 * symbol("time"), of which a stride of 2 leaves the symbol
namespace part_of_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, (either(3, 4) * symbol("time")) / 2, 8)),
          from("x") | relu("act") | output("z"));
MODEL(net, rules)
}  // namespace part_of_symbol

// EXPECT sum_of_symbol: input 'x' has a dimension that adds to the symbol 'time': give it a
// multiple of that, to which pad1d() and its like add
namespace sum_of_symbol {
constexpr auto net = model("net", inputs(tensor("x", batch, symbol("time") - either(1, 0), 8)),
                           from("x") | relu("act") | output("z"));
MODEL(net, rules)
}  // namespace sum_of_symbol

// EXPECT product_of_symbols: layer 'flat' has a product of the symbol 'time' and a symbol as a
// dimension: keep them as two dimensions
namespace product_of_symbols {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, symbol("time"), 8)),
    from("x") | reshape("flat", batch, symbol("time") * either(batch, 1), 8) | output("z"));
MODEL(net, rules)
}  // namespace product_of_symbols

// EXPECT reshape_extent: layer 'flat' has a dimension of -1: write a positive number or a symbol
namespace reshape_extent {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | reshape("flat", batch, either(-1, 8)) | output("z"));
MODEL(net, rules)
}  // namespace reshape_extent

// EXPECT slice_behind_the_end: layer 'q' takes columns 4 to 9 of [batch, 8] of input 'x': let begin
// be less than end, and end at most the last dimension
namespace slice_behind_the_end {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | slice("q", 4, either(9, 8)) | output("z"));
MODEL(net, rules)
}  // namespace slice_behind_the_end

// EXPECT slice_of_nothing: layer 'q' takes columns 4 to 4 of [batch, 8] of input 'x': let begin be
// less than end, and end at most the last dimension
namespace slice_of_nothing {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | slice("q", either(4, 3), 4) | output("z"));
MODEL(net, rules)
}  // namespace slice_of_nothing

// EXPECT slice_without_end: slice takes a name and two whole numbers, the first column and the one
// behind the last: write slice("q", 0, 64)
namespace slice_without_end {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | either(slice("q", 4), slice("q", 0, 4)) | output("z"));
MODEL(net, rules)
}  // namespace slice_without_end

// EXPECT slice_before_the_row: layer 'q' has a begin that is negative or no i32: write 0
namespace slice_before_the_row {
constexpr auto net = model("net", inputs(tensor("x", batch, 8)),
                           from("x") | slice("q", either(-1, 0), 4) | output("z"));
MODEL(net, rules)
}  // namespace slice_before_the_row

// EXPECT slice_of_a_symbol: layer 'q' takes columns of [8, batch] of input 'x', whose last
// dimension is the symbol 'batch': give it a number
namespace slice_of_a_symbol {
constexpr auto net = model("net", inputs(either(tensor("x", 8, batch), tensor("x", batch, 8))),
                           from("x") | slice("q", 0, 4) | output("z"));
MODEL(net, rules)
}  // namespace slice_of_a_symbol

// EXPECT transpose_count: layer 'swap' states 2 axes for [batch, 4, 8] of input 'x': state the
// number of every dimension once, counted from 0
namespace transpose_count {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 4, 8)),
          from("x") | either(transpose("swap", 1, 0), transpose("swap", 1, 0, 2)) | output("z"));
MODEL(net, rules)
}  // namespace transpose_count

// EXPECT transpose_axis: layer 'swap' states the axis 3, which [batch, 4, 8] of input 'x' has not:
// count dimensions from 0
namespace transpose_axis {
constexpr auto net = model("net", inputs(tensor("x", batch, 4, 8)),
                           from("x") | transpose("swap", 0, either(3, 2), 1) | output("z"));
MODEL(net, rules)
}  // namespace transpose_axis

// EXPECT transpose_twice: layer 'swap' states the axis 1 twice: state every dimension once
namespace transpose_twice {
constexpr auto net = model("net", inputs(tensor("x", batch, 4, 8)),
                           from("x") | transpose("swap", 0, 1, either(1, 2)) | output("z"));
MODEL(net, rules)
}  // namespace transpose_twice
