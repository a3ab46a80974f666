// SPDX-License-Identifier: Apache-2.0
// A model with a layer or loss of every kind, each called after its kind.
#pragma once

#include "described.hpp"

namespace every_kind {

using namespace halftone::dsl;

constexpr Dimension times = symbol("times");
constexpr auto swapped = [](auto x) { return 1.0 - x; };

/// A layer of every kind that the lists name, called as in them.
constexpr auto every = model(
    "every",
    inputs(tokens("word", batch, times), tensor("x", batch, times, 8), labels("next", batch, times),
           segments("part", batch, times), tensor("target", batch, times, 16),
           tensor("sign", batch, times), tensor("sound", batch, 16, 8), tensor("filter", 16, 8)),
    from("word") | embedding("embedding", 11, 8) | position_embedding("position_embedding", 16) |
        add("x") | as("add") | rotary("rotary", 1) | sinusoidal_embedding("sinusoidal_embedding") |
        causal_conv1d("causal_conv1d", 3) | conv1d("convolution", 8, 3, same) |
        conv_transpose1d("transposed_convolution", 8, 3, same) |
        max_pool1d("pool", 3, stride(1), same) | reshape("plane", batch, times, 8, 1) |
        upsample1d("upsample", 1) | pad1d("pad", padding(1, -1)) |
        adaptive_max_pool1d("adaptive_pool", 8) | pixel_shuffle("pixel_shuffle", factor(1)) |
        reshape("line", batch, times, 8) | segment_sum("segment_reduce", 4, "part") |
        segment_broadcast("segment_broadcast", "part") | dropout("dropout", 0.1) |
        layer_norm("layer_norm") | linear("linear", 8) | gelu("gelu") |
        group_norm("group_norm", 2) | global_avg_pool("global_average_pool") |
        expand("expand", batch, times, 8) | batch_norm("batch_norm"),
    from("batch_norm") | attention("attention", "linear", "gelu", heads(2)) | rms_norm("rms_norm") |
        relu("relu") | silu("silu") | softmax("softmax") | pointwise("pointwise", swapped) |
        concat("relu") | as("concat") | output("y"),
    from("relu") | matmul("matmul", "silu", transpose_a) | output("gram"),
    from("sound") | linear("narrow", 8) | slice("slice", 0, 4) | standardize("standardize") |
        transpose("transpose", 0, 2, 1) | reshape("reshape", batch, 64) | output("columns"),
    from("sound") | long_convolution("long_convolution", "filter") | output("waves"),
    losses(cross_entropy("cross_entropy", "y", "next"), mse("mse", "y", "target"),
           pointwise_loss(
               "pointwise_loss", [](auto x, auto y) { return abs(x - y); }, "y", "target"),
           soft_cross_entropy("soft_cross_entropy", "y", "target"),
           cosine_embedding("cosine_embedding", "y", "target", "sign")));

}  // namespace every_kind
