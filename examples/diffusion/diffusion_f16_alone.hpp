// SPDX-License-Identifier: Apache-2.0
// f16 with a loss scale and without a stage to fall back to, for what it takes of memory by itself.
#include "diffusion.hpp"

constexpr auto diffusion_f16_alone = renamed("diffusion_f16_alone", diffusion);
constexpr auto rules = precision(in_16_bits(f16), everywhere(f16_scale));

HALFTONE_MODEL(diffusion_f16_alone, rules, optimizer, rate, clip(1.0), average(0.995))
