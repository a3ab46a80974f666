// SPDX-License-Identifier: Apache-2.0
// f32; the backward pass computes again what is between blocks.
#include "diffusion.hpp"

constexpr auto diffusion_f32_again = renamed("diffusion_f32_again", diffusion);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)), checkpointed);

HALFTONE_MODEL(diffusion_f32_again, rules, optimizer, rate, clip(1.0), average(0.995))
