// SPDX-License-Identifier: Apache-2.0
// The model: windows of tokens in, the logits of each token's successor out; 2.6 million
// parameters. What it is trained in is said by the rules of language_f32.hpp, language_bf16.hpp,
// language_f16.hpp and language_tf32.hpp.
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto attended =
    rms_norm("norm") | linear("k", 192, no_bias) | rotary("key", 6) | from("norm") |
    linear("value", 192, no_bias) | from("norm") | linear("q", 192, no_bias) | rotary("query", 6) |
    attention("mix", "key", "value", heads(6), causal) | linear("join", 192, no_bias);
constexpr auto thought = rms_norm("norm2") | swiglu("mlp", 512, 192, no_bias);

constexpr auto language =
    model("language",
          inputs(tokens("token", batch, symbol("time")), labels("next", batch, symbol("time"))),
          from("token") | embedding("embed", 4096, 192, init_normal(0, 0.02)) |
              repeat<4>("h", residual(attended) | residual(thought)) | rms_norm("norm") |
              linear("head", 4096, no_bias, tied("embed")) | output("logits"),
          losses(cross_entropy("loss", "logits", "next")));

constexpr auto optimizer = adamw(lr(2e-3), betas(0.9, 0.95), weight_decay(0.1));
constexpr auto rate =
    schedule([](auto step) { return linear_warmup(step, 60) * cosine(step, 1200, 0.1); });
