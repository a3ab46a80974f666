// SPDX-License-Identifier: Apache-2.0
// Models of images and of joined rows of tests/support/models; specs.hpp has the others.
#pragma once

#include "specs.hpp"

namespace specs {

constexpr auto unet = model(
    "unet", inputs(tensor("image", batch, 4, 4, 3), tensor("target", batch, 4, 4, 5)),
    from("image") |
        conv2d("wide", 8, 3, padding(1), init_uniform(-0.19, 0.19),
               on_bias(init_uniform(-0.19, 0.19))) |
        relu("skip") | max_pool2d("pooled", 2),
    from("skip") | conv2d("down", 8, 3, stride(2), padding(1), no_bias, init_uniform(-0.1, 0.1)),
    from("pooled") | add("down") | as("both") |
        conv2d("deep", 12, 2, padding(0, 0, 1, 1), no_bias, init_uniform(-0.2, 0.2)) | relu("act") |
        upsample2d("up", 2) | concat("skip") | as("joined") |
        conv2d("grown", 8, kernel(1, 2), padding(0, 1, 0, 0), no_bias, init_uniform(-0.15, 0.15)),
    from("joined") | concat("grown") | as("dense") |
        conv2d("mixed", 8, 2, padding(1, 1, 0, 0), init_uniform(-0.1, 0.1),
               on_bias(init_uniform(-0.1, 0.1))) |
        layer_norm("norm"),
    from("image") | concat("norm") | as("seen") |
        conv2d("head", 5, 1, no_bias, init_uniform(-0.3, 0.3)) | output("prediction"),
    losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(unet_program, unet, f32_rules, sgd(lr(0.05), momentum(0.9)))

constexpr auto side = symbol("side");
constexpr auto sides = model(
    "sides",
    inputs(tensor("image", batch, 4 * side, side * 2, 3),
           tensor("target", batch, 2 * (2 * side), 2 * side, 5)),
    from("image") |
        conv2d("wide", 6, 3, same, init_uniform(-0.19, 0.19), on_bias(init_uniform(-0.19, 0.19))) |
        relu("skip") |
        conv2d("down", 8, 3, stride(2), padding(1, 0, 1, 1), no_bias, init_uniform(-0.13, 0.13)) |
        group_norm("norm", 2) |
        max_pool2d("peaks", kernel(3, 1), stride(2, 1), padding(0, 0, 1, 0)),
    from("norm") |
        avg_pool2d("means", kernel(4, 1), stride(2, 1), padding(1, 0, 2, 0), exclude_padding),
    from("peaks") | add("means") | as("deep") |
        conv_transpose2d("grown", 8, kernel(3, 1), stride(2, 1), padding(1, 0, 1, 0),
                         output_padding(1, 0), no_bias, init_uniform(-0.2, 0.2)) |
        upsample2d("lines", 2, bilinear),
    from("skip") | avg_pool1d("small", 2) | upsample1d("repeated", 2),
    from("lines") | concat("skip", "repeated") | as("joined") | pixel_unshuffle("folded", 2) |
        conv2d("fewer", 20, 1, no_bias, init_uniform(-0.11, 0.11)) | pixel_shuffle("unfolded", 2) |
        reshape("rows", batch, 8 * side, (4 * side) / 4, 5) | silu("act") |
        reshape("plane", batch, 4 * side, 2 * side, 5) | output("prediction"),
    losses(mse("error", "plane", "target")));
HALFTONE_PROGRAM(sides_program, sides, f32_rules, sgd(lr(0.05), momentum(0.9)))

constexpr auto sides_padded =
    model("sides_padded",
          inputs(tensor("image", batch, 4 * side, 2 * side, 3), tensor("target", batch, 5)),
          from("image") | drawn("wide", 4, 0.5) |
              conv2d("conv", 4, kernel(3, 4), stride(2, 1), padding(1, 2, 1, 1), reflect,
                     init_uniform(-0.14, 0.14), on_bias(init_uniform(-0.14, 0.14))) |
              silu("act") | pad2d("around", padding(2, -1, 1, 2), circular) |
              pad2d("ends", padding(0, 2, -1, 1), replicate) |
              pad2d("framed", padding(1, -2, 0, 0), pad_value(0.5)) |
              pad2d("inner", padding(-3, 1, -1, -1)) | silu("gated") |
              max_pool2d("peaks", kernel(3, 4), stride(1), padding(2, 0, 1, 1)) |
              pad2d("tall", padding(1, 0, 0, 0), replicate) |
              avg_pool2d("means", kernel(4, 1), stride(2, 1), padding(1, 0, 1, 0), exclude_padding),
          from("tall") |
              conv_transpose2d("spread", 4, kernel(3, 1), stride(2, 1), padding(1, 0, 0, 0),
                               no_bias, init_uniform(-0.28, 0.28)) |
              pixel_unshuffle("folded", factor(2, 1)) |
              reshape("apart", batch, 2 * side + 1, 2 * side, 2, 4) | silu("bent") |
              reshape("together", batch, (4 * side + 2) / 2, 2 * side, 8) |
              pixel_shuffle("unfolded", factor(2, 1)) | avg_pool2d("blocks", kernel(4, 1)),
          from("means") | add("blocks") | as("halves") | adaptive_avg_pool2d("shares", 3, 2),
          from("tall") | adaptive_max_pool2d("most", 2, 3),
          from("gated") | adaptive_max_pool1d("line", 4) | adaptive_avg_pool2d("few", 3, 2),
          from("shares") | add("few") | as("both") | reshape("flat", batch, 24),
          from("most") | reshape("others", batch, 24),
          from("flat") | add("others") | as("sum") | drawn("head", 5, 0.2) | output("prediction"),
          losses(mse("error", "prediction", "target")));
HALFTONE_PROGRAM(sides_padded_program, sides_padded, f32_rules, sgd(lr(0.05), momentum(0.9)))

constexpr auto large_windows = model(
    "large_windows",
    inputs(tensor("image", batch, 11, 9, 2), tensor("peaks", batch, 5, 4, 2),
           tensor("means", batch, 3, 4, 2)),
    from("image") |
        conv2d("first", 2, 1, init_uniform(-0.7, 0.7), on_bias(init_uniform(-0.7, 0.7))),
    from("first") | max_pool2d("most", kernel(9, 8), stride(2), padding(3, 2, 3, 3)) |
        output("most"),
    from("first") |
        avg_pool2d("mean", kernel(11, 6), exclude_padding, stride(3, 1), padding(3, 0, 3, 0)) |
        output("mean"),
    losses(mse("error", "most", "peaks"), mse("mean_error", "mean", "means")));
HALFTONE_PROGRAM(large_windows_program, large_windows, f32_rules, sgd(lr(0.05), momentum(0.9)))

constexpr auto joined_rows =
    model("joined_rows",
          inputs(tensor("x", batch, 2052), tensor("y", batch, 516), tensor("target", batch, 3)),
          from("x") | layer_norm("long", init_uniform(0.5, 1.5), on_bias(init_uniform(-0.5, 0.5))),
          from("y") | layer_norm("short", init_uniform(0.5, 1.5), on_bias(init_uniform(-0.5, 0.5))),
          from("long") | concat("short") | as("joined") |
              linear("head", 3, no_bias, init_uniform(-0.02, 0.02)),
          losses(mse("error", "head", "target")));
HALFTONE_PROGRAM(joined_rows_program, joined_rows, f32_rules, sgd(lr(0.05), momentum(0.9)))

}  // namespace specs
