// SPDX-License-Identifier: Apache-2.0
// The smallest GPT-2, of 124 million parameters, in bf16; what attention's products read, too.
#include "gpt2.hpp"

constexpr auto gpt2 = gpt2_of<12>("gpt2", 768, 50257);
constexpr auto rules =
    precision(presets::allow_deny(bf16),
              where(layer("h/*/mix.{weights,score_gradients}") & internal_values)(store(bf16)));
HALFTONE_MODEL(gpt2, rules, gpt2_optimizer, clip(1.0))
