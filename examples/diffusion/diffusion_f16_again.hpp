// SPDX-License-Identifier: Apache-2.0
// f16; the backward pass computes again what is between blocks.
#include "diffusion.hpp"

constexpr auto diffusion_f16_again = renamed("diffusion_f16_again", diffusion);
constexpr auto rules = precision(in_16_bits(f16), everywhere(f16_scale), checkpointed);

HALFTONE_MODEL(diffusion_f16_again, rules, optimizer, rate, clip(1.0), average(0.995))
