// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019) of any depth and width, with heads of 64 columns. The head is the
// embedding's weight.
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr Dimension times = symbol("times");

constexpr auto gpt2_linear(const char* name, long long outputs) {
  return linear(name, outputs, init_normal(0, 0.02), on_bias(init_constant(0), no_decay));
}

template <long long Blocks>
constexpr auto gpt2_of(const char* name, long long columns, long long words) {
  const auto look_back =
      layer_norm("ln_1", no_decay) | as("in") | gpt2_linear("key", columns) | from("in") |
      gpt2_linear("value", columns) | from("in") | gpt2_linear("query", columns) |
      attention("mix", "key", "value", heads(columns / 64), causal) | gpt2_linear("join", columns);
  const auto think = layer_norm("ln_2", no_decay) | gpt2_linear("fc", 4 * columns) |
                     gelu_tanh("act") | gpt2_linear("proj", columns);
  return model(name, inputs(tokens("word", batch, times), labels("next", batch, times)),
               from("word") | embedding("wte", words, columns, init_normal(0, 0.02)) |
                   position_embedding("wpe", 1024, init_normal(0, 0.01)) |
                   repeat<Blocks>("h", residual(look_back) | residual(think)) |
                   layer_norm("ln_f", no_decay) | linear("head", words, no_bias, tied("wte")) |
                   output("logits"),
               losses(cross_entropy("error", "logits", "next")));
}

constexpr auto gpt2_optimizer = adamw(lr(6e-4), betas(0.9, 0.95), weight_decay(0.1));
