// SPDX-License-Identifier: Apache-2.0
// Computed in f32; what is kept for the backward pass is kept in bf16, and computed again
// otherwise.
#include "diffusion.hpp"

constexpr auto diffusion_f32_narrow = renamed("diffusion_f32_narrow", diffusion);
constexpr auto rules = precision(everywhere(store(f32), compute(f32)),
                                 where(saved_activations)(store(bf16)), checkpointed);

HALFTONE_MODEL(diffusion_f32_narrow, rules, optimizer, rate, clip(1.0), average(0.995))
