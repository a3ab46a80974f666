// SPDX-License-Identifier: Apache-2.0
// bf16; the backward pass computes again what is between blocks.
#include "diffusion.hpp"

constexpr auto diffusion_bf16_again = renamed("diffusion_bf16_again", diffusion);
constexpr auto rules = precision(in_16_bits(bf16), checkpointed);

HALFTONE_MODEL(diffusion_bf16_again, rules, optimizer, rate, clip(1.0), average(0.995))
