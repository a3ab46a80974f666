// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto attended =
    model("attended",
          inputs(tokens("token", batch, symbol("time")), labels("next", batch, symbol("time"))),
          from("token") | embedding("embed", 16, 32) | linear("key", 32) | from("embed") |
              linear("value", 32) | from("embed") | linear("query", 32) |
              attention("mix", "key", "value", heads(2), causal) | rms_norm("norm") |
              linear("head", 16) | output("logits"),
          losses(cross_entropy("loss", "logits", "next")));

constexpr auto fused = precision(
    everywhere(store(bf16), compute(bf16)), where(normalization | softmax | loss)(compute(f32)),
    where(layer("*.{weights,score_gradients}") & op("attention") & internal_values)(store(bf16)));

HALFTONE_MODEL(attended, fused, adamw(lr(3e-3)))
