// SPDX-License-Identifier: Apache-2.0
// The model: a U-Net that is given clips with noise and how much of it there is, and says what the
// noise is (Ho et al. 2020); 0.5 million parameters. Windows slide over the places of a frame, then
// over the frames of a place; at 8 x 8 places attention looks at all of a frame, then at all
// frames. What it is trained in is said by the rules of diffusion_f32.hpp and its neighbours.
#pragma once

#include <halftone/dsl.hpp>

#include "clips.hpp"
using namespace halftone::dsl;

/// Of the last layer of a block and of the U-Net: at first a block changes nothing.
constexpr auto zero = init_constant(0);

constexpr auto block(int side, int channels) {
  return residual(as("in") | from("level_vector") | linear("level", channels) |
                  expand("shift", batch, kFrames, side, side, channels) | from("in") |
                  group_norm("norm1", 8) | silu | conv2d("places", channels, 3, same) |
                  add("shift") | as("shifted") | group_norm("norm2", 8) | silu |
                  conv3d("frames", channels, kernel(3, 1, 1), same, zero, on_bias(zero)));
}

constexpr auto attended = linear("key", 96) | from("seen") | linear("value", 96) | from("seen") |
                          linear("query", 96) | attention("mix", "key", "value", heads(4)) |
                          linear("join", 96, zero, on_bias(zero));
/// Every place of 8 x 8 sees all of its frame.
constexpr auto over_places =
    residual(group_norm("norm", 8) | reshape("seen", batch, kFrames, 64, 96) | attended |
             reshape("image", batch, kFrames, 8, 8, 96));
/// And itself in all frames.
constexpr auto over_frames =
    residual(group_norm("norm", 8) | reshape("rows", batch, kFrames, 64, 96) |
             transpose("turned", 0, 2, 1, 3) | position_embedding("seen", kFrames) | attended |
             transpose("turned_back", 0, 2, 1, 3) | reshape("image", batch, kFrames, 8, 8, 96));

/// noised = clip_share * clip + noise_share * noise. What the U-Net leaves is clip_share * noise -
/// noise_share * clip (Salimans and Ho 2022), of which the noise is made: where there is hardly a
/// clip it is hardly anything but `noised`, and the U-Net's errors do not count.
constexpr auto diffusion = model(
    "diffusion",
    inputs(tensor("noised", batch, kFrames, kSide, kSide, kColours), positions("level", batch, 1),
           tensor("clip_share", batch, kColours), tensor("noise_share", batch, kColours),
           tensor("noise", batch, kFrames, kSide, kSide, kColours)),
    from("clip_share") | expand("clip_shares", batch, kFrames, kSide, kSide, kColours),
    from("noise_share") | expand("noise_shares", batch, kFrames, kSide, kSide, kColours),
    from("level") | embedding("table", kLevels, 64, zero) | sinusoidal_embedding("wave", "level") |
        linear("level1", 128) | silu | linear("level2", 128) | silu |
        reshape("level_vector", batch, 128),
    from("noised") | conv2d("stem", 24, 3, same) | named("down32", block(32, 24)) |
        avg_pool2d("to16", 2) | conv2d("widen16", 48, 1) | named("down16", block(16, 48)) |
        avg_pool2d("to8", 2) | conv2d("widen8", 96, 1) | named("down8", block(8, 96)) |
        named("over_places", over_places) | named("over_frames", over_frames) |
        named("up8", block(8, 96)) | upsample2d("back16", 2) | concat("down16") |
        conv2d("narrow16", 48, 1) | named("up16", block(16, 48)) | upsample2d("back32", 2) |
        concat("down32") | conv2d("narrow32", 24, 1) | named("up32", block(32, 24)) |
        group_norm("norm", 8) | silu | conv2d("head", kColours, 3, same, zero, on_bias(zero)) |
        pointwise(
            "both",
            [](auto left, auto noised, auto clip, auto noise) {
              return clip * left + noise * noised;
            },
            "noised", "clip_shares", "noise_shares") |
        output("guess"),
    losses(mse("loss", "guess", "noise")));

/// What is stored and read is of 16 bits, also the weights of attention, whose softmax is f32; what
/// normalises, what is behind the U-Net and the loss are f32.
constexpr auto in_16_bits(Element half) {
  return precision(everywhere(store(half), compute(half)),
                   where(normalization | softmax | loss)(compute(f32)),
                   where(layer("*/mix.{weights,score_gradients}") & internal_values)(store(half)),
                   where(layer("head") & activations)(store(f32)),
                   where(layer("{both,clip_shares,noise_shares}"))(store(f32), compute(f32)));
}
/// The same in one stage of a run.
constexpr auto in_16_bits(Element half, const char* stage) {
  const Selector here = during(stage);
  return precision(
      where(here)(store(half), compute(half)),
      where((normalization | softmax | loss) & here)(compute(f32)),
      where(layer("*/mix.{weights,score_gradients}") & internal_values & here)(store(half)),
      where(layer("head") & activations & here)(store(f32)),
      where(layer("{both,clip_shares,noise_shares}") & here)(store(f32), compute(f32)));
}
/// Twice as large after 100 good steps, half as large after one that overflowed.
constexpr auto f16_scale =
    dynamic_loss_scale(initial(65536), growth(2), backoff(0.5), interval(100));
/// Between the sums that end blocks nothing is kept: the backward pass computes it again.
constexpr auto checkpointed =
    precision(everywhere(recompute(always)), where(layer("*/*.add"))(recompute(never)));

constexpr auto optimizer = adamw(lr(1e-3), betas(0.9, 0.99), weight_decay(0.01));
constexpr auto rate =
    schedule([](auto step) { return linear_warmup(step, 100) * cosine(step, 2000, 0.1); });
