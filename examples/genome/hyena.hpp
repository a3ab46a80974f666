// SPDX-License-Identifier: Apache-2.0
// The backbone: bytes in, a vector of 64 for each of them out, which has seen it and all before it;
// two blocks of a Hyena operator of order 2 (Poli et al. 2023, https://arxiv.org/abs/2302.10866)
// and a layer of its own for each byte; 0.13 million parameters at any length.
#pragma once

#include <halftone/dsl.hpp>

#include "sizes.hpp"
using namespace halftone::dsl;

/// A filter for every channel, as long as the text: what a small network makes of each place, under
/// a window that falls with it.
constexpr auto filter = from("place") | linear("filter1", 32) |
                        pointwise("wave1", [](auto x) { return sin(4 * x); }) |
                        linear("filter2", 32) | pointwise("wave2", [](auto x) { return sin(x); }) |
                        linear("filter3", kWidth) |
                        pointwise(
                            "filter", [](auto x, auto window) { return x * window; }, "window");

/// query * (filter * (key * value) + direct . (key * value)), of which * with a filter is a
/// convolution.
constexpr auto hyena =
    as("in") | filter | from("in") | layer_norm("norm") | linear("mixed", 3 * kWidth) |
    causal_conv1d("short", 3) | slice("query", 0, kWidth) | from("short") |
    slice("key", kWidth, 2 * kWidth) | from("short") | slice("value", 2 * kWidth, 3 * kWidth) |
    pointwise(
        "seen", [](auto value, auto key) { return value * key; }, "key") |
    long_convolution("long", "filter") | from("seen") | causal_conv1d("direct", 1, no_bias) |
    pointwise(
        "gated", [](auto direct, auto far, auto query) { return query * (far + direct); }, "long",
        "query") |
    linear("out", kWidth);

constexpr auto thought =
    layer_norm("norm2") | linear("wide", 4 * kWidth) | gelu_tanh("act") | linear("narrow", kWidth);

constexpr auto backbone = from("text") | embedding("embed", kBytes, kWidth, init_normal(0, 0.02)) |
                          repeat<2>("h", residual(hyena) | residual(thought)) | layer_norm("norm");

/// What the backbone reads of a text of n bytes: the bytes, and for each place, the same in all
/// texts, what places.hpp says of it.
constexpr auto text(int n) { return tokens("text", batch, n); }
constexpr auto places(int n) {
  return states(state("place", n, kPlaceNumbers), state("window", n, kWidth));
}

/// The next byte behind each.
constexpr auto next_byte(int n) {
  return model("next_byte", inputs(text(n), labels("label", batch, n)), places(n),
               backbone | linear("head", kBytes) | output("logits"),
               losses(cross_entropy("loss", "logits", "label")));
}
/// The class of a whole text.
constexpr auto classified(const char* name, int n, int classes) {
  return model(name, inputs(text(n), labels("label", batch)), places(n),
               backbone | global_avg_pool("pooled") | linear("head", classes) | output("logits"),
               losses(cross_entropy("loss", "logits", "label")));
}

/// What is stored and read is of 16 bits; what normalises, the filters with their transforms, the
/// logits and the loss are f32.
constexpr auto in_16_bits(Element half) {
  return precision(
      everywhere(store(half), compute(half)), where(normalization | softmax | loss)(compute(f32)),
      where(layer("h/*/{filter,filter?,wave?}"))(store(f32), compute(f32)),
      where(layer("h/*/long"))(compute(f32)), where(layer("head") & activations)(store(f32)));
}
/// Slow to grow: by half after 200 good steps.
constexpr auto conservative =
    dynamic_loss_scale(initial(1024), growth(1.5), backoff(0.5), interval(200));

constexpr auto optimizer = adamw(lr(2e-3), betas(0.9, 0.98), weight_decay(0.05));
template <int Steps>
constexpr auto rate = schedule([](auto step) {
  return linear_warmup(step, 50) * cosine(step, Steps, 0.1);
});
