// SPDX-License-Identifier: Apache-2.0
// GPT-2 at its own width, with one block and fewer words, in one order of sums on every device.
#include "bench/gpt2/gpt2.hpp"

constexpr auto gpt2_block = gpt2_of<1>("gpt2_block", 768, 512);
HALFTONE_MODEL(gpt2_block, precision(presets::allow_deny(bf16), everywhere(accumulate(ordered))),
               gpt2_optimizer, clip(1.0))
