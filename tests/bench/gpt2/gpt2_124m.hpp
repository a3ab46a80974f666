// SPDX-License-Identifier: Apache-2.0
// The smallest GPT-2, of 124 million parameters, in bf16.
#include "gpt2.hpp"

constexpr auto gpt2 = gpt2_of<12>("gpt2", 768, 50257);
HALFTONE_MODEL(gpt2, presets::allow_deny(bf16), gpt2_optimizer, clip(1.0))
