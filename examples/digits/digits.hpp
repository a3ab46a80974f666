// SPDX-License-Identifier: Apache-2.0
// The model: an 8x8 image in, ten logits out; f32 throughout.
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto digits = model("digits", inputs(tensor("pixels", batch, 64), labels("digit", batch)),
                              from("pixels") | linear("fc1", 128) | gelu | layer_norm("norm") |
                                  linear("fc2", 64) | gelu | linear("head", 10) | output("logits"),
                              losses(cross_entropy("error", "logits", "digit")));

constexpr auto rules =
    precision(everywhere(store(f32), compute(f32), accumulate(f32), master(f32)));

HALFTONE_MODEL(digits, rules, adamw(lr(3e-3), weight_decay(0.1)))
