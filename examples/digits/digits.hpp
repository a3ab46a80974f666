// SPDX-License-Identifier: Apache-2.0
// The model: an 8x8 image in, ten logits out. What it is trained in is said by the rules of
// digits_f32.hpp, digits_bf16.hpp, digits_f16.hpp and digits_tf32.hpp.
#pragma once

#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto digits = model("digits", inputs(tensor("pixels", batch, 64), labels("digit", batch)),
                              from("pixels") | linear("fc1", 128) | gelu | layer_norm("norm") |
                                  linear("fc2", 64) | gelu | linear("head", 10) | output("logits"),
                              losses(cross_entropy("error", "logits", "digit")));

constexpr auto optimizer = adamw(lr(3e-3), weight_decay(0.1));
