// SPDX-License-Identifier: Apache-2.0
// The model: 16 numbers about an image of a letter in, 26 logits out. Values are bf16; what
// normalises or sums reads f32.
#include <halftone/dsl.hpp>
using namespace halftone::dsl;

constexpr auto letters =
    model("letters", inputs(tensor("features", batch, 16), labels("letter", batch)),
          from("features") | linear("fc1", 128) | gelu | layer_norm("norm") | linear("fc2", 128) |
              gelu | linear("head", 26) | output("logits"),
          losses(cross_entropy("error", "logits", "letter")));

constexpr auto rules = precision(everywhere(store(bf16), compute(bf16)),
                                 where(normalization | softmax | loss)(compute(f32)));

HALFTONE_MODEL(letters, rules, adamw(lr(3e-3), weight_decay(0.01)),
               schedule([](auto step) { return cosine(step, 5000); }))
